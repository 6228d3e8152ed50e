"""The steps of the state machine; the first line of each says what it does, in the docs as well.

A step gives the interview that follows. One that asks models and gets nothing usable gives the
interview that it began with, marked as failed: of a failed step nothing is kept but what it cost.
"""

import asyncio
from dataclasses import replace
from functools import partial

from ai_psychiatrist.domain.errors import InputError, RequestConflict
from ai_psychiatrist.domain.interview import (
    EndReason,
    GivenAnswer,
    InterviewState,
    MessageSpeaker,
    Question,
    QuestionPurpose,
)
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.infrastructure.off_loop import run_in_thread
from ai_psychiatrist.interview.engine.aside import (
    greeted,
    is_only_back,
    paused,
    reopened,
    resumed,
)
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
from ai_psychiatrist.interview.engine.goal_steps import (
    REPORT_CALLS,
    digest_goal_answer,
    prepare_goals,
)
from ai_psychiatrist.interview.engine.goals import aside
from ai_psychiatrist.interview.engine.items import (
    begin_items,
    digest_item_answer,
    message_of,
    with_proposal_in_danger,
)
from ai_psychiatrist.interview.engine.model_reading import is_for_model, read_by_agents
from ai_psychiatrist.interview.engine.noted import uncounted
from ai_psychiatrist.interview.engine.turns import end, hold, say, stay_held, with_answer
from ai_psychiatrist.interview.interview_log import log_interview
from ai_psychiatrist.interview.protocol.placeholders import filled
from ai_psychiatrist.interview.protocol.records import InterviewProtocol, ProtocolKind
from ai_psychiatrist.interview.protocol.texts import Review
from ai_psychiatrist.interview.record import Danger, Interview
from ai_psychiatrist.interview.submission import given_answer


async def prepare(context: StepContext, interview: Interview) -> Interview:
    """Set the goals and put the first question, or end where nothing is unknown."""
    if context.protocol.kind is ProtocolKind.ITEMS:
        return begin_items(context.protocol, interview)
    return await prepare_goals(context, interview)


async def take_answer(context: StepContext, interview: Interview) -> Interview:
    """Put the answer down, and work it in at once where the rules alone read it."""
    submission = context.required_submission(interview.version)
    if interview.question is None:
        raise RequestConflict("interview_over")
    turn, protocol = interview.turn + 1, context.protocol
    if submission.change is not None:
        if interview.state is InterviewState.SAFETY_HOLD:
            raise RequestConflict("interview_over")
        return _changed(protocol, interview, submission.change, submission.idempotency_key)
    most = min(context.limits.max_answer_characters, protocol.answers.max_length)
    answer = given_answer(
        interview.question,
        submission,
        turn=turn,
        max_characters=most,
        by_wording=not protocol.reads_answers,
    )
    taken = with_answer(interview, answer, submission.idempotency_key)
    if interview.state is InterviewState.PAUSED and is_only_back(taken):
        return greeted(protocol, taken)
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


async def pause(context: StepContext, interview: Interview) -> Interview:
    """Set the interview aside; its question still waits."""
    if context.submission is None:
        return replace(interview, state=InterviewState.PAUSED)
    context.required_submission(interview.version)
    # A wish that was sent is a turn, as an answer is.
    return paused(context.protocol, replace(interview, turn=interview.turn + 1))


async def go_on(context: StepContext, interview: Interview) -> Interview:
    """Take the interview up again where it was set aside, and tell the person where that is."""
    return greeted(context.protocol, interview)


async def reopen(context: StepContext, interview: Interview) -> Interview:
    """Go on with an interview that was held, as its operator wants it."""
    reopening = context.reopening
    if reopening is None:
        raise RequestConflict("interview_not_held")
    last = replace(reopening, after=interview.messages[-1].id)
    reopened_by = replace(interview, reopenings=(*interview.reopenings, last))
    words = context.protocol.safety.resumed
    spoken = say(reopened_by, words, MessageSpeaker.INTERVIEWER)
    return resumed(context.protocol, spoken)


async def leave(_: StepContext, interview: Interview) -> Interview:
    """Nothing is open: nothing changes."""
    return interview


def _by_rules(
    protocol: InterviewProtocol, interview: Interview, *, has_model: bool, is_read: bool
) -> Interview:
    """Return the interview after its answer, or as it is where a model is to be asked about it.

    `is_read`: whether a model reads the answer for danger.
    """
    question, answer = interview.question, interview.answer
    if question is None or answer is None:
        return interview
    danger = danger_in(question, answer)
    if danger is not None:
        return _held(protocol, interview, danger)
    if protocol.kind is ProtocolKind.GOALS:
        return interview if is_read else aside(protocol, interview) or interview
    if is_read:
        return interview
    message = message_of(interview)
    if has_model and message is not None and is_for_model(interview, message):
        return interview
    return digest_item_answer(protocol, interview, message)


def _held(protocol: InterviewProtocol, interview: Interview, danger: Danger) -> Interview:
    """Hold the interview; a frequency in the same answer is kept, to be read back if it goes on."""
    kept, question = interview, interview.question
    if question is not None and question.purpose is QuestionPurpose.LAST_WORD:
        # It is held already, and this was the reply that is kept.
        return stay_held(protocol, replace(interview, dangers=(*interview.dangers, danger)))
    if protocol.kind is ProtocolKind.ITEMS:
        kept = with_proposal_in_danger(interview, danger)
    return hold(protocol, kept, danger)


def _changed(protocol: InterviewProtocol, interview: Interview, item: Item, key: str) -> Interview:
    """Open an item that was answered, as the person wants to change it."""
    answered = {one.item for one in interview.readings}
    if item not in answered or item not in interview.asked_items:
        msg = "this item has no answer in the interview that could be changed"
        raise InputError(msg, field="change")
    question = interview.question
    wish = GivenAnswer(
        question_id=question.id if question else "",
        option_id="change",
        text=filled(
            (protocol.conversation.review or Review()).change, {"item": protocol.items[item].name}
        ),
        turn=interview.turn + 1,
    )
    taken = with_answer(interview, wish, key)
    asked = interview.goal(question.goal_id).item if question else None
    if question and asked and asked is not item and question.purpose is QuestionPurpose.ASK:
        # The question that waits is not answered by it, and is put again afterwards.
        taken = uncounted(taken, asked)
    return reopened(protocol, taken, item)


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
    following = worked_in if danger is None else _held(context.protocol, interview, danger)
    following = note_reading(following, answer.turn, read)
    if read.code is not None:
        log_interview("answer_not_read_for_danger", following, code=read.code)
    return replace(following, spent=worked_in.spent.with_calls(calls.attempts))


async def _worked_in(context: StepContext, interview: Interview) -> Interview:
    protocol = context.protocol
    if protocol.kind is ProtocolKind.GOALS:
        answered = await run_in_thread(partial(aside, protocol, interview))
        return answered or await digest_goal_answer(context, interview)
    message = await run_in_thread(partial(message_of, interview))
    if message is not None and context.agents is not None and is_for_model(interview, message):
        interview, message = await read_by_agents(context, interview, message, context.agents)
    return await run_in_thread(partial(digest_item_answer, protocol, interview, message))
