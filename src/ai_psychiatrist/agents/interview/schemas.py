"""The interview agents: names, descriptions of their tools, and schemas made from the outputs."""

from typing import Any, Final

from pydantic_ai.profiles import InlineDefsJsonSchemaTransformer

from ai_psychiatrist.agents.interview.outputs import (
    DEFAULT_MAX_GOALS,
    DEFAULT_MIN_GOALS,
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
from ai_psychiatrist.agents.interview.reply_parser import InterviewOutputT, reader_of
from ai_psychiatrist.llm.definition import AgentDefinition
from ai_psychiatrist.llm.replies import OutputTool


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
    "extract_facts", FactsOutput, "Note the concrete facts of an interview answer."
)
DETECT_DRIFT: Final = _definition(
    "detect_drift",
    DriftOutput,
    "Tell whether an answer speaks to its question, and how to lead back if it does not.",
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
    "Tell which frequency an answer stands for, with the words that say so, or that it is unclear.",
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
    "Note facts, drift and progress of goals of one interview answer together.",
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
