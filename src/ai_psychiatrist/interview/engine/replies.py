"""Agents' accepted replies as the engine's own records."""

from ai_psychiatrist.agents.interview.interview_agents import DigestOutcome
from ai_psychiatrist.agents.interview.outputs import (
    AnalysisOutput,
    DriftOutput,
    FactsOutput,
    GoalUpdatesOutput,
    QuestionOutput,
)
from ai_psychiatrist.domain.interview import (
    Analysis,
    Certainty,
    Drift,
    GoalStatus,
    Share,
    TimelineEntry,
    Verdict,
)
from ai_psychiatrist.interview.engine.goals import (
    Digest,
    FoundFact,
    GoalUpdate,
    ProposedQuestion,
)


def digest_of(outcome: DigestOutcome) -> Digest:
    """Return what all parts of a digest found."""
    facts, drift, updates = outcome.facts.output, outcome.drift, outcome.goal_updates.output
    return Digest(
        facts=facts_of(facts) if facts else (),
        drift=drift_of(drift.output) if drift and drift.output else None,
        updates=updates_of(updates) if updates else (),
    )


def facts_of(output: FactsOutput) -> tuple[FoundFact, ...]:
    """Return the facts that were found."""
    return tuple(
        FoundFact(
            topic=fact.topic,
            claim=fact.claim,
            timestamp=fact.timestamp,
            certainty=Certainty(fact.confidence),
        )
        for fact in output.facts
    )


def drift_of(output: DriftOutput) -> Drift:
    """Return whether the answer spoke to its question."""
    return Drift(
        is_addressed=output.addressed_question,
        reason=output.drift_reason,
        redirect="" if output.addressed_question else output.redirect_suggestion,
    )


def updates_of(output: GoalUpdatesOutput) -> tuple[GoalUpdate, ...]:
    """Return the changes that are proposed for goals."""
    return tuple(
        GoalUpdate(
            goal_id=update.goal_id,
            confidence=update.confidence,
            status=GoalStatus(update.status),
        )
        for update in output.goal_updates
    )


def proposed_question(output: QuestionOutput) -> ProposedQuestion:
    """Return the question that is proposed."""
    return ProposedQuestion(
        text=output.question,
        goal_id=output.target_goal_id,
        rationale=output.reasoning,
        answers=tuple((offered.answer, offered.reasoning) for offered in output.answers),
    )


def analysis_of(output: AnalysisOutput) -> Analysis:
    """Return the report on an incident."""
    verdict = output.verdict
    return Analysis(
        timeline=tuple(
            TimelineEntry(time=entry.time, event=entry.event) for entry in output.timeline
        ),
        key_facts=output.key_facts,
        gaps=output.gaps,
        verdict=Verdict(
            primary_responsibility=verdict.primary_responsibility,
            percentage=verdict.percentage,
            reasoning=verdict.reasoning,
            contributing_factors=verdict.contributing_factors,
            drama_rating=verdict.drama_rating,
            drama_rating_explanation=verdict.drama_rating_explanation,
            shares=tuple(
                Share(name=share.name, percentage=share.percentage) for share in verdict.shares
            ),
        ),
    )
