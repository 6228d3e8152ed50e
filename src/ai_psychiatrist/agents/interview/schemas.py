"""The tools of the interview agents: names, descriptions and schemas made from the outputs."""

from collections.abc import Mapping
from typing import Final

from ai_psychiatrist.agents.interview.outputs import (
    DEFAULT_MAX_GOALS,
    DEFAULT_MIN_GOALS,
    AnalysisOutput,
    DigestOutput,
    DriftOutput,
    FactsOutput,
    GoalsOutput,
    GoalUpdatesOutput,
    InterviewOutput,
    QuestionOutput,
    goals_output,
)
from ai_psychiatrist.agents.interview.prompts import SYSTEM
from ai_psychiatrist.agents.interview.reading import InterviewOutputT, reader_of
from ai_psychiatrist.llm.definition import AgentDefinition
from ai_psychiatrist.llm.output_mode import OutputTool


def _definition(
    verb: str, tool_name: str, description: str, output: type[InterviewOutputT]
) -> AgentDefinition[InterviewOutputT]:
    tool = OutputTool(name=tool_name, description=description, schema=_schema(output))
    return AgentDefinition(name=verb, extract=reader_of(output), system=SYSTEM, tool=tool)


def _schema(output: type[InterviewOutput]) -> dict[str, object]:
    document = output.model_json_schema()
    definitions = document.pop("$defs", {})
    document.pop("description", None)
    schema = _in_place(document, definitions)
    if not isinstance(schema, dict):
        msg = f"{output.__name__} has no schema of an object"
        raise TypeError(msg)
    return schema


def _in_place(node: object, definitions: Mapping[str, object]) -> object:
    """Put definitions where they are referred to and leave out titles, which repeat the names."""
    match node:
        case {"$ref": str(reference), **beside}:
            target = definitions[reference.removeprefix("#/$defs/")]
            merged = {**target, **beside} if isinstance(target, dict) else target
            return _in_place(merged, definitions)
        case dict():
            return {
                key: _properties(value, definitions)
                if key == "properties"
                else _in_place(value, definitions)
                for key, value in node.items()
                if not (key == "title" and isinstance(value, str))
            }
        case list():
            return [_in_place(one, definitions) for one in node]
        case _:
            return node


def _properties(node: object, definitions: Mapping[str, object]) -> object:
    """Keep a field that is itself called title."""
    if not isinstance(node, dict):
        return node
    return {name: _in_place(field, definitions) for name, field in node.items()}


def goals_definition(min_goals: int, max_goals: int) -> AgentDefinition[GoalsOutput]:
    """Return the goal generator for a protocol's own number of goals."""
    return _definition(
        "generate_goals",
        "generate_investigation_goals",
        f"Set {min_goals} to {max_goals} specific goals for the interview about an incident.",
        goals_output(min_goals, max_goals),
    )


GENERATE_GOALS: Final = goals_definition(DEFAULT_MIN_GOALS, DEFAULT_MAX_GOALS)
EXTRACT_FACTS: Final = _definition(
    "extract_facts",
    "extract_facts",
    "Note the concrete facts of an interview answer.",
    FactsOutput,
)
DETECT_DRIFT: Final = _definition(
    "detect_drift",
    "detect_answer_drift",
    "Tell whether an answer speaks to its question, and how to lead back if it does not.",
    DriftOutput,
)
UPDATE_GOALS: Final = _definition(
    "update_goals",
    "update_goal_progress",
    "Update how well the goals are understood after an answer.",
    GoalUpdatesOutput,
)
GENERATE_QUESTION: Final = _definition(
    "generate_question_with_answers",
    "generate_question_with_answers",
    "Ask the next interview question and offer four answers to it.",
    QuestionOutput,
)
GENERATE_ANALYSIS: Final = _definition(
    "generate_analysis",
    "generate_analysis_report",
    "Report what the interview found out about the incident.",
    AnalysisOutput,
)
DIGEST_ANSWER: Final = _definition(
    "digest_answer",
    "digest_answer",
    "Note facts, drift and progress of goals of one interview answer together.",
    DigestOutput,
)


def interview_schemas() -> dict[str, dict[str, object]]:
    """Return the six tools by name, in the order in which an interview uses them."""
    tools = (
        GENERATE_GOALS.tool,
        EXTRACT_FACTS.tool,
        DETECT_DRIFT.tool,
        UPDATE_GOALS.tool,
        GENERATE_QUESTION.tool,
        GENERATE_ANALYSIS.tool,
    )
    return {tool.name: printable(tool) for tool in tools if tool is not None}


def printable(tool: OutputTool) -> dict[str, object]:
    """Return a tool in the form in which providers take it."""
    return {
        "name": tool.name,
        "description": tool.description,
        "input_schema": dict(tool.schema),
    }
