"""Good replies of the seven interview agents, as the arguments of their tools."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final, TypeAlias

Arguments: TypeAlias = dict[str, Any]

NOT_SURE: Final = "I am not sure."
_TOPICS: Final = ("the email", "the meeting", "the keys", "the promise", "the car", "the invoice")
_TIMES: Final = ("", "on Monday", "around nine in the evening", "two weeks before")
_FREQUENCIES: Final = (
    "not_at_all",
    "several_days",
    "more_than_half_the_days",
    "nearly_every_day",
    "unclear",
)
_PEOPLE: Final = ("Robin", "Sasha", "Kim", "Alexis")


@dataclass(frozen=True, slots=True, kw_only=True)
class Brief:
    """What a reply is about."""

    open_goals: Mapping[str, int] = field(default_factory=dict)
    """Confidence by the id of each goal that is not complete."""
    targets: tuple[str, ...] = ()
    """The goals that a question may serve."""
    is_addressed: bool = True
    rationale: str = "It narrows down what happened."
    """What nobody outside may ever see."""
    answer: str = ""
    """What was answered last."""
    goals: int = 6
    most_gain: int = 30


def good_reply(tool: str, draw: Random, brief: Brief) -> Arguments:
    """Return arguments that keep to everything that the tool demands."""
    return _REPLIES[tool](draw, brief)


def _goals(draw: Random, brief: Brief) -> Arguments:
    numbers = draw.sample(range(1000), brief.goals)
    return {"goals": [f"Find out what became of document {number}" for number in numbers]}


def _facts(draw: Random, _: Brief) -> Arguments:
    return {
        "facts": [
            {
                "topic": draw.choice(_TOPICS),
                "claim": f"{draw.choice(_PEOPLE)} saw document {draw.randrange(1000)}.",
                "timestamp": draw.choice(_TIMES),
                "confidence": draw.choice(("certain", "uncertain")),
            }
            for _ in range(draw.randint(0, 3))
        ]
    }


def _drift(_: Random, brief: Brief) -> Arguments:
    if brief.is_addressed:
        return {"addressed_question": True, "drift_reason": "", "redirect_suggestion": ""}
    return {
        "addressed_question": False,
        "drift_reason": "It is about something else.",
        "redirect_suggestion": "Let us come back to what I asked.",
    }


def _updates(draw: Random, brief: Brief) -> Arguments:
    ids = draw.sample(list(brief.open_goals), min(2, len(brief.open_goals)))
    return {"goal_updates": [_update(draw, brief, goal_id) for goal_id in ids]}


def _update(draw: Random, brief: Brief, goal_id: str) -> Arguments:
    # Never a bound, so that a value moved into the range would be seen.
    confidence = min(97, brief.open_goals[goal_id] + draw.randint(1, brief.most_gain))
    return {
        "goal_id": goal_id,
        "confidence": confidence,
        "status": "complete" if confidence >= 80 else "in_progress",
        "reasoning": brief.rationale,
    }


def _question(draw: Random, brief: Brief) -> Arguments:
    first, second, third = draw.sample(range(1000), 3)
    offered = (
        f"I put document {first} on the desk.",
        f"Somebody had taken document {second} before.",
        f"I only heard of document {third} later.",
        NOT_SURE,
    )
    return {
        "question": f"What happened with document {draw.randrange(10**6)}?",
        "target_goal_id": draw.choice(brief.targets or ("g1",)),
        "reasoning": brief.rationale,
        "answers": [{"answer": text, "reasoning": brief.rationale} for text in offered],
    }


def _frequency(draw: Random, brief: Brief) -> Arguments:
    if not brief.answer:
        return {"frequency": "unclear", "words": ""}
    words = brief.answer.split()
    first = draw.randrange(len(words)) if words else 0
    return {
        "frequency": draw.choice(_FREQUENCIES),
        "words": " ".join(words[first : first + draw.randint(1, 6)]),
    }


def _analysis(draw: Random, _: Brief) -> Arguments:
    share = draw.randint(1, 99)
    return {
        "timeline": [{"time": draw.choice(_TIMES), "event": "The document was seen."}],
        "key_facts": ["The document was on the desk."],
        "gaps": ["Who took it is open."],
        "verdict": {
            "primary_responsibility": "Robin",
            "percentage": share,
            "reasoning": "Robin saw it last.",
            "contributing_factors": "Nobody asked.",
            "drama_rating": draw.randint(2, 9),
            "drama_rating_explanation": "It can be put right.",
            "shares": [
                {"name": "Robin", "percentage": share},
                {"name": "Sasha", "percentage": 100 - share},
            ],
        },
    }


def _digest(draw: Random, brief: Brief) -> Arguments:
    return {
        **_facts(draw, brief),
        "drift": _drift(draw, brief),
        **_updates(draw, brief),
    }


_REPLIES: Final[Mapping[str, Callable[[Random, Brief], Arguments]]] = {
    "generate_investigation_goals": _goals,
    "extract_facts": _facts,
    "detect_answer_drift": _drift,
    "update_goal_progress": _updates,
    "generate_question_with_answers": _question,
    "match_answer_to_frequency": _frequency,
    "generate_analysis_report": _analysis,
    "digest_answer": _digest,
}
TOOLS: Final = tuple(_REPLIES)

# Fields that stand in the schema of one tool alone, the combined one first.
_MARKS: Final = {
    "digest_answer": ('"drift"', '"goal_updates"'),
    "generate_investigation_goals": ('"goals"',),
    "extract_facts": ('"facts"',),
    "detect_answer_drift": ('"addressed_question"',),
    "update_goal_progress": ('"goal_updates"',),
    "generate_question_with_answers": ('"target_goal_id"',),
    "match_answer_to_frequency": ('"frequency"',),
    "generate_analysis_report": ('"drama_rating"',),
}


def tool_of_schema(text: str) -> str:
    """Return whose schema stands in a text; raises `LookupError` when it is none's."""
    for tool, marks in _MARKS.items():
        if all(mark in text for mark in marks):
            return tool
    msg = "the text holds the schema of no tool"
    raise LookupError(msg)
