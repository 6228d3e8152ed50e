"""The state machine of an interview: what happens in which state, and where it leads.

The table is the whole of it, for both kinds of protocols; `docs/interview.md` prints it.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, TypeAlias

from ai_psychiatrist.domain.errors import RequestConflict
from ai_psychiatrist.domain.interview import InterviewState
from ai_psychiatrist.interview.engine import steps
from ai_psychiatrist.interview.engine.context import StepContext
from ai_psychiatrist.interview.engine.goal_steps import make_report
from ai_psychiatrist.interview.record import Interview

StepFunction: TypeAlias = Callable[[StepContext, Interview], Awaitable[Interview]]


class Event(StrEnum):
    """What can happen to an interview."""

    ANSWER = "answer"
    """The person answers the question."""
    STOP = "stop"
    """The person ends the interview."""
    PAUSE = "pause"
    """The person leaves for a while."""
    ADVANCE = "advance"
    """The open step is taken: at once by the program, and again by a retry."""
    REPORT = "report"
    """The report is asked for."""
    REOPEN = "reopen"
    """An operator lets a held interview go on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Transition:
    """What is done at an event, and the states that it may lead to."""

    step: StepFunction
    leads_to: tuple[InterviewState, ...]


def _to(step: StepFunction, *leads_to: InterviewState) -> Transition:
    return Transition(step=step, leads_to=leads_to)


_S = InterviewState
_ANSWERED: Final = (_S.DIGESTING, _S.AWAITING, _S.PAUSED, _S.DONE, _S.REPORTING, _S.SAFETY_HOLD)
_DIGESTED: Final = (_S.AWAITING, _S.PAUSED, _S.REPORTING, _S.SAFETY_HOLD, _S.FAILED)
_STOPPED: Final = (_S.REPORTING, _S.DONE)

TABLE: Final[Mapping[tuple[InterviewState, Event], Transition]] = {
    (_S.PREPARING, Event.ADVANCE): _to(steps.prepare, _S.AWAITING, _S.DONE, _S.FAILED),
    (_S.AWAITING, Event.ANSWER): _to(steps.take_answer, *_ANSWERED),
    (_S.AWAITING, Event.STOP): _to(steps.stop, *_STOPPED),
    (_S.AWAITING, Event.PAUSE): _to(steps.pause, _S.PAUSED),
    (_S.AWAITING, Event.ADVANCE): _to(steps.leave, _S.AWAITING),
    (_S.DIGESTING, Event.ADVANCE): _to(steps.digest, *_DIGESTED, _S.DONE),
    (_S.PAUSED, Event.ANSWER): _to(steps.take_answer, *_ANSWERED),
    (_S.PAUSED, Event.STOP): _to(steps.stop, *_STOPPED),
    (_S.PAUSED, Event.ADVANCE): _to(steps.go_on, _S.AWAITING),
    (_S.FAILED, Event.STOP): _to(steps.stop, _S.REPORTING),
    (_S.FAILED, Event.ADVANCE): _to(steps.retry_failed, *_DIGESTED),
    (_S.REPORTING, Event.ADVANCE): _to(steps.leave, _S.REPORTING),
    (_S.REPORTING, Event.REPORT): _to(make_report, _S.DONE, _S.REPORTING),
    (_S.DONE, Event.ADVANCE): _to(steps.leave, _S.DONE),
    (_S.DONE, Event.REPORT): _to(steps.leave, _S.DONE),
    (_S.SAFETY_HOLD, Event.ANSWER): _to(steps.take_answer, *_ANSWERED),
    (_S.SAFETY_HOLD, Event.REOPEN): _to(steps.reopen, _S.AWAITING, _S.DONE),
    (_S.SAFETY_HOLD, Event.ADVANCE): _to(steps.leave, _S.SAFETY_HOLD),
    (_S.SAFETY_HOLD, Event.REPORT): _to(steps.leave, _S.SAFETY_HOLD),
}
"""Whatever is not here is refused."""


async def follow(context: StepContext, interview: Interview, event: Event) -> Interview:
    """Return the interview after an event; the same one where nothing changes.

    Raises `RequestConflict` for an event that the state does not take, and what the step raises.
    """
    transition = TABLE.get((interview.state, event))
    if transition is None:
        raise _refusal(interview.state, event)
    following = await transition.step(context, interview)
    if following.state not in transition.leads_to:
        msg = f"{event} in {interview.state} may not lead to {following.state}"
        raise RuntimeError(msg)
    return following


def _refusal(state: InterviewState, event: Event) -> RequestConflict:
    if event is Event.REPORT:
        return RequestConflict("interview_unfinished")
    if event is Event.REOPEN:
        return RequestConflict("interview_not_held")
    return RequestConflict("interview_over" if state.is_over else "version_conflict")
