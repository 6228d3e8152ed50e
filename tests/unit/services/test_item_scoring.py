import pytest

from ai_psychiatrist.domain.evidence import Match, Polarity, Quote, Segment
from ai_psychiatrist.domain.phq8 import UnknownReason
from ai_psychiatrist.services.item_scoring import decide_item


def quote(polarity: Polarity, start: int = 0) -> Quote:
    segment = Segment(turn=0, start=start, end=start + 5)
    return Quote(text="words", segments=(segment,), match=Match.EXACT, polarity=polarity)


AFFIRMED = quote(Polarity.AFFIRMED, start=0)
DENIED = quote(Polarity.DENIED, start=10)
UNCLEAR = quote(Polarity.UNCLEAR, start=20)


@pytest.mark.parametrize(
    ("proposed", "quotes", "score", "reason"),
    [
        pytest.param(2, [AFFIRMED], 2, None, id="affirmed"),
        pytest.param(1, [UNCLEAR], 1, None, id="unclear_is_no_denial"),
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
