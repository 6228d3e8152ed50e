"""Results to be shown on a page: one of the example, and one in which everything happened."""

import json
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import ai_psychiatrist as ap
from ai_psychiatrist.config import load_settings
from ai_psychiatrist.domain.assessment import Assessment
from ai_psychiatrist.domain.drive import Change
from ai_psychiatrist.domain.shape import adapter_of
from ai_psychiatrist.domain.transcript import Transcript
from ai_psychiatrist.results.page.views import SheetView, sheet_view
from ai_psychiatrist.results.reading import transcript_again

EXAMPLE: Final = Path(__file__).parents[2] / "examples" / "interview.txt"
DIGEST: Final = "0123456789abcdef"


@cache
def result_json(text: str) -> str:
    """Assess a text by rules, and return the result as it is kept."""
    # In a thread of its own: a browser under test runs an event loop in this one.
    with ThreadPoolExecutor(1) as pool, TemporaryDirectory() as folder:
        environment = {"DATA_STATE_DIR": folder, "LOG_LEVEL": "CRITICAL", "READER_ENABLED": "false"}
        settings = load_settings(environment, dotenv=None)
        assessed = pool.submit(ap.assess_sync, text, settings=settings)
        return assessed.result().model_dump_json()


def example_result() -> Assessment:
    """Return the result of the example interview."""
    return Assessment.model_validate_json(result_json(EXAMPLE.read_text("utf-8")))


def example_view() -> SheetView:
    """Return the page of the example interview."""
    result = example_result()
    text = EXAMPLE.read_text("utf-8")
    return sheet_view(result, transcript_again(result, text), name=EXAMPLE.name)


def eventful_fields(text: str) -> dict[str, Any]:
    """Return the fields of a result with danger, refusals, an ablation, failures and overlaps."""
    fields: dict[str, Any] = json.loads(result_json(text))
    items = fields["quantitative"]["items"]
    sleep, tired = items["PHQ8_Sleep"], items["PHQ8_Tired"]
    tired["evidence"].append(sleep["evidence"][0])
    sleep["unverified_quotes"] = [
        {"text": "I never sleep at all", "reason": "not_found"},
        {"text": "Did you take anything for it?", "reason": "interviewer_words"},
        {"text": "An unchecked one", "reason": None},
    ]
    sleep["warnings"] = ["no_affirmed_evidence"]
    sleep["references"] = [{"chunk": 4, "digest": DIGEST, "score": 2, "similarity": 0.71}]
    sleep["drive"] = {
        "verdict": "not_evidence_driven",
        "reason": "same_in_silence",
        "scores": {change.value: _scored(change) for change in Change},
    }
    items["PHQ8_Appetite"]["no_references"] = "below_floor"
    found = fields["risk"]["signals"][0]
    fields["risk"]["signals"].append(
        found | {"level": "high", "polarity": "affirmed", "kind": "plan", "source": "model"}
    )
    fields["risk"] |= {"level": "high", "signal_count": 3}
    fields["risk"]["model"] |= {"status": "answered", "sign_count": 1, "refused_count": 1}
    fields["qualitative"]["supporting_quotes"].append(
        {"text": "Nobody said this", "verified": False, "reason": "not_found"}
    )
    del fields["evaluation"]["rounds"][0]["scores"]["accuracy"]
    fields["meta_review"]["contradicts_item_scores"] = True
    fields["attempts"][0] |= {
        "outcome": "failed",
        "code": "rate_limited",
        "http_status": 429,
        "model": "openai:a-model",
    }
    fields["attempts"][1] |= {"outcome": "rejected", "code": "no_json"}
    fields["transcript"]["notes"] = [{"code": "sync_mark", "count": 2, "line": 3}]
    fields["failures"] = [
        {
            "category": "agent_failed",
            "severity": "error",
            "message": "The agent has no output.",
            "stage": "judge_accuracy",
            "code": "timed_out",
            "context": {},
        }
    ]
    fields["status"] = "partial"
    return derived_again(fields)


def derived_again(fields: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON of a result that was changed, with what is derived from the changed parts."""
    changed: Assessment = adapter_of(Assessment).validate_json(json.dumps(fields))
    return changed.model_dump()


def eventful_view() -> SheetView:
    """Return the page of a result in which everything happened."""
    text = EXAMPLE.read_text("utf-8")
    return view_of(eventful_fields(text), text, name="eventful.txt")


DANGEROUS: Final = "".join(
    f"Interviewer: {asked}\nParticipant: {said}\n"
    for asked, said in (
        ("Are you having thoughts of suicide?", "I want to die. I bought a rope last week."),
        ("And before?", "Ten years ago I took an overdose."),
        ("What about your family?", "My brother killed himself, and my mother found him."),
        ("Any thoughts of hurting other people?", "No, never."),
        ("Has anybody hurt you at home?", "My husband hits me when he drinks."),
        ("Do you hurt yourself?", "I cut myself on Sunday, with the razor, as often before."),
        ("What do they say?", "They would be better off without me."),
        ("Did you say goodbye to anybody?", "I wrote a suicide note on Sunday."),
        ("How do you sleep?", "I hardly sleep, nearly every night."),
    )
)
"""An interview with more signs of danger than a screen of a telephone holds, of every group."""


def dangerous_view() -> SheetView:
    """Return the page of an interview with many signs of danger."""
    return view_of(json.loads(result_json(DANGEROUS)), DANGEROUS, name="dangerous.txt")


def failed_fields(text: str) -> dict[str, Any]:
    """Return the fields of a result of which no part finished."""
    fields: dict[str, Any] = json.loads(result_json(text))
    parts = ("quantitative", "qualitative", "evaluation", "meta_review", "grounding")
    stages = ("evidence_extraction", "qualitative", "meta_review")
    failure = {
        "category": "agent_failed",
        "severity": "error",
        "message": "The agent has no output.",
        "code": "connection_failed",
        "context": {},
    }
    return {
        **fields,
        **dict.fromkeys(parts),
        "status": "failed",
        "attempts": [],
        "failures": [failure | {"stage": stage} for stage in stages],
    }


def view_of(fields: dict[str, Any], text: str, *, name: str = "") -> SheetView:
    """Return the page of a result and its text."""
    result = Assessment.model_validate_json(json.dumps(fields))
    return sheet_view(result, transcript_of(result, text), name=name)


def transcript_of(result: Assessment, text: str) -> Transcript:
    """Return the turns of a text."""
    return transcript_again(result, text)


def _scored(change: Change) -> dict[str, object]:
    if change is Change.REWORDED:
        return {"end": "failed", "score": None, "code": "timed_out"}
    return {"end": "scored", "score": 2, "code": None}
