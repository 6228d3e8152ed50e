"""The steps of the state machine; the first line of each says what it does, in the docs as well.

A step gives the interview that follows. One that asks models and gets nothing usable gives the
interview that it began with, marked as failed: of a failed step nothing is kept but what it cost.
"""

import asyncio
from dataclasses import replace
from functools import partial
from typing import Final

from ai_psychiatrist.domain.errors import RequestConflict
from ai_psychiatrist.domain.interview import EndReason, GivenAnswer, InterviewState, Question
from ai_psychiatrist.infrastructure.off_loop import run_in_thread
from ai_psychiatrist.interview.engine.confirmation import is_for_model
from ai_psychiatrist.interview.engine.context import StepContext
from ai_psychiatrist.interview.engine.danger import (
    DangerReader,
    danger_in,
    danger_of,
    is_to_be_read,
    note_reading,
    note_unread,
    read_by_model,
)
from ai_psychiatrist.interview.engine.frequency_proposal import with_proposal
from ai_psychiatrist.interview.engine.goal_steps import (
    REPORT_CALLS,
    digest_goal_answer,
    prepare_goals,
)
from ai_psychiatrist.interview.engine.item_steps import begin_items, digest_item_answer
from ai_psychiatrist.interview.engine.turns import end, hold, put_again, with_answer
from ai_psychiatrist.interview.interview_log import log_interview
from ai_psychiatrist.interview.protocol.records import InterviewProtocol, ProtocolKind
from ai_psychiatrist.interview.record import Interview
from ai_psychiatrist.interview.submission import given_answer

_WITHOUT_QUESTION: Final = (
    "the interview was held by an earlier version, which did not keep its question: begin another"
)


async def prepare(context: StepContext, interview: Interview) -> Interview:
    """Set the goals and put the first question, or end where nothing is unknown."""
    if context.protocol.kind is ProtocolKind.ITEMS:
        return begin_items(context.protocol, interview)
    return await prepare_goals(context, interview)


async def take_answer(context: StepContext, interview: Interview) -> Interview:
    """Put the answer down, and work it in at once where the rules alone read it."""
    submission = context.required_submission(interview.version)
    answer = given_answer(
        interview.question,
        submission,
        turn=interview.turn + 1,
        max_characters=min(
            context.limits.max_answer_characters, context.protocol.answers.max_length
        ),
    )
    taken = with_answer(interview, answer, submission.idempotency_key)
    taken = await run_in_thread(partial(note_unread, taken))
    if taken.not_examined != interview.not_examined:
        log_interview("answer_not_examined", taken)
    is_read = context.danger is not None and is_to_be_read(taken)
    has_model = context.agents is not None
    return await run_in_thread(
        partial(_by_rules, context.protocol, taken, has_model=has_model, is_read=is_read)
    )


async def digest(context: StepContext, interview: Interview) -> Interview:
    """Work the stored answer in and put the next question, end, or hold for danger."""
    reader, question, answer = context.danger, interview.question, interview.answer
    if reader is None or question is None or answer is None or not is_to_be_read(interview):
        return await _worked_in(context, interview)
    return await _read_and_worked_in(context, interview, reader, question, answer)


async def retry_failed(context: StepContext, interview: Interview) -> Interview:
    """Take the step that failed once more."""
    return await (prepare if interview.answer is None else digest)(context, interview)


async def stop(context: StepContext, interview: Interview) -> Interview:
    """End the interview without an answer; what is open stays unknown."""
    context.required_submission(interview.version)
    return end(context.protocol, interview, EndReason.STOPPED)


async def pause(_: StepContext, interview: Interview) -> Interview:
    """Set the interview aside; its question still waits."""
    return replace(interview, state=InterviewState.PAUSED)


async def go_on(_: StepContext, interview: Interview) -> Interview:
    """Take the interview up again where it was set aside."""
    return replace(interview, state=InterviewState.AWAITING)


async def reopen(context: StepContext, interview: Interview) -> Interview:
    """Put the question again that waited when danger was found."""
    question, reopening = interview.question, context.reopening
    if question is None or reopening is None:
        raise RequestConflict("interview_not_held", _WITHOUT_QUESTION)
    reopened = replace(interview, end_reason=None, reopenings=(*interview.reopenings, reopening))
    notice = context.protocol.safety.resumed
    return put_again(context.protocol, reopened, question, notice=notice)


async def leave(_: StepContext, interview: Interview) -> Interview:
    """Nothing is open: nothing changes."""
    return interview


def _by_rules(
    protocol: InterviewProtocol, interview: Interview, *, has_model: bool, is_read: bool
) -> Interview:
    """Return the interview after its answer, or as it is where a model is to be asked about it.

    `is_read`: whether a model reads the answer for danger.
    """
    if interview.question is not None and interview.answer is not None:
        danger = danger_in(interview.question, interview.answer)
        if danger is not None:
            return hold(protocol, interview, danger)
    if protocol.kind is ProtocolKind.GOALS or is_read:
        return interview
    if has_model and is_for_model(protocol.answers, interview):
        return interview
    return digest_item_answer(protocol, interview)


async def _read_and_worked_in(
    context: StepContext,
    interview: Interview,
    reader: DangerReader,
    question: Question,
    answer: GivenAnswer,
) -> Interview:
    """Work the answer in while the danger agent reads it, and hold for what it finds."""
    left = context.limits.max_calls - REPORT_CALLS - interview.spent.calls
    # At most half of the calls that are left: the others are for the answer itself.
    calls = context.calls(min(reader.most_calls, max(0, left) // 2))
    seconds = context.limits.turn_timeout_seconds
    reading = asyncio.create_task(read_by_model(reader, question, answer, calls, seconds=seconds))
    try:
        worked_in = await _worked_in(context.keeping_back(calls.budget.left), interview)
        read = await reading
    finally:
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)
    danger = danger_of(read.signals, question, answer)
    following = worked_in if danger is None else hold(context.protocol, interview, danger)
    following = note_reading(following, answer.turn, read)
    if read.code is not None:
        log_interview("answer_not_read_for_danger", following, code=read.code)
    return replace(following, spent=worked_in.spent.with_calls(calls.attempts))


async def _worked_in(context: StepContext, interview: Interview) -> Interview:
    protocol = context.protocol
    if protocol.kind is ProtocolKind.GOALS:
        return await digest_goal_answer(context, interview)
    is_open = await run_in_thread(partial(is_for_model, protocol.answers, interview))
    if is_open and context.agents is not None:
        interview = await with_proposal(context, interview, context.agents)
    return await run_in_thread(partial(digest_item_answer, protocol, interview))
