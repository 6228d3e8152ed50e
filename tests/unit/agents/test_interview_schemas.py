import json
from collections.abc import Iterator
from typing import Any, Final

import jsonschema
import pytest
from tests.fakes.interview_agents import GOOD, TOOLS

from ai_psychiatrist.agents.interview.outputs import (
    GoalsOutput,
    goals_output,
)
from ai_psychiatrist.agents.interview.schemas import DIGEST_ANSWER, interview_schemas

FIELDS: Final = {
    "generate_investigation_goals": {"goals"},
    "extract_facts": {"facts", "topic", "claim", "timestamp", "confidence"},
    "detect_answer_drift": {"addressed_question", "drift_reason", "redirect_suggestion"},
    "update_goal_progress": {"goal_updates", "goal_id", "confidence", "status", "reasoning"},
    "generate_question_with_answers": {
        "question",
        "target_goal_id",
        "reasoning",
        "answers",
        "answer",
    },
    "match_answer_to_frequency": {"frequency", "words", "act"},
    "generate_analysis_report": {
        "timeline",
        "time",
        "event",
        "key_facts",
        "gaps",
        "verdict",
        "primary_responsibility",
        "percentage",
        "reasoning",
        "contributing_factors",
        "drama_rating",
        "drama_rating_explanation",
        "shares",
        "name",
    },
}


def objects(node: object) -> Iterator[dict[str, Any]]:
    """Walk through all schemas of objects."""
    if isinstance(node, dict):
        if node.get("type") == "object":
            yield node
        for inner in node.values():
            yield from objects(inner)
    elif isinstance(node, list):
        for inner in node:
            yield from objects(inner)


def schema_of(tool: str) -> dict[str, Any]:
    schema = interview_schemas()[tool]["input_schema"]
    assert isinstance(schema, dict)
    return schema


def test_seven_tools_are_printed_in_the_order_of_an_interview() -> None:
    schemas = interview_schemas()
    assert list(schemas) == list(TOOLS.values())
    assert json.dumps(schemas) == json.dumps(interview_schemas())
    for name, tool in schemas.items():
        assert list(tool) == ["name", "description", "input_schema"]
        assert tool["name"] == name
        assert tool["description"]


@pytest.mark.parametrize("tool", FIELDS)
def test_schema_names_its_fields_and_says_what_each_is_for(tool: str) -> None:
    named = set()
    for found in objects(schema_of(tool)):
        named |= found["properties"].keys()
        assert found["additionalProperties"] is False
        assert set(found["required"]) == found["properties"].keys() - {"shares", "act"}
        assert all(field.get("description") for field in found["properties"].values())
    assert named == FIELDS[tool]


def test_limits_are_part_of_the_schemas() -> None:
    goals = schema_of("generate_investigation_goals")["properties"]["goals"]
    assert (goals["minItems"], goals["maxItems"]) == (5, 7)
    answers = schema_of("generate_question_with_answers")["properties"]["answers"]
    assert (answers["minItems"], answers["maxItems"]) == (4, 4)
    update = schema_of("update_goal_progress")["properties"]["goal_updates"]["items"]["properties"]
    assert (update["confidence"]["minimum"], update["confidence"]["maximum"]) == (0, 100)
    assert update["status"]["enum"] == ["not_started", "in_progress", "complete"]
    fact = schema_of("extract_facts")["properties"]["facts"]["items"]["properties"]
    assert fact["confidence"]["enum"] == ["certain", "uncertain"]
    verdict = schema_of("generate_analysis_report")["properties"]["verdict"]["properties"]
    assert (verdict["drama_rating"]["minimum"], verdict["drama_rating"]["maximum"]) == (1, 10)
    assert (verdict["percentage"]["minimum"], verdict["percentage"]["maximum"]) == (0, 100)


@pytest.mark.parametrize("verb", TOOLS)
def test_schema_stands_alone_and_accepts_good_arguments(verb: str) -> None:
    schema = schema_of(TOOLS[verb])
    assert "$ref" not in json.dumps(schema)
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(GOOD[verb], schema)


def test_combined_digest_holds_the_three_sections() -> None:
    assert DIGEST_ANSWER.tool is not None
    jsonschema.validate(GOOD["digest_answer"], dict(DIGEST_ANSWER.tool.schema))
    assert DIGEST_ANSWER.tool.schema["required"] == ["facts", "drift", "goal_updates"]


def test_output_of_a_number_of_goals_is_one_class() -> None:
    assert goals_output(3, 4) is goals_output(3, 4)
    assert issubclass(goals_output(3, 4), GoalsOutput)
