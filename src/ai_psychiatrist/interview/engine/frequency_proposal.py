"""Ask a model once what an unclear answer says; whatever goes wrong leaves the answer unclear."""

from dataclasses import replace
from functools import partial

from ai_psychiatrist.agents.interview.outputs import FrequencyOutput
from ai_psychiatrist.domain.evidence import Quote, Relevance
from ai_psychiatrist.domain.failures import FailureCode
from ai_psychiatrist.domain.interview import GivenAnswer
from ai_psychiatrist.domain.interview_items import AnswerQuote, Proposal, ProposalOutcome
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.domain.transcript import Speaker, Transcript, Turn
from ai_psychiatrist.infrastructure.off_loop import run_in_thread
from ai_psychiatrist.interview.agents_port import InterviewAgentsPort
from ai_psychiatrist.interview.engine.context import StepContext
from ai_psychiatrist.interview.engine.turn_clock import timed
from ai_psychiatrist.interview.engine.view import view_of
from ai_psychiatrist.interview.record import Interview
from ai_psychiatrist.services.evidence_validation.support import AssertionClassifier
from ai_psychiatrist.services.evidence_validation.transcript_index import TranscriptIndex
from ai_psychiatrist.services.language.concepts import is_instruction


async def with_proposal(
    context: StepContext, interview: Interview, agents: InterviewAgentsPort
) -> Interview:
    """Return an interview with what a model takes its stored answer for, and what that cost.

    Of an interview without a stored answer about an item nothing changes.
    """
    question, answer = interview.question, interview.answer
    item = None if question is None else interview.goal(question.goal_id).item
    if answer is None or item is None:
        return interview
    limits = context.limits
    calls = context.calls(min(1, max(0, limits.max_calls - interview.spent.calls)))
    failed = Proposal(item=item, turn=answer.turn, outcome=ProposalOutcome.FAILED)
    try:
        async with timed(calls, limits.turn_timeout_seconds) as in_time:
            outcome = await agents.match_frequency(view_of(context.protocol, interview), in_time)
    except TimeoutError:
        proposal = replace(failed, failure=FailureCode.DEADLINE_EXCEEDED)
    else:
        proposal = (
            replace(failed, failure=outcome.failure)
            if outcome.output is None
            else await run_in_thread(partial(_proposal, item, answer, outcome.output))
        )
    return replace(
        interview,
        proposals=(*interview.proposals, proposal),
        spent=interview.spent.with_calls(calls.attempts),
    )


def _proposal(item: Item, answer: GivenAnswer, output: FrequencyOutput) -> Proposal:
    score = output.score
    quote = None if score is None else _grounded(item, answer.text, output.words)
    if score is None:
        outcome = ProposalOutcome.UNCLEAR
    elif quote is None:
        outcome = ProposalOutcome.NOT_GROUNDED
    else:
        outcome = ProposalOutcome.OPEN
    return Proposal(item=item, turn=answer.turn, outcome=outcome, score=score, quote=quote)


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
