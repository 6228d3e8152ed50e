import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fakes.bare_assessments import bare_assessment, bare_item, bare_scores
from tests.unit.evaluation.metrics.built import item, unit

from ai_psychiatrist.domain.assessment import Assessment, AssessmentStatus
from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.domain.evidence import (
    Frequency,
    Match,
    Polarity,
    Quote,
    Timeframe,
)
from ai_psychiatrist.domain.failures import (
    Attempt,
    AttemptOutcome,
    CallPath,
    FailureCategory,
    FailureCode,
    FailureRecord,
    FailureSeverity,
    RejectionCode,
)
from ai_psychiatrist.domain.narrative import MetaReview
from ai_psychiatrist.domain.phq8 import Item, Severity, UnknownReason
from ai_psychiatrist.domain.risk import RiskLevel
from ai_psychiatrist.evaluation.scores.prediction import (
    AttemptSummary,
    FailureSummary,
    UnitPrediction,
    failed_prediction,
    prediction_of,
)
from ai_psychiatrist.evaluation.scores.prediction_lines import from_line, read_predictions, to_line
from ai_psychiatrist.services.transcripts.plain_text import parse_transcript

SECRET = "heron over the weir"
MISSING = object()


def quote(polarity: Polarity, timeframe: Timeframe = Timeframe.UNSTATED) -> Quote:
    return Quote(
        text=SECRET,
        segments=(),
        match=Match.EXACT,
        polarity=polarity,
        frequency=Frequency.UNSTATED,
        timeframe=timeframe,
    )


def assessment(*, is_scored: bool = True) -> Assessment:
    quotes = (
        quote(Polarity.AFFIRMED),
        quote(Polarity.AFFIRMED, Timeframe.PAST),
        quote(Polarity.DENIED),
    )
    items = (
        replace(
            bare_item(key, None if key is Item.MOVING else 2, evidence=quotes),
            unknown_reason=UnknownReason.ONLY_DENIED_OR_PAST if key is Item.MOVING else None,
            frequency=Frequency.SEVERAL_DAYS,
            reason=SECRET,
            confidence=4,
            warnings=("denial_scored_as_symptom",),
            llm_evidence_extracted_count=5,
            llm_evidence_rejected_count=2,
            proposed_score=2,
        )
        for key in Item
    )
    transcript = parse_transcript(f"Interviewer: Go on.\nParticipant: {SECRET}.")
    return replace(
        bare_assessment(bare_scores(items) if is_scored else None, transcript),
        participant_id=300,
        status=AssessmentStatus.PARTIAL,
        meta_review=MetaReview(
            severity=Severity.MODERATE, explanation=SECRET, contradicts_item_scores=False
        ),
        attempts=(
            Attempt(
                agent="quantitative",
                model="a model",
                path=CallPath.PLAIN,
                outcome=AttemptOutcome.REJECTED,
                code=RejectionCode.NO_JSON,
                prompt_digest="0123456789ab",
                reply_characters=7,
                repaired=True,
                coercions=2,
                input_tokens=10,
                output_tokens=None,
                duration_ms=3.5,
            ),
        ),
        failures=(
            FailureRecord(
                category=FailureCategory.AGENT_FAILED,
                severity=FailureSeverity.ERROR,
                message="an agent has no output",
                stage="qualitative",
                code=FailureCode.TIMED_OUT,
                context={},
            ),
        ),
    )


def test_prediction_keeps_what_figures_need_of_an_assessment() -> None:
    found = prediction_of(assessment(), "300")
    sleep = found.items[Item.SLEEP]
    assert (found.unit_id, found.status) == ("300", AssessmentStatus.PARTIAL)
    assert (sleep.score, sleep.confidence, sleep.proposed_score) == (2, 4, 2)
    assert sleep.warnings == ("denial_scored_as_symptom",)
    signals = sleep.signals
    assert (signals.affirmed, signals.denied, signals.unclear, signals.past) == (2, 1, 0, 1)
    assert signals.frequency is Frequency.SEVERAL_DAYS
    assert (
        signals.llm_evidence_count,
        signals.llm_evidence_extracted_count,
        signals.llm_evidence_rejected_count,
    ) == (3, 5, 2)
    assert found.unknown_reason(Item.MOVING) is UnknownReason.ONLY_DENIED_OR_PAST
    assert (found.range.total_score_min, found.range.total_score_max, found.range.total_score) == (
        14,
        17,
        None,
    )
    assert (found.range.severity, found.meta_review_severity) == (None, Severity.MODERATE)
    assert found.risk_level is RiskLevel.NONE
    assert found.attempts == (
        AttemptSummary(
            agent="quantitative",
            model="a model",
            path=CallPath.PLAIN,
            outcome=AttemptOutcome.REJECTED,
            code=RejectionCode.NO_JSON,
            repaired=True,
            coercions=2,
            input_tokens=10,
            output_tokens=None,
        ),
    )
    assert found.failures == (
        FailureSummary(
            category=FailureCategory.AGENT_FAILED, stage="qualitative", code=FailureCode.TIMED_OUT
        ),
    )


def test_failed_scoring_leaves_every_item_unknown() -> None:
    found = prediction_of(assessment(is_scored=False), "300")
    assert found.items == {}
    assert {found.unknown_reason(key) for key in Item} == {UnknownReason.SCORING_FAILED}
    assert (found.range.total_score_min, found.range.total_score_max, found.range.total_score) == (
        0,
        24,
        None,
    )


def test_line_holds_no_words_of_the_assessment() -> None:
    line = to_line(prediction_of(assessment(), "300"))
    assert SECRET.encode() not in line
    assert line.count(b"\n") == 1


scores = st.none() | st.integers(0, 3)


@given(
    st.text(min_size=1),
    st.lists(scores, min_size=8, max_size=8),
    st.lists(st.none() | st.integers(1, 5), min_size=8, max_size=8),
    st.none() | st.sampled_from(Severity),
)
def test_a_line_read_back_is_the_prediction(
    unit_id: str,
    given_scores: list[int | None],
    confidences: list[int | None],
    review: Severity | None,
) -> None:
    try:
        unit_id.encode()
    except UnicodeEncodeError:
        unit_id = "lone surrogate"
    before = unit(unit_id, given_scores, confidences=confidences, review=review)
    line = to_line(before)
    after = from_line(line)
    assert after == before
    assert to_line(after) == line


def test_line_of_a_failed_unit_is_read_back() -> None:
    failure = FailureSummary(
        category=FailureCategory.STAGE_SKIPPED, stage="evidence", code=FailureCode.INTERNAL_ERROR
    )
    failed = failed_prediction("301", failure)
    assert from_line(to_line(failed)) == failed
    assert failed.risk_level is None


def test_same_prediction_gives_the_same_bytes_whatever_the_order_of_items() -> None:
    scores_by_item = dict.fromkeys(Item, item(1))
    turned = dict(reversed(scores_by_item.items()))
    lines = {
        to_line(UnitPrediction(unit_id="a", status=AssessmentStatus.COMPLETE, items=items))
        for items in (scores_by_item, turned)
    }
    assert len(lines) == 1


def changed(key: str, replacement: object) -> Callable[[dict[str, object]], None]:
    """Set, or with `MISSING` remove, what lies at a path of keys."""

    def change(record: dict[str, object]) -> None:
        *way, last = key.split("/")
        place: object = record
        for step in way:
            assert isinstance(place, dict)
            place = place[step]
        assert isinstance(place, dict)
        if replacement is MISSING:
            del place[last]
        else:
            place[last] = replacement

    return change


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        pytest.param(changed("unit_id", 5), "unit_id", id="id is a number"),
        pytest.param(changed("unit_id", ""), "unit_id", id="id is empty"),
        pytest.param(changed("status", "done"), "status", id="status of no set"),
        pytest.param(changed("status", MISSING), "status", id="no status"),
        pytest.param(
            changed("items/PHQ8_Sleep/score", True), "PHQ8_Sleep.score", id="score is true"
        ),
        pytest.param(
            changed("items/PHQ8_Sleep/score", "2"), "PHQ8_Sleep.score", id="score is text"
        ),
        pytest.param(
            changed("items/PHQ8_Sleep/score", 2.0), "PHQ8_Sleep.score", id="score is a float"
        ),
        pytest.param(changed("items/PHQ8_Sleep/score", 4), "PHQ8_Sleep.score", id="score above 3"),
        pytest.param(
            changed("items/PHQ8_Sleep/score", None), "PHQ8_Sleep", id="neither score nor reason"
        ),
        pytest.param(
            changed("items/PHQ8_Sleep/unknown_reason", "no_mention"),
            "PHQ8_Sleep",
            id="score and reason",
        ),
        pytest.param(changed("items/PHQ8_Sleep/confidence", 0), "confidence", id="confidence 0"),
        pytest.param(
            changed("items/PHQ8_Sleep/signals/past", -1), "signals.past", id="negative count"
        ),
        pytest.param(changed("items/PHQ8_Sleep", MISSING), "the top", id="seven items"),
        pytest.param(changed("total", 9), "'total'", id="total of other items"),
        pytest.param(changed("total_max", MISSING), "'total_max'", id="no largest total"),
        pytest.param(changed("severity", True), "'severity'", id="severity is true"),
        pytest.param(
            changed("meta_review_severity", 5), "meta_review_severity", id="severity above 4"
        ),
        pytest.param(changed(SECRET, 1), "does not belong there", id="a field too many"),
        pytest.param(
            changed("items/PHQ8_Sleep/signals/frequency", SECRET),
            "frequency",
            id="frequency of no set",
        ),
    ],
)
def test_unusable_line_is_refused_by_name_of_its_field(
    change: Callable[[dict[str, object]], None], complaint: str
) -> None:
    record = json.loads(to_line(unit("a", [1] * 8)))
    change(record)
    with pytest.raises(InputError) as refused:
        from_line(json.dumps(record).encode(), line_number=7)
    message = str(refused.value)
    assert message.startswith("line 7 ")
    assert complaint in message
    assert SECRET not in message
    assert refused.value.__cause__ is None


@pytest.mark.parametrize("line", [b"", b"{", b"[]", b"null", b'{"unit_id": nan}', b"\xff"])
def test_bytes_that_are_no_object_are_refused(line: bytes) -> None:
    with pytest.raises(InputError, match="line 1 is no JSON"):
        from_line(line)


def test_file_gives_predictions_in_its_order(tmp_path: Path) -> None:
    path = tmp_path / "predictions.jsonl"
    units = [unit("b", [1] * 8), unit("a", [None] * 8)]
    path.write_bytes(b"\n".join(map(to_line, units)))
    assert read_predictions(path) == units


def test_file_names_the_line_that_is_unusable(tmp_path: Path) -> None:
    path = tmp_path / "predictions.jsonl"
    path.write_bytes(to_line(unit("a", [1] * 8)) + to_line(unit("b", [1] * 8))[:100])
    with pytest.raises(InputError, match="line 2 is no JSON"):
        read_predictions(path)


def test_unit_that_comes_twice_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "predictions.jsonl"
    path.write_bytes(to_line(unit("a", [1] * 8)) + to_line(unit("a", [2] * 8)))
    with pytest.raises(InputError, match="1 units more than once"):
        read_predictions(path)


def test_file_that_is_not_there_is_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot read"):
        read_predictions(tmp_path / "absent.jsonl")
