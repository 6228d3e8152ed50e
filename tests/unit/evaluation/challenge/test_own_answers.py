"""What an assessment says becomes a prediction as any system writes it."""

from dataclasses import replace

import pytest
from tests.fakes.bare_assessments import bare_assessment, bare_item, bare_scores

from ai_psychiatrist.domain.assessment import Assessment
from ai_psychiatrist.domain.belief import BeliefSource, ItemBelief, ScoreSet
from ai_psychiatrist.domain.evidence import (
    Match,
    Polarity,
    Quote,
    Relevance,
    Segment,
    Timeframe,
)
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.domain.risk import RiskReport
from ai_psychiatrist.evaluation.challenge.answering import prediction_of
from ai_psychiatrist.evaluation.challenge.prediction import ItemAnswer
from ai_psychiatrist.services.risk.detector import detect_risk
from ai_psychiatrist.services.transcripts.transcript_reader import read_transcript

TRANSCRIPT = read_transcript("Interviewer: sleep?\nParticipant: i lie awake\nParticipant: always\n")
QUOTE = Quote(
    text="i lie awake always",
    match=Match.EXACT,
    segments=(Segment(turn=1, start=33, end=44), Segment(turn=2, start=58, end=64)),
    polarity=Polarity.AFFIRMED,
    relevance=Relevance.ABOUT,
)
BELIEF = ItemBelief(
    scores=(0.0, 0.25, 0.25, 0.5), not_determinable=0.0, sources=(BeliefSource.RULES,)
)


def an_assessment(
    *quotes: Quote, belief: ItemBelief | None = None, risk: RiskReport | None = None
) -> Assessment:
    sleep = bare_item(Item.SLEEP, 3 if quotes else None, evidence=quotes)
    items = (sleep if item is Item.SLEEP else bare_item(item) for item in Item)
    scores = bare_scores(replace(item, belief=belief) for item in items)
    return bare_assessment(scores, TRANSCRIPT, risk or detect_risk(TRANSCRIPT))


def answer_of(assessment: Assessment) -> ItemAnswer:
    """Return what an assessment says of sleep."""
    return prediction_of(assessment, "a", TRANSCRIPT.text).items[Item.SLEEP]


def test_each_stretch_of_a_quote_is_given_with_its_place() -> None:
    answer = answer_of(an_assessment(QUOTE))
    assert answer.score == 3
    assert [(one.text, one.start, one.end) for one in answer.quotes] == [
        ("i lie awake", 33, 44),
        ("always", 58, 64),
    ]
    assert {one.polarity for one in answer.quotes} == {Polarity.AFFIRMED}


@pytest.mark.parametrize(
    "quote",
    [
        replace(QUOTE, relevance=Relevance.OTHER_PERSON),
        replace(QUOTE, relevance=Relevance.ELSEWHERE),
        replace(QUOTE, relevance=Relevance.INSTRUCTION),
        replace(QUOTE, timeframe=Timeframe.PAST),
    ],
)
def test_quotes_that_carry_nothing_are_no_evidence(quote: Quote) -> None:
    assert answer_of(an_assessment(quote)).quotes == ()


def test_beliefs_are_given_where_an_item_has_one() -> None:
    assert answer_of(an_assessment(QUOTE)).probabilities is None
    believed = answer_of(an_assessment(QUOTE, belief=BELIEF))
    assert believed.probabilities == (0.0, 0.25, 0.25, 0.5, 0.0)


@pytest.mark.parametrize(
    ("low", "high", "not_determinable", "outcomes"),
    [(1, 3, False, (1, 2, 3)), (0, 0, True, (0, None)), (None, None, True, (None,))],
)
def test_sets_are_given_where_a_belief_has_one(
    low: int | None, high: int | None, not_determinable: bool, outcomes: tuple[int | None, ...]
) -> None:
    found = ScoreSet(low=low, high=high, not_determinable=not_determinable, level=0.9)
    belief = replace(BELIEF, set=found)
    answer = answer_of(an_assessment(QUOTE, belief=belief))
    assert answer.outcomes == outcomes


def test_an_assessment_without_scores_has_failed() -> None:
    failed = prediction_of(replace(an_assessment(), quantitative=None), "a", "")
    assert failed.is_failed
    assert failed.danger is False


@pytest.mark.parametrize(
    ("words", "alarm"),
    [
        ("i want to kill myself tonight", True),
        ("i have never wanted to kill myself", False),
        ("ich liege jede Nacht wach und kann nicht einschlafen, weil ich grüble", None),
    ],
)
def test_alarms_are_levels_that_somebody_should_look_at(words: str, alarm: bool | None) -> None:
    risk = detect_risk(read_transcript(f"Participant: {words}\n"))
    assert prediction_of(an_assessment(risk=risk), "a", "").danger is alarm
