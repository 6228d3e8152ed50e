"""Ask a model once what an unclear message says; where it fails the reading of the rules stands."""

from dataclasses import replace
from functools import partial

from ai_psychiatrist.agents.interview.outputs import FrequencyOutput
from ai_psychiatrist.domain.evidence import Quote, Relevance
from ai_psychiatrist.domain.failures import FailureCode
from ai_psychiatrist.domain.interview import QuestionPurpose
from ai_psychiatrist.domain.interview_items import (
    Act,
    AnswerQuote,
    Proposal,
    ProposalOutcome,
    ProposalSource,
)
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.domain.transcript import Speaker, Transcript, Turn
from ai_psychiatrist.infrastructure.off_loop import run_in_thread
from ai_psychiatrist.interview.acts import FoundAct, Topic
from ai_psychiatrist.interview.agents_port import InterviewAgentsPort
from ai_psychiatrist.interview.engine.context import StepContext
from ai_psychiatrist.interview.engine.correction import unnamed_correction
from ai_psychiatrist.interview.engine.turn_clock import timed
from ai_psychiatrist.interview.engine.view import view_of
from ai_psychiatrist.interview.messages import Message
from ai_psychiatrist.interview.phq8.free_answers import AnswerReading, ReadingKind
from ai_psychiatrist.interview.record import Interview
from ai_psychiatrist.services.evidence_validation.support import AssertionClassifier
from ai_psychiatrist.services.evidence_validation.transcript_index import TranscriptIndex
from ai_psychiatrist.services.language.concepts import is_instruction

_ACTS = {
    "question": Act.QUESTION,
    "stop": Act.STOP,
    "pause": Act.PAUSE,
    "nothing_yet": Act.FRAGMENT,
}


def is_for_model(interview: Interview, message: Message) -> bool:
    """Return whether the rules leave a message open that a model may read.

    That is a free answer to a question about an item of which no model was asked yet.
    """
    question = interview.question
    if question is None or question.purpose is not QuestionPurpose.ASK or message.asked is None:
        return False
    if (
        message.option is not None
        or message.acts
        or message.others
        or message.is_refusal
        or interview.open_correction is not None
    ):
        return False
    is_open = message.answer.kind in {ReadingKind.UNCLEAR, ReadingKind.NONE}
    if not is_open or unnamed_correction(interview, message) is not None:
        return False
    return not any(
        one.source is ProposalSource.MODEL for one in interview.proposals_of(message.asked)
    )


async def read_by_agents(
    context: StepContext, interview: Interview, message: Message, agents: InterviewAgentsPort
) -> tuple[Interview, Message]:
    """Return an interview with what a model took its stored message for, and the message by it."""
    item = message.asked
    if item is None:
        return interview, message
    limits = context.limits
    calls = context.calls(min(1, max(0, limits.max_calls - interview.spent.calls)))
    asked = Proposal(
        item=item,
        turn=message.turn,
        outcome=ProposalOutcome.FAILED,
        source=ProposalSource.MODEL,
        settled_turn=None,
    )
    read = message
    try:
        async with timed(calls, limits.turn_timeout_seconds) as in_time:
            outcome = await agents.match_frequency(view_of(context.protocol, interview), in_time)
    except TimeoutError:
        proposal = replace(asked, failure=FailureCode.DEADLINE_EXCEEDED)
    else:
        if outcome.output is None:
            proposal = replace(asked, failure=outcome.failure)
        else:
            proposal, read = await run_in_thread(partial(_read, asked, message, outcome.output))
    return (
        replace(
            interview,
            proposals=(*interview.proposals, proposal),
            spent=interview.spent.with_calls(calls.attempts),
        ),
        read,
    )


def _read(asked: Proposal, message: Message, output: FrequencyOutput) -> tuple[Proposal, Message]:
    """Return what became of a model's reading, and the message by it."""
    score = output.score
    quote = None if score is None else _grounded(asked.item, message.text, output.words)
    if score is None:
        unclear = replace(asked, outcome=ProposalOutcome.UNCLEAR)
        return unclear, _with_act(message, output.act)
    if quote is None:
        return replace(asked, outcome=ProposalOutcome.NOT_GROUNDED, score=score), message
    # It is the open one of the item: the engine reads it back and counts it after a yes.
    reading = AnswerReading(kind=ReadingKind.READ, score=score, quote=quote)
    proposal = replace(asked, outcome=ProposalOutcome.OPEN, score=score, quote=quote)
    return proposal, replace(message, answer=reading, source=ProposalSource.MODEL)


def _with_act(message: Message, act: str) -> Message:
    if act == "refusal":
        return replace(message, is_refusal=True, source=ProposalSource.MODEL)
    found = _ACTS.get(act)
    if found is None:
        return message
    topic = Topic.MEANING if found is Act.QUESTION else None
    whole = FoundAct(act=found, start=0, end=len(message.text), topic=topic)
    nothing = AnswerReading(kind=ReadingKind.NONE)
    return replace(message, acts=(whole,), answer=nothing, source=ProposalSource.MODEL)


def _grounded(item: Item, said: str, words: str) -> AnswerQuote | None:
    """Return where an answer says words, `None` where it does not, or not of the person.

    Of an answer that tells a reader what to put down nothing counts, whichever part is named.
    """
    if is_instruction(said):
        return None
    transcript = Transcript(
        text=said,
        turns=(Turn(index=0, speaker=Speaker.PARTICIPANT, start=0, words_start=0, end=len(said)),),
        speakers_assumed=False,
    )
    found = TranscriptIndex(transcript).ground(words)
    if not isinstance(found, Quote):
        return None
    (read,) = AssertionClassifier(transcript).for_item([found], item)
    if read.relevance is Relevance.OTHER_PERSON:
        return None
    start, end = found.segments[0].start, found.segments[-1].end
    return AnswerQuote(text=said[start:end], start=start, end=end)
