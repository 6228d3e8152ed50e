"""What the agents get of an interview."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from ai_psychiatrist.domain.interview import RECENT_FACTS, RECENT_MESSAGES, InterviewView
from ai_psychiatrist.infrastructure.digests import keyed_digest
from ai_psychiatrist.interview.engine.turns import said_by_interviewer
from ai_psychiatrist.interview.protocol.records import InterviewProtocol
from ai_psychiatrist.interview.record import Interview

_NAMED_FIELDS: Final = ("title", "summary", "interviewee_name", "interviewee_role")


def view_of(
    protocol: InterviewProtocol, interview: Interview, *, is_whole: bool = False
) -> InterviewView:
    """Return the latest of an interview, or all of it where `is_whole`."""
    inputs = interview.inputs
    view = InterviewView(
        title=str(inputs.get("title", protocol.title)),
        summary=_summary(inputs),
        interviewee_name=str(inputs.get("interviewee_name", "")),
        interviewee_role=str(inputs.get("interviewee_role", "")),
        tone=protocol.tone,
        goals=interview.goals,
        facts=interview.facts if is_whole else interview.facts[-RECENT_FACTS:],
        messages=interview.messages if is_whole else interview.messages[-RECENT_MESSAGES:],
        question=interview.question,
        answer=interview.answer,
        redirect=interview.drift.redirect if interview.drift else "",
        said_before=said_by_interviewer(interview),
        guidelines={verb.value: text for verb, text in protocol.guidelines.items()},
        interview_hash=keyed_digest(interview.id),
    )
    if protocol.goals is None or protocol.goals.generated is None:
        return view
    wanted = protocol.goals.generated
    return replace(view, min_goals=wanted.min, max_goals=wanted.max)


def _summary(inputs: Mapping[str, str | int]) -> str:
    """Return the summary, and below it the texts that a protocol asks for beyond the known ones."""
    more = [
        f"{name}: {value}"
        for name, value in inputs.items()
        if name not in _NAMED_FIELDS and isinstance(value, str)
    ]
    return "\n".join([str(inputs.get("summary", "")), *more]).strip()
