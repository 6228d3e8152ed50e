"""The interview agents as definitions: tools, schemas made from the outputs, and their reading.

A reply becomes an agent's output, or feedback says what is wrong with it and never what it holds.
"""

import json
from collections.abc import Callable
from typing import Any, Final, NamedTuple, TypeVar

from pydantic import ValidationError
from pydantic_ai.profiles import InlineDefsJsonSchemaTransformer
from pydantic_core import ErrorDetails

from ai_psychiatrist.agents.extractors import asking_again
from ai_psychiatrist.agents.interview.outputs import (
    DEFAULT_MAX_GOALS,
    DEFAULT_MIN_GOALS,
    OURS,
    AnalysisOutput,
    DigestOutput,
    DriftOutput,
    FactsOutput,
    FrequencyOutput,
    GoalsOutput,
    GoalUpdatesOutput,
    InterviewOutput,
    QuestionOutput,
    goals_output,
)
from ai_psychiatrist.agents.interview.prompts import SYSTEM
from ai_psychiatrist.domain.errors import OutputRejected
from ai_psychiatrist.domain.failures import RejectionCode
from ai_psychiatrist.llm.definition import AgentDefinition
from ai_psychiatrist.llm.replies import ModelOutput, OutputTool
from ai_psychiatrist.validation.reply.parse import parse_object

InterviewOutputT = TypeVar("InterviewOutputT", bound=InterviewOutput)

_NOTES_OF_OURS: Final = frozenset(ModelOutput.model_fields)
_MOST_VALUES: Final = 5_000
"""Members and elements of a reply: far more than any output holds, and each may break a rule."""
_MOST_VIOLATIONS: Final = 8
"""How many of its mistakes a model gets back at once."""


class Violation(NamedTuple):
    """One rule that a reply breaks."""

    code: RejectionCode
    place: str
    """Path of our field names and of positions, from 0."""
    rule: str


_RULES: Final = {
    "missing": (RejectionCode.MISSING_ITEM, "is missing"),
    "too_short": (RejectionCode.WRONG_COUNT, "needs at least {min_length} entries"),
    "too_long": (RejectionCode.WRONG_COUNT, "may have at most {max_length} entries"),
    "greater_than_equal": (RejectionCode.OUT_OF_RANGE, "has to be at least {ge}"),
    "less_than_equal": (RejectionCode.OUT_OF_RANGE, "has to be at most {le}"),
    "literal_error": (RejectionCode.NOT_A_CHOICE, "has to be one of: {expected}"),
    "int_type": (RejectionCode.WRONG_TYPE, "has to be a whole number"),
    "int_from_float": (RejectionCode.WRONG_TYPE, "has to be a whole number"),
    "int_parsing_size": (RejectionCode.WRONG_TYPE, "has to be a whole number in the range"),
    "string_type": (RejectionCode.WRONG_TYPE, "has to be a string"),
    "bool_type": (RejectionCode.WRONG_TYPE, "has to be true or false"),
    "tuple_type": (RejectionCode.WRONG_TYPE, "has to be a list"),
    "model_type": (RejectionCode.WRONG_TYPE, "has to be an object"),
    "model_attributes_type": (RejectionCode.WRONG_TYPE, "has to be an object"),
    "dict_type": (RejectionCode.WRONG_TYPE, "has to be an object"),
}
"""Rules by error type, with the limits of our own schema; none of them shows the value."""
_WRONG_FORM: Final = (
    RejectionCode.WRONG_TYPE,
    "has a value of the wrong type; use the type of the schema",
)
_UNKNOWN_FIELD: Final = Violation(
    RejectionCode.UNKNOWN_FIELD, "", "has a field that is not in the schema; leave it out"
)
"""Names the object alone: the field's name is the model's own words."""


def reader_of(output: type[InterviewOutputT]) -> Callable[[str], InterviewOutputT]:
    """Return the extractor that reads replies into `output`."""

    @asking_again
    def extract(text: str) -> InterviewOutputT:
        parsed = parse_object(text)
        if parsed.value.keys() & _NOTES_OF_OURS:
            raise _rejected([_UNKNOWN_FIELD])
        if _count(parsed.value) > _MOST_VALUES:
            raise OutputRejected(
                RejectionCode.WRONG_COUNT, "The reply lists too much. List only what matters most."
            )
        fields = parsed.value | {"repaired": parsed.repaired}
        try:
            # Read as JSON: there a list may become a tuple, and nothing else changes its type.
            return output.model_validate_json(json.dumps(fields), strict=True)
        except ValidationError as error:
            details = error.errors(include_url=False, include_input=False)
        raise _rejected([_violation(one) for one in details])

    return extract


def _count(value: object) -> int:
    """Return how many values a value holds, at any depth."""
    held = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return len(held) + sum(map(_count, held))


def _rejected(violations: list[Violation]) -> OutputRejected:
    listed = _without_followers(violations)[:_MOST_VIOLATIONS]
    feedback = "; ".join(f"{one.place or 'the reply'} {one.rule}" for one in listed)
    return OutputRejected(
        listed[0].code,
        f"Correct this: {feedback}.",
        {one.place: one.rule for one in listed},
    )


def _without_followers(violations: list[Violation]) -> list[Violation]:
    """Drop the count of a list whose entries are wrong: refused entries are not counted."""
    return [
        one
        for one in violations
        if one.code is not RejectionCode.WRONG_COUNT
        or not any(other.place.startswith(f"{one.place}[") for other in violations)
    ]


def _violation(error: ErrorDetails) -> Violation:
    place, kind = _path(error["loc"]), error["type"]
    if kind == "extra_forbidden":
        return _UNKNOWN_FIELD._replace(place=_path(error["loc"][:-1]))
    if kind.startswith(OURS):
        return Violation(RejectionCode(kind.removeprefix(OURS)), place, error["msg"])
    code, rule = _RULES.get(kind, _WRONG_FORM)
    return Violation(code, place, rule.format(**error.get("ctx", {})))


def _path(location: tuple[int | str, ...]) -> str:
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in location)
    return "".join(steps).removeprefix(".")


# The agents


def _definition(
    verb: str, output: type[InterviewOutputT], description: str, *, tool: str = ""
) -> AgentDefinition[InterviewOutputT]:
    return AgentDefinition(
        name=verb,
        extract=reader_of(output),
        system=SYSTEM,
        tool=OutputTool(name=tool or verb, description=description, schema=_schema(output)),
    )


def _schema(output: type[InterviewOutput]) -> dict[str, object]:
    document = _InPlace(output.model_json_schema()).walk()
    document.pop("description", None)
    return document


class _InPlace(InlineDefsJsonSchemaTransformer):
    """Puts definitions where they are referred to and leaves out titles, which repeat the names."""

    def transform(self, schema: dict[str, Any]) -> dict[str, Any]:
        return {key: value for key, value in schema.items() if key != "title"}


def goals_definition(min_goals: int, max_goals: int) -> AgentDefinition[GoalsOutput]:
    """Return the goal generator for a protocol's own number of goals."""
    return _definition(
        "generate_goals",
        goals_output(min_goals, max_goals),
        f"Set {min_goals} to {max_goals} specific goals for the interview about an incident.",
        tool="generate_investigation_goals",
    )


GENERATE_GOALS: Final = goals_definition(DEFAULT_MIN_GOALS, DEFAULT_MAX_GOALS)
EXTRACT_FACTS: Final = _definition(
    "extract_facts", FactsOutput, "List the concrete facts of an interview answer."
)
DETECT_DRIFT: Final = _definition(
    "detect_drift",
    DriftOutput,
    "Decide whether an answer addresses its question, and lead back if it does not.",
    tool="detect_answer_drift",
)
UPDATE_GOALS: Final = _definition(
    "update_goals",
    GoalUpdatesOutput,
    "Update how well the goals are understood after an answer.",
    tool="update_goal_progress",
)
GENERATE_QUESTION: Final = _definition(
    "generate_question_with_answers",
    QuestionOutput,
    "Ask the next interview question and offer four answers to it.",
)
MATCH_FREQUENCY: Final = _definition(
    "match_frequency",
    FrequencyOutput,
    "Decide which frequency an answer states, with the words that say so, or that it is unclear.",
    tool="match_answer_to_frequency",
)
GENERATE_ANALYSIS: Final = _definition(
    "generate_analysis",
    AnalysisOutput,
    "Report what the interview found out about the incident.",
    tool="generate_analysis_report",
)
DIGEST_ANSWER: Final = _definition(
    "digest_answer",
    DigestOutput,
    "List the facts of an interview answer, its drift and the progress of goals together.",
)


def interview_schemas() -> dict[str, dict[str, object]]:
    """Return the seven tools as providers take them, by name, in the order of an interview."""
    tools = (
        GENERATE_GOALS.tool,
        EXTRACT_FACTS.tool,
        DETECT_DRIFT.tool,
        UPDATE_GOALS.tool,
        GENERATE_QUESTION.tool,
        MATCH_FREQUENCY.tool,
        GENERATE_ANALYSIS.tool,
    )
    return {
        tool.name: {
            "name": tool.name,
            "description": tool.description,
            "input_schema": dict(tool.schema),
        }
        for tool in tools
        if tool is not None
    }
