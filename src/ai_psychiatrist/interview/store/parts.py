"""An interview in the parts that are stored: its origin once, its state, and each turn's growth."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from pydantic import TypeAdapter, ValidationError

from ai_psychiatrist.domain.interview import AssessmentInput
from ai_psychiatrist.interview.engine.record import Interview
from ai_psychiatrist.interview.engine.serial import from_bytes, to_bytes
from ai_psychiatrist.interview.errors import InterviewUnreadable


@dataclass(frozen=True, slots=True, kw_only=True)
class _Origin:
    """What never changes."""

    inputs: Mapping[str, str | int] = field(repr=False)
    assessment: AssessmentInput | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Turn:
    """An interview after a turn; of what only grows, how much there was."""

    state: Interview
    messages: int
    facts: int
    readings: int
    progress: int


_ORIGIN: Final = TypeAdapter(_Origin)
_TURN: Final = TypeAdapter(_Turn)


def origin_bytes(interview: Interview) -> bytes:
    """Return what an interview began with."""
    return _ORIGIN.dump_json(_Origin(inputs=interview.inputs, assessment=interview.assessment))


def state_bytes(interview: Interview) -> bytes:
    """Return an interview without its id and its origin."""
    return to_bytes(_without_origin(interview))


def turn_bytes(interview: Interview) -> bytes:
    """Return what tells an interview after a turn from what it becomes later."""
    state = replace(_without_origin(interview), messages=(), facts=(), readings=(), progress=())
    turn = _Turn(
        state=state,
        messages=len(interview.messages),
        facts=len(interview.facts),
        readings=len(interview.readings),
        progress=len(interview.progress),
    )
    return _TURN.dump_json(turn)


def whole(interview_id: str, *, origin: bytes, state: bytes) -> Interview:
    """Return the interview that was stored in parts; raises `InterviewUnreadable`."""
    try:
        began = _ORIGIN.validate_json(origin, strict=True)
    except ValidationError:
        # The cause quotes what is stored.
        raise InterviewUnreadable from None
    return replace(
        from_bytes(state), id=interview_id, inputs=began.inputs, assessment=began.assessment
    )


def after_turn(latest: Interview, stored: bytes) -> Interview:
    """Return what an interview was after a turn; raises `InterviewUnreadable`.

    `latest`: the same interview then or later.
    """
    try:
        turn = _TURN.validate_json(stored, strict=True)
    except ValidationError:
        raise InterviewUnreadable from None
    return replace(
        turn.state,
        id=latest.id,
        inputs=latest.inputs,
        assessment=latest.assessment,
        messages=latest.messages[: turn.messages],
        facts=latest.facts[: turn.facts],
        readings=latest.readings[: turn.readings],
        progress=latest.progress[: turn.progress],
    )


def _without_origin(interview: Interview) -> Interview:
    return replace(interview, id="", inputs={}, assessment=None)
