"""An interview about goals: what answers change in them, and when enough is known."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from ai_psychiatrist.domain.interview import (
    AnswerKind,
    AnswerOption,
    Certainty,
    Drift,
    EndReason,
    Fact,
    Goal,
    GoalStatus,
    InterviewState,
    Question,
)
from ai_psychiatrist.interview.engine.record import Interview
from ai_psychiatrist.interview.engine.turns import next_question_id, with_progress
from ai_psychiatrist.interview.protocol.records import InterviewProtocol

_TARGETS: Final = 2
"""How many goals a model may choose from for its question."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundFact:
    """A fact as a model found it in an answer."""

    topic: str
    claim: str
    timestamp: str
    certainty: Certainty


@dataclass(frozen=True, slots=True, kw_only=True)
class GoalUpdate:
    """What a model proposes for a goal."""

    goal_id: str
    confidence: int
    status: GoalStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class Digest:
    """What the models found in one answer."""

    facts: tuple[FoundFact, ...] = ()
    drift: Drift | None = None
    updates: tuple[GoalUpdate, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposedQuestion:
    """A question as a model proposes it."""

    text: str
    goal_id: str
    rationale: str
    answers: tuple[tuple[str, str], ...]
    """Wording and rationale of each answer offered."""


def set_goals(interview: Interview, texts: Sequence[str]) -> Interview:
    """Give an interview its goals."""
    goals = tuple(Goal(id=f"g{n}", text=text) for n, text in enumerate(texts, start=1))
    return replace(interview, goals=goals, state=InterviewState.ASKING)


def apply_digest(interview: Interview, digest: Digest) -> Interview:
    """Work in what was found in the stored answer; changes of unknown goals are only counted."""
    known = {goal.id: goal for goal in interview.goals}
    changed = tuple(
        replace(known[update.goal_id], confidence=update.confidence, status=update.status)
        for update in digest.updates
        if update.goal_id in known
    )
    worked_in = replace(
        interview,
        facts=(*interview.facts, *_new_facts(interview, digest.facts)),
        drift=digest.drift,
        unknown_updates=interview.unknown_updates + len(digest.updates) - len(changed),
        state=InterviewState.ASKING,
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


def question_of(
    protocol: InterviewProtocol, interview: Interview, proposed: ProposedQuestion
) -> Question:
    """Return a proposed question as it is put; a refusal stands last where the protocol has one."""
    decline = protocol.answers.decline
    offered = tuple(
        AnswerOption(id=f"a{number}", text=text, kind=AnswerKind.OFFERED, rationale=rationale)
        for number, (text, rationale) in enumerate(proposed.answers, start=1)
    )
    refusal = (
        AnswerOption(id=f"a{len(offered) + 1}", text=decline, kind=AnswerKind.DECLINE)
        if decline is not None
        else None
    )
    return Question(
        id=next_question_id(interview),
        text=proposed.text,
        goal_id=proposed.goal_id,
        options=offered if refusal is None else (*offered, refusal),
        allows_free_text=protocol.answers.free_text,
        turn=interview.turn + 1,
        rationale=proposed.rationale,
    )


def _new_facts(interview: Interview, found: Sequence[FoundFact]) -> tuple[Fact, ...]:
    """Return the facts that are not known yet; they serve the goal that was asked for."""
    known = {_identity(fact.topic, fact.claim) for fact in interview.facts}
    goal_ids = (interview.question.goal_id,) if interview.question else ()
    facts: list[Fact] = []
    for fact in found:
        identity = _identity(fact.topic, fact.claim)
        if identity in known:
            continue
        known.add(identity)
        facts.append(
            Fact(
                id=f"f{len(interview.facts) + len(facts) + 1}",
                topic=fact.topic,
                claim=fact.claim,
                timestamp=fact.timestamp,
                certainty=fact.certainty,
                turn=interview.turn,
                goal_ids=goal_ids,
            )
        )
    return tuple(facts)


def _identity(topic: str, claim: str) -> tuple[str, str]:
    return (" ".join(topic.casefold().split()), " ".join(claim.casefold().split()))
