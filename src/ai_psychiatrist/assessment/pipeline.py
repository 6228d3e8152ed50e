"""An assessment from transcript to result: three levels of model calls, whatever fails on the way.

Findings and scores do not need one another and run at the same time; the meta-review reads both.
Besides all of them a model reads for danger, and nothing but the result waits for it.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final, TypeAlias

from ai_psychiatrist.agents.context import (
    AssessmentContext,
    assessment_context,
    sharing_transcripts,
)
from ai_psychiatrist.agents.danger import DangerAgent, reading_in_part
from ai_psychiatrist.agents.meta_review import MetaReviewAgent
from ai_psychiatrist.agents.prompts.tasks import TASKS, Tasks
from ai_psychiatrist.agents.pydantic_agents import DANGER
from ai_psychiatrist.agents.quantitative import QuantitativeAssessmentAgent
from ai_psychiatrist.agents.references import ReferenceSource, required
from ai_psychiatrist.assessment.ablation import MOST_CALLS, drives_of
from ai_psychiatrist.assessment.parts import (
    FULL,
    OnFinished,
    Part,
    record_defect,
    record_late,
    record_skipped,
)
from ai_psychiatrist.assessment.progress import Believer, ListenerFailed, Progress
from ai_psychiatrist.assessment.refinement import FeedbackLoop, narrative_of
from ai_psychiatrist.domain.assessment import (
    AS_SET,
    Assessment,
    Metric,
    PHQ8Assessment,
    WantedScoring,
)
from ai_psychiatrist.domain.failures import FailureCode, FailureRecord
from ai_psychiatrist.domain.reader import ReaderStatus
from ai_psychiatrist.domain.risk import RiskReport, with_model_reading
from ai_psychiatrist.domain.transcript import Transcript
from ai_psychiatrist.infrastructure.failure_log import collect_failures
from ai_psychiatrist.infrastructure.logging import get_logger
from ai_psychiatrist.infrastructure.stopping import Stopping
from ai_psychiatrist.infrastructure.telemetry.watching import watched
from ai_psychiatrist.infrastructure.telemetry.work import AssessmentWork
from ai_psychiatrist.infrastructure.worker_processes import work_on_text
from ai_psychiatrist.llm.calls import DEFAULT_MAX_CALLS, CallBudget, CallStore, FirstCallAhead
from ai_psychiatrist.llm.replies import PartialOutput
from ai_psychiatrist.services.reader.second_voice import SecondVoice, VoicedRisk
from ai_psychiatrist.services.risk.clause_memory import remembering_clauses
from ai_psychiatrist.services.risk.detector import detect_risk

logger = get_logger(__name__)

_SHARE_OF_STOPPING: Final = 0.75  # The rest of that time is for telling what has finished.
_NARRATIVE_SHARE_OF_TIME: Final = 0.75  # Of that before the deadline; the meta-review has the rest.

_Work: TypeAlias = Callable[[], Awaitable[None]]
"""Called no sooner than it is made: one that is broken off before leaves nothing behind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AssessmentPipeline:
    """The agents and how they work together; one for all assessments."""

    feedback_loop: FeedbackLoop
    quantitative: QuantitativeAssessmentAgent
    meta_review: MetaReviewAgent
    danger: DangerAgent | None = None
    """Reads for danger besides the rules; `None` where they are alone."""
    second_voice: SecondVoice = field(default_factory=SecondVoice)
    """The learned reader besides the rules, for danger and items."""
    believer: Believer | None = None
    """Estimates how sure the scores are; `None` where that is not wanted."""
    max_calls: int = DEFAULT_MAX_CALLS
    is_delimited: bool = False
    is_first_ahead: bool = False
    """Whether an assessment's first call to a model that caches prefixes goes alone."""
    tasks: Tasks = field(default_factory=lambda: TASKS, repr=False)
    """What the agents are asked."""
    references: ReferenceSource | None = field(default=None, repr=False)
    """Where scoring finds examples of other participants; `None` where there are none."""

    async def assess(
        self,
        transcript: Transcript,
        *,
        risk: VoicedRisk | None = None,
        participant_id: int | None = None,
        parts: frozenset[Part] = FULL,
        scoring: WantedScoring = AS_SET,
        deadline_seconds: float | None = None,
        on_finished: OnFinished = lambda _: None,
        store: CallStore | None = None,
        stopping: Stopping | None = None,
    ) -> Assessment:
        """Assess a transcript; what fails is recorded and everything that finished is kept.

        `parts`: what to make; `on_finished` gets each as it is done, and an error of its own ends
        the assessment and is raised as it is. At the deadline the calls under way are cancelled.
        Cancelling the caller cancels them too. `risk`: what rules and reader say of this transcript
        if it is made already; otherwise it is made before any model is asked. `scoring`: how the
        caller wants the items scored. `store`: where the calls are kept, and found when they were
        made before. `stopping`: moves the deadline up when the service stops. Raises
        `RequestConflict` for a mode that shows references where there are none.
        """
        if scoring.mode.shows_references:
            required(scoring.mode, self.references)
        if risk is None:
            rules = await work_on_text(transcript.text, detect_risk, transcript)
            risk = await self.second_voice.voiced(transcript, rules)
        context = assessment_context(
            transcript,
            participant_id=participant_id,
            max_calls=self.max_calls,
            is_delimited=self.is_delimited,
            store=store,
            unread=risk.report.examined.wholly_unread,
            tasks=self.tasks,
            scoring=scoring,
            references=self.references,
        )
        ahead = FirstCallAhead() if self.is_first_ahead else None
        calls = replace(context.calls, ahead=ahead)
        context = replace(context, reading=risk.reading, calls=calls)
        run = _Run(self, context, parts, Progress(on_finished=on_finished))
        with watched(AssessmentWork(mode=scoring.mode)) as work:
            assessment = await run.assessment(risk.report, deadline_seconds, stopping or Stopping())
            work.status, work.danger = assessment.status, assessment.risk.level
            work.calls, work.failures = len(assessment.attempts), len(assessment.failures)
        return assessment


@dataclass(slots=True)
class _Run:
    """One assessment under way."""

    agents: AssessmentPipeline
    context: AssessmentContext
    parts: frozenset[Part]
    progress: Progress

    async def assessment(
        self, risk: RiskReport, deadline_seconds: float | None, stopping: Stopping
    ) -> Assessment:
        """Return what there is when all has finished, or the time is up."""
        progress, agents = self.progress, self.agents
        if agents.believer is not None:
            progress.beliefs = agents.believer.begin(self.context.scoring.mode)
        unread = FailureCode.INTERNAL_ERROR
        with collect_failures() as failures, sharing_transcripts(), remembering_clauses():
            self.context.share_transcript()
            try:
                async with asyncio.timeout(deadline_seconds) as deadline:
                    calls = replace(self.context.calls, deadline=deadline.when())
                    self.context = replace(self.context, calls=calls)
                    with stopping.holding(deadline, share=_SHARE_OF_STOPPING):
                        async with asyncio.TaskGroup() as group:
                            # A task as well: when all is stopped, none of them stops before others.
                            group.create_task(self._make(group))
            except BaseExceptionGroup:
                if progress.listener_error is None:
                    raise
            except TimeoutError:
                progress.record_late_parts(self.parts - progress.late)
                unread = FailureCode.DEADLINE_EXCEEDED
                if agents.danger is not None and progress.danger is None:
                    record_late(DANGER.name)
                progress.record_late_doubts(self.context)
        if progress.listener_error is not None:
            raise progress.listener_error
        return await self._result(risk, failures, unread)

    async def _result(
        self, risk: RiskReport, failures: list[FailureRecord], unread: FailureCode
    ) -> Assessment:
        progress, context = self.progress, self.context
        progress.leave_drives_open(context, unread)
        if self.agents.danger is not None:
            kept = progress.kept_danger
            reading = progress.danger or await reading_in_part(context, kept, unread)
            risk = with_model_reading(risk, reading)
        if context.reading.status is ReaderStatus.FAILED:
            risk = replace(risk, reader=context.reading.state)
        assessment = progress.assessment(context, risk, self.parts, failures)
        logger.info(
            "assessment_finished",
            status=assessment.status,
            model_calls=len(assessment.attempts),
            failures=len(failures),
            turns_not_examined=len(risk.examined.unread),
            participant_id=context.participant_id,
        )
        return assessment

    async def _make(self, outer: asyncio.TaskGroup) -> None:
        """Make the parts; `outer`: for what only the result waits for."""
        agents, has_scores = self.agents, Part.SCORES in self.parts
        ablates = self.context.scoring.ablates and has_scores
        budgets = share_out(
            agents.max_calls,
            most_scores=agents.quantitative.most_calls if has_scores else 0,
            most_review=agents.meta_review.most_calls if Part.META_REVIEW in self.parts else 0,
            most_danger=0 if agents.danger is None else agents.danger.most_calls,
            most_ablation=MOST_CALLS if ablates else 0,
            most_belief=0 if agents.believer is None else agents.believer.most_calls,
        )
        async with asyncio.TaskGroup() as group:
            if Part.FINDINGS in self.parts:
                narrate = partial(self._narrate, self.context.within(budgets.narrative))
                group.create_task(_guarded(partial(self._in_time, narrate)))
            if has_scores:
                ask = partial(self._ask_beliefs, outer, self.context.within(budgets.belief))
                score = partial(self._score, self.context.within(budgets.scores), ask)
                scoring = group.create_task(_guarded(score))
                if ablates:
                    own = self.context.within(budgets.ablation)
                    outer.create_task(_guarded(partial(self._ablate, own, scoring)))
            if agents.danger is not None:
                # Last, so that a backend with few slots serves what others wait for before it.
                own = self.context.within(budgets.danger)
                outer.create_task(_guarded(partial(self._read_for_danger, agents.danger, own)))
        if Part.META_REVIEW in self.parts:
            last = self.context.within(budgets.for_meta_review())
            await _guarded(partial(self._review, last))

    async def _narrate(self, context: AssessmentContext) -> None:
        """Make the findings, and have them judged and refined where that is wanted."""
        rounds, is_judged = self.progress.rounds, Part.JUDGEMENT in self.parts
        await self.agents.feedback_loop.run(context, rounds, is_judged=is_judged)
        if rounds:
            self.progress.finish(Part.FINDINGS)
        elif is_judged:
            record_skipped(Part.JUDGEMENT)

    async def _in_time(self, work: _Work) -> None:
        """End the narrative while there is time for the meta-review, which can do without it."""
        deadline = self.context.calls.deadline
        if deadline is None or Part.META_REVIEW not in self.parts:
            await work()
            return
        seconds = (deadline - asyncio.get_running_loop().time()) * _NARRATIVE_SHARE_OF_TIME
        try:
            async with asyncio.timeout(seconds):
                await work()
        except TimeoutError:
            self.progress.late = self.parts & {Part.FINDINGS, Part.JUDGEMENT}
            self.progress.record_late_parts(self.progress.late)

    async def _score(
        self, context: AssessmentContext, ask: Callable[[PHQ8Assessment], None]
    ) -> None:
        """Make the scores; what has evidence only is kept should they not come."""
        progress, agent = self.progress, self.agents.quantitative

        def keep(unscored: PHQ8Assessment) -> None:
            progress.quantitative = unscored

        progress.quantitative = await agent.assess(context, on_evidence=keep, on_scoring=ask)
        if progress.quantitative is not None and progress.quantitative.is_accepted:
            progress.finish(Part.SCORES)

    def _ask_beliefs(
        self, outer: asyncio.TaskGroup, context: AssessmentContext, found: PHQ8Assessment
    ) -> None:
        """Have beliefs asked for while the items are scored, and the meta-review made."""
        if self.progress.beliefs is not None:
            request = _guarded(partial(self.progress.beliefs.ask, context, found))
            try:
                outer.create_task(request)
            except RuntimeError:
                # All is being broken off, and takes no further part.
                request.close()

    async def _ablate(self, context: AssessmentContext, scoring: asyncio.Task[None]) -> None:
        """Score again once there are scores; nothing but the result waits for it."""
        await asyncio.wait([scoring])
        scores = self.progress.quantitative
        if scores is not None and scores.has_scores:
            self.progress.drives = await drives_of(self.agents.quantitative, context, scores)

    async def _read_for_danger(self, agent: DangerAgent, context: AssessmentContext) -> None:
        def keep(statements: PartialOutput) -> None:
            self.progress.kept_danger = statements

        self.progress.danger = await agent.read(context, on_kept=keep)

    async def _review(self, context: AssessmentContext) -> None:
        """Make the meta-review, of what there is; without scores there is none."""
        progress = self.progress
        if progress.quantitative is None or not progress.quantitative.is_scored:
            record_skipped(Part.META_REVIEW)
            return
        narrative = narrative_of(progress.rounds)
        findings = None if narrative is None else narrative.best.findings
        agent = self.agents.meta_review
        progress.meta_review = await agent.review(context, findings, progress.quantitative)
        if progress.meta_review is not None and progress.meta_review.is_whole:
            progress.finish(Part.META_REVIEW)


async def _guarded(part: _Work) -> None:
    """Keep a defect in one part from taking the others with it."""
    try:
        await part()
    except ListenerFailed:
        raise
    except Exception as error:  # noqa: BLE001  whatever it is, the finished parts are kept
        record_defect(error)


# How the calls of an assessment are shared out

_LEAST_SCORES: Final = 2
_LEAST_REVIEW: Final = 1
_LEAST_DANGER: Final = 1
_LEAST_NARRATIVE: Final = 1 + len(Metric)


@dataclass(frozen=True, slots=True, kw_only=True)
class Budgets:
    """What each part of an assessment may spend, in calls.

    What runs at the same time has budgets of its own: which call comes first then decides nothing.
    """

    scores: CallBudget
    meta_review: CallBudget
    narrative: CallBudget
    danger: CallBudget
    """Never shared, nor are the next: they may still be in use when the meta-review begins."""
    ablation: CallBudget
    belief: CallBudget

    def for_meta_review(self) -> CallBudget:
        """Return the budget of the meta-review with all that scores and narrative have left."""
        self.meta_review.take_back(self.scores)
        self.meta_review.take_back(self.narrative)
        return self.meta_review


def share_out(
    max_calls: int,
    *,
    most_scores: int,
    most_review: int,
    most_danger: int,
    most_belief: int = 0,
    most_ablation: int = 0,
) -> Budgets:
    """Share calls out: one for each step, then scores' and review's retries, then the rest.

    `most_scores`, `most_review`, `most_danger`: what evidence and scores, the review, and the
    reading for danger cost with all retries; `most_belief`: what is asked to know how sure the
    scores are; `most_ablation`: what scoring changed transcripts may cost; 0 for a part that is not
    wanted. Of the rest a quarter at most is for the reading's retries, and half of what is then
    left for belief, then for ablation; the narrative and its rounds get all else.
    """
    budget = CallBudget(max_calls)
    scores = budget.set_aside(min(_LEAST_SCORES, most_scores))
    danger = budget.set_aside(min(_LEAST_DANGER, most_danger))
    meta_review = budget.set_aside(min(_LEAST_REVIEW, most_review))
    narrative = budget.set_aside(_LEAST_NARRATIVE)
    scores.take_back(budget.set_aside(most_scores - scores.left))
    meta_review.take_back(budget.set_aside(most_review - meta_review.left))
    danger.take_back(budget.set_aside(min(most_danger - danger.left, budget.left // 4)))
    belief = budget.set_aside(min(most_belief, budget.left // 2))
    ablation = budget.set_aside(min(most_ablation, budget.left // 2))
    narrative.take_back(budget)
    return Budgets(
        scores=scores,
        meta_review=meta_review,
        narrative=narrative,
        danger=danger,
        belief=belief,
        ablation=ablation,
    )
