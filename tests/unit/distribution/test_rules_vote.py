import pytest
from tests.unit.distribution.built import item, quote

from ai_psychiatrist.distribution.scores import rules_vote, shares_of
from ai_psychiatrist.domain.evidence import Frequency, Polarity, Quote, Relevance, Timeframe

DENIED = quote(Polarity.DENIED)


@pytest.mark.parametrize(
    ("quotes", "vote"),
    [
        pytest.param((), None, id="nothing_found"),
        pytest.param((quote(),), 1, id="affirmed_without_how_often"),
        pytest.param((quote(frequency=Frequency.MORE_THAN_HALF),), 2, id="more_than_half"),
        pytest.param(
            (quote(frequency=Frequency.SEVERAL_DAYS), quote(frequency=Frequency.NEARLY_EVERY_DAY)),
            3,
            id="the_most_often_counts",
        ),
        pytest.param((DENIED,), 0, id="denied"),
        pytest.param((quote(), DENIED), None, id="both_and_neither_dated"),
        pytest.param(
            (quote(frequency=Frequency.MORE_THAN_HALF), DENIED), 2, id="both_and_how_often"
        ),
        pytest.param((quote(timeframe=Timeframe.RECENT), DENIED), 1, id="both_and_recent"),
        pytest.param((quote(timeframe=Timeframe.PAST),), None, id="past_alone"),
        pytest.param((quote(Polarity.UNCLEAR),), None, id="unclear"),
        pytest.param((quote(relevance=Relevance.OTHER_PERSON),), None, id="somebody_else"),
        pytest.param((quote(relevance=Relevance.ELSEWHERE), DENIED), 0, id="something_else"),
    ],
)
def test_the_rules_vote_for_what_the_grounded_quotes_state(
    quotes: tuple[Quote, ...], vote: int | None
) -> None:
    assert rules_vote(item(*quotes)) == vote


def test_one_vote_is_smoothed_by_a_quarter_of_a_vote_for_each_answer() -> None:
    assert shares_of([2]) == pytest.approx([1 / 9, 1 / 9, 5 / 9, 1 / 9, 1 / 9])


def test_five_votes_outweigh_the_smoothing() -> None:
    shares = shares_of([2, 2, 2, 1, None])
    assert shares == pytest.approx([0.04, 0.2, 0.52, 0.04, 0.2])
