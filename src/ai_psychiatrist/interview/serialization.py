"""An interview as bytes and back: whole, as a digest, and in the parts that are stored.

The parts are what it began with, its state, and of each turn what later turns do not add to.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, TypeVar

from pydantic import TypeAdapter, ValidationError

from ai_psychiatrist.domain.callback import Callback
from ai_psychiatrist.domain.errors import ArtifactMismatch
from ai_psychiatrist.domain.interview import InterviewState
from ai_psychiatrist.domain.interview_items import AssessmentInput
from ai_psychiatrist.interview.record import Interview, Spent

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Origin:
    """What never changes."""

    inputs: Mapping[str, str | int] = field(repr=False)
    assessment: AssessmentInput | None
    callback: Callback | None = None
    about: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Turn:
    """An interview after a turn; of what only grows, how much there was."""

    state: Interview
    messages: int
    facts: int
    readings: int
    progress: int


_INTERVIEW: Final = TypeAdapter(Interview)
_ORIGIN: Final = TypeAdapter(_Origin)
_TURN: Final = TypeAdapter(_Turn)


def to_bytes(interview: Interview) -> bytes:
    """Return the JSON of an interview; the same interview always gives the same bytes."""
    return _INTERVIEW.dump_json(interview)


def from_bytes(stored: bytes) -> Interview:
    """Return the interview that was stored; raises `ArtifactMismatch`."""
    return _read(_INTERVIEW, stored)


def state_hash(interview: Interview, earlier: Sequence[Interview] = ()) -> str:
    """Return the SHA-256 of the whole state in hexadecimal digits.

    `earlier`: the interviews whose answers count as well.
    """
    return hashlib.sha256(b"".join(map(to_bytes, (interview, *earlier)))).hexdigest()


def report_inputs_hash(interview: Interview, earlier: Sequence[Interview] = ()) -> str:
    """Return the SHA-256 of all that a report is made from, in hexadecimal digits."""
    made_from = replace(
        interview,
        id="",
        callback=None,
        about=None,
        version=1,
        state=InterviewState.DONE,
        failure=None,
        spent=Spent(),
        analysis=None,
        analysis_inputs_hash=None,
    )
    return state_hash(made_from, earlier)


def origin_bytes(interview: Interview) -> bytes:
    """Return what an interview began with."""
    origin = _Origin(
        inputs=interview.inputs,
        assessment=interview.assessment,
        callback=interview.callback,
        about=interview.about,
    )
    return _ORIGIN.dump_json(origin)


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
    """Return the interview that was stored in parts; raises `ArtifactMismatch`."""
    began = _read(_ORIGIN, origin)
    return replace(
        from_bytes(state),
        id=interview_id,
        inputs=began.inputs,
        assessment=began.assessment,
        callback=began.callback,
        about=began.about,
    )


def after_turn(latest: Interview, stored: bytes) -> Interview:
    """Return what an interview was after a turn; raises `ArtifactMismatch`.

    `latest`: the same interview then or later.
    """
    turn = _read(_TURN, stored)
    return replace(
        turn.state,
        id=latest.id,
        inputs=latest.inputs,
        assessment=latest.assessment,
        callback=latest.callback,
        about=latest.about,
        messages=latest.messages[: turn.messages],
        facts=latest.facts[: turn.facts],
        readings=latest.readings[: turn.readings],
        progress=latest.progress[: turn.progress],
    )


def _without_origin(interview: Interview) -> Interview:
    return replace(interview, id="", inputs={}, assessment=None, callback=None, about=None)


def _read(shape: TypeAdapter[T], stored: bytes) -> T:
    try:
        return shape.validate_json(stored, strict=True)
    except ValidationError:
        # The cause quotes what is stored.
        raise ArtifactMismatch(problem_code="interview_unreadable") from None
