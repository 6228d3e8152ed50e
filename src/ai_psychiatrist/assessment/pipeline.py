"""An assessment from transcript to result: three levels of model calls, whatever fails on the way.

Findings and scores do not need one another and run at the same time; the meta-review reads both.
Beside all of them a model reads for danger, and nothing but the result waits for it.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final

from ai_psychiatrist.agents.baseline.shared_analysis import sharing_analysis
from ai_psychiatrist.agents.case import Case, open_case
from ai_psychiatrist.agents.danger import DangerAgent
from ai_psychiatrist.agents.definition import ABLATION, AGENT_ORDER, DANGER
from ai_psychiatrist.agents.meta_review import MetaReviewAgent
from ai_psychiatrist.agents.prompts.digests import TASKS, Tasks
from ai_psychiatrist.agents.quantitative import QuantitativeAssessmentAgent
from ai_psychiatrist.agents.references import ReferenceSource, required
from ai_psychiatrist.assessment.ablation import MOST_CALLS, drives_of, open_drives, with_drives
from ai_psychiatrist.assessment.believing import BELIEF, Beliefs, Believer
from ai_psychiatrist.assessment.feedback_loop import FeedbackLoop, narrative_of
from ai_psychiatrist.assessment.spending import NARRATIVE_SHARE_OF_TIME, share_out
from ai_psychiatrist.assessment.telling import ListenerFailed, Telling
from ai_psychiatrist.assessment.unfinished import record_defect, record_late, record_skipped
from ai_psychiatrist.domain.assessment import (
    AS_SET,
    Assessment,
    AssessmentStatus,
    JudgedRound,
    MetaReview,
    Metric,
    PHQ8Assessment,
    WantedScoring,
)
from ai_psychiatrist.domain.drive import ItemDrive
from ai_psychiatrist.domain.failures import Attempt, FailureCode, FailureRecord
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.domain.risk import ModelReading, ReadingStatus, RiskReport, with_model_reading
from ai_psychiatrist.domain.transcript import Transcript
from ai_psychiatrist.infrastructure.failure_log import collect_failures
from ai_psychiatrist.infrastructure.logging import get_logger
from ai_psychiatrist.infrastructure.stopping import Stopping
from ai_psychiatrist.infrastructure.worker_processes import work_on_text
from ai_psychiatrist.llm.call_log import DEFAULT_MAX_CALLS
from ai_psychiatrist.llm.call_store import CallStore
from ai_psychiatrist.services.risk.clause_memory import remembering_clauses
from ai_psychiatrist.services.risk.detector import detect_risk

logger = get_logger(__name__)


class Part(StrEnum):
    """What an assessment is made of."""

    FINDINGS = "findings"
    JUDGEMENT = "judgement"
    SCORES = "scores"
    META_REVIEW = "meta_review"


FULL: Final = frozenset(Part)

SHARE_OF_STOPPING: Final = 0.75  # The rest of that time is for telling what has finished.

OnFinished = Callable[[Part], None]
_Ask = Callable[[PHQ8Assessment], None]


@dataclass(slots=True)
class _Results:
    """What has finished so far."""

    rounds: list[JudgedRound] = field(default_factory=list)
    quantitative: PHQ8Assessment | None = None
    meta_review: MetaReview | None = None
    danger: ModelReading | None = None
    late: frozenset[Part] = frozenset()
    """What was ended so that a part that needs its time could have it."""
    beliefs: Beliefs | None = None
    drives: Mapping[Item, ItemDrive] | None = None
    """Whether the evidence drives each score, where that is asked for."""

    def finished(self) -> Iterable[Part]:
        narrative = narrative_of(self.rounds)
        if narrative is not None:
            yield Part.FINDINGS
            if len(narrative.best.scores) == len(Metric):
                yield Part.JUDGEMENT
        if self.quantitative is not None and self.quantitative.is_accepted:
            yield Part.SCORES
        if self.meta_review is not None:
            yield Part.META_REVIEW


@dataclass(frozen=True, slots=True, kw_only=True)
class AssessmentPipeline:
    """The agents and how they work together; one for all assessments."""

    feedback_loop: FeedbackLoop
    quantitative: QuantitativeAssessmentAgent
    meta_review: MetaReviewAgent
    danger: DangerAgent | None = None
    """Reads for danger beside the rules; `None` where they are alone."""
    believer: Believer | None = None
    """Says how sure the scores are; `None` for nobody."""
    max_calls: int = DEFAULT_MAX_CALLS
    is_delimited: bool = False
    tasks: Tasks = field(default_factory=lambda: TASKS, repr=False)
    """What the agents are asked."""
    references: ReferenceSource | None = field(default=None, repr=False)
    """Where scoring finds examples of other participants; `None` where there are none."""

    async def assess(
        self,
        transcript: Transcript,
        *,
        risk: RiskReport | None = None,
        participant_id: int | None = None,
        parts: frozenset[Part] = FULL,
        scoring: WantedScoring = AS_SET,
        deadline_seconds: float | None = None,
        on_finished: OnFinished = lambda _: None,
        store: CallStore | None = None,
        stopping: Stopping | None = None,
    ) -> Assessment:
        """Assess a transcript; what fails is recorded and everything that finished is kept.

        `parts`: what to make; `on_finished` is told of each as it is done, and an error of its own
        ends the assessment and is raised as it is. At the deadline the calls under way are
        cancelled. Cancelling the caller cancels them too. `risk`: the rules' report on this
        transcript if it is made already; otherwise it is made before any model is asked. `scoring`:
        how the caller wants the items scored. `store`:
        where the calls are kept, and found when they were made before. `stopping`: moves the
        deadline up when the service stops. Raises `RequestConflict` for a mode that shows
        references where there are none.
        """
        if scoring.mode.shows_references:
            required(scoring.mode, self.references)
        if risk is None:
            risk = await work_on_text(transcript.text, detect_risk, transcript)
        case = open_case(
            transcript,
            participant_id=participant_id,
            max_calls=self.max_calls,
            is_delimited=self.is_delimited,
            store=store,
            unread=risk.examined.wholly_unread,
            tasks=self.tasks,
            scoring=scoring,
            references=self.references,
        )
        results, telling = _Results(), Telling(on_finished)
        if self.believer is not None:
            results.beliefs = self.believer.begin(scoring.mode)
        unread = FailureCode.INTERNAL_ERROR
        with collect_failures() as failures, sharing_analysis(), remembering_clauses():
            try:
                async with asyncio.timeout(deadline_seconds) as deadline:
                    calls = replace(case.calls, deadline=deadline.when())
                    with (stopping or Stopping()).holding(deadline, share=SHARE_OF_STOPPING):
                        await self._run(replace(case, calls=calls), parts, results, telling)
            except BaseExceptionGroup:
                if telling.error is None:
                    raise
            except TimeoutError:
                _record_deadline(parts - results.late, results)
                unread = FailureCode.DEADLINE_EXCEEDED
                if self.danger is not None and results.danger is None:
                    record_late(DANGER.name)
                _record_late_doubts(case, results)
        if telling.error is not None:
            raise telling.error
        _leave_drives_open(case, results, unread)
        if self.danger is not None:
            failed = ModelReading(status=ReadingStatus.FAILED, code=unread)
            risk = with_model_reading(risk, results.danger or failed)
        return _assessment(case, risk, parts, results, failures)

    async def _run(
        self, case: Case, parts: frozenset[Part], results: _Results, on_finished: OnFinished
    ) -> None:
        async with asyncio.TaskGroup() as group:
            # A task as well: when all is stopped, none of them stops before another.
            group.create_task(self._make(group, case, parts, results, on_finished))

    async def _make(
        self,
        beside: asyncio.TaskGroup,
        case: Case,
        parts: frozenset[Part],
        results: _Results,
        on_finished: OnFinished,
    ) -> None:
        spending = share_out(
            self.max_calls,
            most_scores=self.quantitative.most_calls if Part.SCORES in parts else 0,
            most_review=self.meta_review.most_calls if Part.META_REVIEW in parts else 0,
            most_danger=0 if self.danger is None else self.danger.most_calls,
            most_ablation=MOST_CALLS if case.scoring.ablates and Part.SCORES in parts else 0,
            most_belief=0 if self.believer is None else self.believer.most_calls,
        )
        async with asyncio.TaskGroup() as group:
            if Part.FINDINGS in parts:
                work = self._narrate(case.within(spending.narrative), parts, results, on_finished)
                group.create_task(_guarded(_in_time(work, case, parts, results)))
            if Part.SCORES in parts:
                ask = _asking(beside, case.within(spending.belief), results)
                work = self._score(case.within(spending.scores), results, on_finished, ask)
                scoring = group.create_task(_guarded(work))
                if case.scoring.ablates:
                    work = self._ablate(scoring, case.within(spending.ablation), results)
                    beside.create_task(_guarded(work))
            if self.danger is not None:
                # Last, so that a backend with few places serves what others wait for before it.
                work = _read_for_danger(self.danger, case.within(spending.danger), results)
                beside.create_task(_guarded(work))
        if Part.META_REVIEW in parts:
            last = case.within(spending.for_meta_review())
            await _guarded(self._review(last, results, on_finished))

    async def _narrate(
        self, case: Case, parts: frozenset[Part], results: _Results, on_finished: OnFinished
    ) -> None:
        if Part.JUDGEMENT in parts:
            await self.feedback_loop.run(case, results.rounds)
        else:
            findings = await self.feedback_loop.qualitative.assess(case)
            if findings is not None:
                results.rounds.append(JudgedRound(round=0, findings=findings, scores={}))
        if results.rounds:
            on_finished(Part.FINDINGS)
        elif Part.JUDGEMENT in parts:
            record_skipped(Part.JUDGEMENT.value)

    async def _score(
        self, case: Case, results: _Results, on_finished: OnFinished, ask: _Ask
    ) -> None:
        def keep(unscored: PHQ8Assessment) -> None:
            results.quantitative = unscored

        results.quantitative = await self.quantitative.assess(
            case, on_evidence=keep, on_scoring=ask
        )
        if results.quantitative is not None and results.quantitative.is_accepted:
            on_finished(Part.SCORES)

    async def _ablate(self, scoring: asyncio.Task[None], case: Case, results: _Results) -> None:
        """Score again once there are scores; nothing but the result waits for it."""
        await asyncio.wait([scoring])
        if results.quantitative is not None and results.quantitative.has_scores:
            results.drives = await drives_of(self.quantitative, case, results.quantitative)

    async def _review(self, case: Case, results: _Results, on_finished: OnFinished) -> None:
        if results.quantitative is None or not results.quantitative.is_scored:
            record_skipped(Part.META_REVIEW.value)
            return
        narrative = narrative_of(results.rounds)
        findings = None if narrative is None else narrative.best.findings
        results.meta_review = await self.meta_review.review(case, findings, results.quantitative)
        if results.meta_review is not None:
            on_finished(Part.META_REVIEW)


def _lacks_drives(case: Case, results: _Results) -> bool:
    scores = results.quantitative
    is_wanted = case.scoring.ablates and scores is not None and scores.has_scores
    return is_wanted and results.drives is None


def _leave_drives_open(case: Case, results: _Results, code: FailureCode) -> None:
    if results.quantitative is not None and _lacks_drives(case, results):
        results.drives = open_drives(results.quantitative, code)


def _record_late_doubts(case: Case, results: _Results) -> None:
    """Record what of how sure the scores are was not told in time."""
    if _lacks_drives(case, results):
        record_late(ABLATION.name)
    if results.beliefs is not None and results.beliefs.is_asking:
        record_late(BELIEF)


def _asking(beside: asyncio.TaskGroup, case: Case, results: _Results) -> _Ask:
    """Return what has beliefs asked for while the items are scored, and the meta-review made."""

    def ask(found: PHQ8Assessment) -> None:
        if results.beliefs is not None:
            beside.create_task(_guarded(results.beliefs.ask(case, found)))

    return ask


async def _read_for_danger(agent: DangerAgent, case: Case, results: _Results) -> None:
    results.danger = await agent.read(case)


async def _in_time(
    work: Awaitable[None], case: Case, parts: frozenset[Part], results: _Results
) -> None:
    """End the narrative while there is time for the meta-review, which can do without it."""
    deadline = case.calls.deadline
    if deadline is None or Part.META_REVIEW not in parts:
        await work
        return
    seconds = (deadline - asyncio.get_running_loop().time()) * NARRATIVE_SHARE_OF_TIME
    try:
        async with asyncio.timeout(seconds):
            await work
    except TimeoutError:
        results.late = parts & {Part.FINDINGS, Part.JUDGEMENT}
        _record_deadline(results.late, results)


async def _guarded(part: Awaitable[None]) -> None:
    """Keep a defect in one part from taking the others with it."""
    try:
        await part
    except ListenerFailed:
        raise
    except Exception as error:  # noqa: BLE001  whatever it is, the finished parts are kept
        record_defect(error)


def _record_deadline(parts: frozenset[Part], results: _Results) -> None:
    finished = set(results.finished())
    for part in Part:
        if part in parts and part not in finished:
            record_late(part.value)


def _assessment(
    case: Case,
    risk: RiskReport,
    parts: frozenset[Part],
    results: _Results,
    failures: list[FailureRecord],
) -> Assessment:
    finished = set(results.finished())
    has_any = bool(finished) or results.quantitative is not None
    status = AssessmentStatus.PARTIAL if has_any else AssessmentStatus.FAILED
    if finished >= parts:
        status = AssessmentStatus.COMPLETE
    assessment = Assessment(
        transcript=case.transcript,
        risk=risk,
        participant_id=case.participant_id,
        mode=case.scoring.mode,
        status=status,
        narrative=narrative_of(results.rounds),
        quantitative=_with_belief_and_drives(results),
        meta_review=results.meta_review,
        attempts=_in_agent_order(case.calls.attempts),
        failures=tuple(sorted(failures, key=lambda failure: failure.stage)),
        references=_digest_of_references(case),
    )
    logger.info(
        "assessment_finished",
        status=status,
        model_calls=len(assessment.attempts),
        failures=len(failures),
        turns_not_examined=len(risk.examined.unread),
        participant_id=case.participant_id,
    )
    return assessment


def _digest_of_references(case: Case) -> str | None:
    if case.references is None or not case.scoring.mode.shows_references:
        return None
    return case.references.digest


def _with_belief_and_drives(results: _Results) -> PHQ8Assessment | None:
    scores = results.quantitative
    if scores is None:
        return None
    scores = scores if results.drives is None else with_drives(scores, results.drives)
    return scores if results.beliefs is None else results.beliefs.of(scores)


def _in_agent_order(attempts: list[Attempt]) -> tuple[Attempt, ...]:
    """Sort by agent: calls that run at the same time end in any order."""
    return tuple(sorted(attempts, key=lambda attempt: AGENT_ORDER.index(attempt.agent)))
