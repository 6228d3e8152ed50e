"""Put together what an assessment made: once, in the form that every caller gets."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from ai_psychiatrist.agents.baseline import BASELINE
from ai_psychiatrist.agents.context import AssessmentContext
from ai_psychiatrist.agents.prompts.tasks import PART_DIGESTS, prompt_digests
from ai_psychiatrist.agents.pydantic_agents import (
    AGENT_ORDER,
    BELIEF_AGENTS,
    JUDGES,
    OPTIONAL_AGENTS,
)
from ai_psychiatrist.assessment.parts import Part
from ai_psychiatrist.assessment.progress import Progress
from ai_psychiatrist.domain.assessment import (
    BASELINE_NOTICE,
    NOTICE,
    AgentModels,
    Assessment,
    AssessmentStatus,
)
from ai_psychiatrist.domain.failures import Attempt, AttemptOutcome, FailureRecord, FailureSeverity
from ai_psychiatrist.domain.items import PHQ8Assessment
from ai_psychiatrist.domain.narrative import Metric
from ai_psychiatrist.domain.risk import RiskReport
from ai_psychiatrist.domain.transcript import account_of

_AGENT_OF_CALL: Final = {
    "qualitative": "qualitative",
    "evidence": "quantitative",
    "quantitative": "quantitative",
    "ablation": "quantitative",
    "meta_review": "meta_review",
    "danger": "danger",
    **{name: name for name in BELIEF_AGENTS},
    JUDGES.name: "judge",
    **{f"judge_{metric.value}": "judge" for metric in Metric},
}
"""Name of a call's task → the agent whose models answer it."""


def build_result(
    progress: Progress,
    context: AssessmentContext,
    parts: frozenset[Part],
    failures: Sequence[FailureRecord],
    *,
    assessment_id: str,
    risk: RiskReport,
    agent_models: Mapping[str, tuple[str, ...]],
) -> Assessment:
    """Return all that finished.

    It is complete when these parts are done and rest on evidence, and when no part of a long
    interview was left unread.

    `agent_models`: agent → the models that it may ask.
    """
    transcript, scores, evaluation = context.transcript, _scores(progress), progress.evaluation
    mode, hosts = context.scoring.mode, context.calls.other_hosts
    # By agent: calls that run at the same time end in any order.
    attempts = tuple(sorted(context.calls.attempts, key=lambda one: AGENT_ORDER.index(one.agent)))
    models = _models(attempts, agent_models)
    has_baseline = any(one.rule_baseline for one in models.values())
    is_judged_together = any(one.agent == JUDGES.name for one in attempts)
    has_references = Part.SCORES in parts and mode.shows_references and context.references
    prompts = prompt_digests(context.tasks, mode, is_judged_together=is_judged_together)
    is_text_made = transcript.source.is_rendered or context.participant_id is not None
    return Assessment(
        assessment_id=assessment_id,
        status=_status(progress, parts, scores, failures),
        risk=risk,
        notice=f"{NOTICE} {BASELINE_NOTICE}" if has_baseline else NOTICE,
        participant_id=context.participant_id,
        mode=mode,
        speakers_assumed=transcript.speakers_assumed,
        transcript=account_of(transcript, parts=len(context.part_numbers)),
        models=models,
        prompts=prompts | PART_DIGESTS if context.part_blocks else prompts,
        references=has_references.digest if has_references else None,
        grounding=None if scores is None else scores.grounding,
        hosts=tuple(sorted({host for one in attempts for host in one.hosts} | hosts)),
        attempts=attempts,
        failures=tuple(sorted(failures, key=_place)),
        transcript_text=transcript.text if is_text_made else None,
        quantitative=scores,
        qualitative=None if evaluation is None else evaluation.best.qualitative,
        evaluation=evaluation,
        meta_review=progress.meta_review,
    )


def _place(failure: FailureRecord) -> tuple[str, int]:
    """Return what failures are listed by: those of parts come in any order."""
    return failure.stage, int(failure.context.get("part", 0))


def _scores(progress: Progress) -> PHQ8Assessment | None:
    """Return the item scores, with what is known of how sure they are."""
    scores, drives = progress.quantitative, progress.drives
    if scores is not None and drives is not None:
        items = {key: replace(one, drive=drives.get(key)) for key, one in scores.items.items()}
        scores = replace(scores, items=items)
    return None if scores is None else progress.beliefs.of(scores)


def _status(
    progress: Progress,
    parts: frozenset[Part],
    scores: PHQ8Assessment | None,
    failures: Sequence[FailureRecord],
) -> AssessmentStatus:
    finished = set(progress.finished())
    is_lost = scores is not None and scores.lost_all_evidence
    if finished >= parts and not is_lost and not any(map(_is_part_unread, failures)):
        return AssessmentStatus.COMPLETE
    has_any = bool(finished) or scores is not None or progress.meta_review is not None
    return AssessmentStatus.PARTIAL if has_any else AssessmentStatus.FAILED


def _is_part_unread(failure: FailureRecord) -> bool:
    """Return whether a part of a long interview was not read for what the result rests on."""
    is_error = failure.severity is FailureSeverity.ERROR
    return is_error and "part" in failure.context and failure.stage not in OPTIONAL_AGENTS


def _models(
    attempts: Sequence[Attempt], agent_models: Mapping[str, tuple[str, ...]]
) -> dict[str, AgentModels]:
    answered: dict[str, dict[str, None]] = {agent: {} for agent in agent_models}
    for attempt in attempts:
        agent = _AGENT_OF_CALL[attempt.agent]
        if attempt.outcome is AttemptOutcome.ACCEPTED and agent in answered:
            answered[agent][attempt.model] = None
    return {
        agent: AgentModels(
            chain=chain,
            answered_by=tuple(answered[agent]),
            rule_baseline=BASELINE in answered[agent],
        )
        for agent, chain in agent_models.items()
    }
