"""What an assessment says becomes a prediction as any system writes it."""

from dataclasses import replace

import pytest

from ai_psychiatrist.domain.assessment import (
    Assessment,
    AssessmentMode,
    AssessmentStatus,
    ItemAssessment,
    PHQ8Assessment,
)
from ai_psychiatrist.domain.belief import BeliefSource, ItemBelief, ScoreSet
from ai_psychiatrist.domain.evidence import (
    Frequency,
    Grounding,
    Match,
    Polarity,
    Quote,
    Relevance,
    Segment,
    Timeframe,
)
from ai_psychiatrist.domain.phq8 import Item, UnknownReason
from ai_psychiatrist.domain.risk import RiskReport
from ai_psychiatrist.evaluation.challenge.own_answers import prediction_of
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


def an_item(item: Item, *quotes: Quote, belief: ItemBelief | None = None) -> ItemAssessment:
    return ItemAssessment(
        item=item,
        belief=belief,
        score=3 if quotes else None,
        unknown_reason=None if quotes else UnknownReason.NO_MENTION,
        proposed_score=None,
        quotes=quotes,
        frequency=Frequency.UNSTATED,
        unverified_quotes=(),
        reason="",
        confidence=None,
        warnings=(),
        llm_evidence_count=0,
        llm_evidence_extracted_count=0,
        llm_evidence_rejected_count=0,
    )


def an_assessment(
    *quotes: Quote, belief: ItemBelief | None = None, risk: RiskReport | None = None
) -> Assessment:
    items = tuple(
        an_item(item, *(quotes if item is Item.SLEEP else ()), belief=belief) for item in Item
    )
    return Assessment(
        transcript=TRANSCRIPT,
        risk=risk or detect_risk(TRANSCRIPT),
        participant_id=None,
        mode=AssessmentMode.ZERO_SHOT,
        status=AssessmentStatus.COMPLETE,
        narrative=None,
        quantitative=PHQ8Assessment(
            items=items,
            grounding=Grounding.CHECKED,
            extracted_count=0,
            validated_count=0,
            rejected_count=0,
            unknown_keys=0,
        ),
        meta_review=None,
        attempts=(),
        failures=(),
    )


def test_each_stretch_of_a_quote_is_given_with_its_place() -> None:
    answer = prediction_of(an_assessment(QUOTE), "a").items[Item.SLEEP]
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
    assert prediction_of(an_assessment(quote), "a").items[Item.SLEEP].quotes == ()


def test_beliefs_are_given_where_an_item_has_one() -> None:
    assert prediction_of(an_assessment(QUOTE), "a").items[Item.SLEEP].probabilities is None
    believed = prediction_of(an_assessment(QUOTE, belief=BELIEF), "a")
    assert believed.items[Item.SLEEP].probabilities == (0.0, 0.25, 0.25, 0.5, 0.0)


@pytest.mark.parametrize(
    ("low", "high", "not_determinable", "outcomes"),
    [(1, 3, False, (1, 2, 3)), (0, 0, True, (0, None)), (None, None, True, (None,))],
)
def test_sets_are_given_where_a_belief_has_one(
    low: int | None, high: int | None, not_determinable: bool, outcomes: tuple[int | None, ...]
) -> None:
    found = ScoreSet(low=low, high=high, not_determinable=not_determinable, level=0.9)
    belief = replace(BELIEF, score_set=found)
    answer = prediction_of(an_assessment(QUOTE, belief=belief), "a").items[Item.SLEEP]
    assert answer.outcomes == outcomes


def test_an_assessment_without_scores_has_failed() -> None:
    failed = prediction_of(replace(an_assessment(), quantitative=None), "a")
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
    assert prediction_of(an_assessment(risk=risk), "a").danger is alarm
