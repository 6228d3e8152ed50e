"""What bodies may hold: everything has its bound, and the first error of many is enough."""

from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import ValidationError

from ai_psychiatrist.api.interview_requests import AnswerRequest, InterviewRequest
from ai_psychiatrist.api.requests import AssessmentRequest, FindingsRequest, RequestBody

BODIES = (AssessmentRequest, FindingsRequest, InterviewRequest, AnswerRequest)
MOST_ERRORS = 40
MANY = 20_000
WRONG = ["x"] * MANY
NAMES: dict[str, list[str]] = {f"k{number}": [] for number in range(MANY)}
SCORED: dict[str, Any] = {"items": {"PHQ8_Sleep": {"score": 1, "evidence": WRONG}}}
HOSTILE: dict[str, tuple[type[RequestBody], dict[str, Any]]] = {
    "unknown fields": (AssessmentRequest, NAMES),
    "a list for a string": (AssessmentRequest, {"transcript_text": WRONG, "mode": WRONG}),
    "inputs": (InterviewRequest, {"protocol": "phq8", "inputs": NAMES}),
    "inputs that are too long": (
        InterviewRequest,
        {"protocol": "phq8", "inputs": dict.fromkeys(NAMES, "a" * 30_000)},
    ),
    "items": (InterviewRequest, {"protocol": "phq8", "assessment": {"items": NAMES}}),
    "quotes": (
        InterviewRequest,
        {"protocol": "phq8", "assessment": {**SCORED, "quantitative": SCORED}},
    ),
    "an answer": (
        AnswerRequest,
        dict.fromkeys(("question_id", "option_id", "text", "stop"), WRONG),
    ),
}

BOUNDS = {
    "string": {"maxLength", "pattern", "enum", "const"},
    "array": {"maxItems"},
    "integer": {"maximum"},
}


@pytest.mark.parametrize("case", HOSTILE)
def test_of_many_errors_few_are_made(case: str) -> None:
    body, hostile = HOSTILE[case]
    with pytest.raises(ValidationError) as refused:
        body.model_validate(hostile)
    assert refused.value.error_count() <= MOST_ERRORS


def parts(schema: object, place: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every schema inside a schema with its place."""
    if isinstance(schema, dict):
        yield place, schema
        for key, value in schema.items():
            if key not in ("oneOf", "examples"):
                yield from parts(value, f"{place}.{key}")
    if isinstance(schema, list):
        for number, value in enumerate(schema):
            yield from parts(value, f"{place}.{number}")


@pytest.mark.parametrize("body", BODIES)
def test_everything_that_can_be_long_has_a_bound(body: type[RequestBody]) -> None:
    """A transcript alone has none here: its bound is a setting."""
    unbounded = [
        place
        for place, schema in parts(body.model_json_schema())
        if not BOUNDS.get(str(schema.get("type")), schema.keys()) & schema.keys()
        or (isinstance(schema.get("additionalProperties"), dict) and "maxProperties" not in schema)
    ]
    assert [place for place in unbounded if "transcript_text" not in place] == []
