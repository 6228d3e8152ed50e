import pytest

from ai_psychiatrist.domain.evidence import (
    Frequency,
    Match,
    Polarity,
    Quote,
    Segment,
    Timeframe,
)
from ai_psychiatrist.domain.phq8 import UnknownReason
from ai_psychiatrist.services.item_scoring import decide_item, stated_frequency


def quote(
    polarity: Polarity,
    start: int = 0,
    timeframe: Timeframe = Timeframe.UNSTATED,
    frequency: Frequency = Frequency.UNSTATED,
) -> Quote:
    return Quote(
        text="words",
        segments=(Segment(turn=0, start=start, end=start + 5),),
        match=Match.EXACT,
        polarity=polarity,
        timeframe=timeframe,
        frequency=frequency,
    )


AFFIRMED = quote(Polarity.AFFIRMED, start=0)
DENIED = quote(Polarity.DENIED, start=10)
UNCLEAR = quote(Polarity.UNCLEAR, start=20)
PAST = quote(Polarity.AFFIRMED, start=30, timeframe=Timeframe.PAST)
FINE_THEN = quote(Polarity.DENIED, start=40, timeframe=Timeframe.PAST)


@pytest.mark.parametrize(
    ("proposed", "quotes", "score", "reason"),
    [
        pytest.param(2, [AFFIRMED], 2, None, id="affirmed"),
        pytest.param(1, [UNCLEAR], None, UnknownReason.NO_AFFIRMED_EVIDENCE, id="only_unclear"),
        pytest.param(
            1, [UNCLEAR, DENIED], None, UnknownReason.NO_AFFIRMED_EVIDENCE, id="unclear_and_denied"
        ),
        pytest.param(2, [PAST], None, UnknownReason.ONLY_DENIED_OR_PAST, id="only_past"),
        pytest.param(
            3, [PAST, DENIED], None, UnknownReason.ONLY_DENIED_OR_PAST, id="past_and_denied"
        ),
        pytest.param(3, [PAST, AFFIRMED], 3, None, id="past_and_present"),
        pytest.param(
            0, [FINE_THEN], None, UnknownReason.ZERO_WITHOUT_DENIAL, id="zero_denied_of_the_past"
        ),
        pytest.param(3, [DENIED, AFFIRMED], 3, None, id="affirmed_beside_a_denial"),
        pytest.param(2, [DENIED], None, UnknownReason.ONLY_DENIED_OR_PAST, id="only_denied"),
        pytest.param(2, [], None, UnknownReason.NO_GROUNDED_EVIDENCE, id="no_quote"),
        pytest.param(0, [DENIED], 0, None, id="zero_denied"),
        pytest.param(0, [AFFIRMED, DENIED], 0, None, id="zero_with_one_denial"),
        pytest.param(
            0, [AFFIRMED], None, UnknownReason.ZERO_WITHOUT_DENIAL, id="zero_without_denial"
        ),
        pytest.param(
            0, [UNCLEAR], None, UnknownReason.ZERO_WITHOUT_DENIAL, id="zero_with_unclear_words"
        ),
        pytest.param(0, [], None, UnknownReason.NO_GROUNDED_EVIDENCE, id="zero_without_quote"),
        pytest.param(None, [], None, UnknownReason.NO_MENTION, id="not_mentioned"),
        pytest.param(None, [AFFIRMED], None, UnknownReason.SCORE_NA_WITH_EVIDENCE, id="not_scored"),
    ],
)
def test_score_stands_only_on_words_that_carry_it(
    proposed: int | None, quotes: list[Quote], score: int | None, reason: UnknownReason | None
) -> None:
    decision = decide_item(proposed, extracted=quotes, cited=[])
    assert (decision.score, decision.unknown_reason) == (score, reason)
    assert decision.quotes == tuple(quotes)


def test_cited_quotes_carry_a_score_and_come_first() -> None:
    decision = decide_item(1, extracted=[DENIED], cited=[AFFIRMED])
    assert decision.score == 1
    assert decision.quotes == (AFFIRMED, DENIED)


def test_quote_that_is_cited_and_extracted_counts_once() -> None:
    assert decide_item(1, extracted=[AFFIRMED], cited=[AFFIRMED]).quotes == (AFFIRMED,)


def test_the_highest_frequency_of_affirming_words_about_the_present_is_stated() -> None:
    some = quote(Polarity.AFFIRMED, 0, frequency=Frequency.SEVERAL_DAYS)
    most = quote(Polarity.AFFIRMED, 10, frequency=Frequency.MORE_THAN_HALF)
    denied = quote(Polarity.DENIED, 20, frequency=Frequency.NEARLY_EVERY_DAY)
    past = quote(Polarity.AFFIRMED, 30, Timeframe.PAST, Frequency.NEARLY_EVERY_DAY)

    assert stated_frequency([most, some, denied, past]) is Frequency.MORE_THAN_HALF
    assert stated_frequency([denied, past]) is Frequency.UNSTATED
