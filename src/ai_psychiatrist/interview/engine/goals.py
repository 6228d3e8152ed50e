"""An interview about goals: what messages change in them or else do, and when enough is known."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from ai_psychiatrist.agents.interview.outputs import Digest, FactReply
from ai_psychiatrist.domain.interview import (
    Certainty,
    Drift,
    EndReason,
    Fact,
    Goal,
    GoalStatus,
    QuestionPurpose,
)
from ai_psychiatrist.domain.interview_items import Act
from ai_psychiatrist.interview.acts import Topic
from ai_psychiatrist.interview.engine.aside import after_danger, explained, paused, stopped
from ai_psychiatrist.interview.engine.items import message_of
from ai_psychiatrist.interview.engine.noted import with_acts
from ai_psychiatrist.interview.engine.turns import ask_aside, repeat, with_progress
from ai_psychiatrist.interview.messages import Message
from ai_psychiatrist.interview.protocol.records import InterviewProtocol
from ai_psychiatrist.interview.record import Interview

_TARGETS: Final = 2
"""How many goals a model may choose from for its question."""
_ABOUT_THE_INTERVIEW: Final = frozenset({Topic.READERS, Topic.PURPOSE, Topic.LENGTH, Topic.PERSON})


def set_goals(interview: Interview, texts: Sequence[str]) -> Interview:
    """Give an interview its goals."""
    goals = tuple(Goal(id=f"g{n}", text=text) for n, text in enumerate(texts, start=1))
    return replace(interview, goals=goals)


def apply_digest(interview: Interview, digest: Digest) -> Interview:
    """Work in what was found in the stored answer; changes of unknown goals are only counted."""
    known = {goal.id: goal for goal in interview.goals}
    changed = tuple(
        replace(
            known[update.goal_id], confidence=update.confidence, status=GoalStatus(update.status)
        )
        for update in digest.goal_updates
        if update.goal_id in known
    )
    worked_in = replace(
        interview,
        facts=(*interview.facts, *_new_facts(interview, digest.facts)),
        drift=_drift(digest),
        unknown_updates=interview.unknown_updates + len(digest.goal_updates) - len(changed),
    )
    return with_progress(worked_in, changed)


def end_reason(protocol: InterviewProtocol, interview: Interview) -> EndReason | None:
    """Return why no further question is asked, `None` when one is.

    A mean confidence that equals the threshold is enough. What a model wishes plays no part.
    """
    if not open_goals(interview):
        return EndReason.ALL_RESOLVED
    threshold = protocol.threshold(interview.inputs)
    total = sum(goal.confidence for goal in interview.goals)
    if threshold is not None and total >= threshold * len(interview.goals):
        return EndReason.CONFIDENCE_REACHED
    if interview.turn >= protocol.stop.max_turns:
        return EndReason.TURNS_SPENT
    stall = protocol.stop.stall_turns
    if stall is not None and interview.stalled_turns >= stall:
        return EndReason.STALLED
    return None


def open_goals(interview: Interview) -> tuple[Goal, ...]:
    """Return the goals that are not complete, the least known first."""
    still_open = (goal for goal in interview.goals if goal.status is not GoalStatus.COMPLETE)
    return tuple(sorted(still_open, key=lambda goal: (goal.confidence, goal.asks)))


def targets(interview: Interview) -> tuple[str, ...]:
    """Return the goals that the next question may serve.

    After an answer that led away from its question the same goal is asked for again.
    """
    asked, drift = interview.question, interview.drift
    ids = tuple(goal.id for goal in open_goals(interview))
    if asked is not None and drift is not None and not drift.is_addressed and asked.goal_id in ids:
        return (asked.goal_id,)
    return ids[:_TARGETS]


def targets_ahead(interview: Interview) -> tuple[str, ...]:
    """Return the goals for a question that is prepared before the stored answer is worked in.

    The goal that the answer is about may be complete by then, so it comes last.
    """
    asked = interview.question.goal_id if interview.question else None
    ids = [goal.id for goal in open_goals(interview)]
    others = [goal_id for goal_id in ids if goal_id != asked]
    return tuple(others[:_TARGETS] or ids)


def aside(protocol: InterviewProtocol, interview: Interview) -> Interview | None:
    """Return the interview after a message that is no answer, `None` for one that is."""
    question, message = interview.question, message_of(interview)
    if question is None or message is None:
        return None
    noted, is_asked = interview, question.purpose is QuestionPurpose.ASK
    if message.option is None and (message.acts or not is_asked):
        noted = with_acts(interview, message)
    match question.purpose:
        case QuestionPurpose.LAST_WORD | QuestionPurpose.GO_ON:
            return after_danger(protocol, noted, message)
        case QuestionPurpose.CONFIRM_STOP:
            is_yes = message.leans_yes or message.does(Act.STOP)
            return stopped(protocol, noted, is_yes=is_yes)
        case _:
            return _done(protocol, noted, message)


def _done(protocol: InterviewProtocol, interview: Interview, message: Message) -> Interview | None:
    if message.does(Act.STOP):
        return ask_aside(interview, protocol.conversation.stop, QuestionPurpose.CONFIRM_STOP)
    if message.does(Act.PAUSE):
        return paused(protocol, interview)
    topic, question = message.topic, interview.question
    if topic in _ABOUT_THE_INTERVIEW and topic is not None and question is not None:
        return repeat(interview, question, notice=explained(protocol, interview, topic, None))
    return None


def _drift(digest: Digest) -> Drift | None:
    found = digest.drift
    if found is None:
        return None
    return Drift(
        is_addressed=found.addressed_question,
        reason=found.drift_reason,
        redirect="" if found.addressed_question else found.redirect_suggestion,
    )


def _new_facts(interview: Interview, found: Sequence[FactReply]) -> tuple[Fact, ...]:
    """Return the facts that are not known yet; they serve the goal that was asked for."""
    known = {_identity(fact.topic, fact.claim) for fact in interview.facts}
    by_identity: dict[tuple[str, str], FactReply] = {}
    for fact in found:
        by_identity.setdefault(_identity(fact.topic, fact.claim), fact)
    fresh = [fact for identity, fact in by_identity.items() if identity not in known]
    return tuple(
        Fact(
            id=f"f{number}",
            topic=fact.topic,
            claim=fact.claim,
            timestamp=fact.timestamp,
            certainty=Certainty(fact.confidence),
            turn=interview.turn,
            goal_ids=(interview.question.goal_id,) if interview.question else (),
        )
        for number, fact in enumerate(fresh, start=len(interview.facts) + 1)
    )


def _identity(topic: str, claim: str) -> tuple[str, str]:
    return (" ".join(topic.casefold().split()), " ".join(claim.casefold().split()))
