"""An assessment from transcript to result: three levels of model calls, whatever fails on the way.

Findings and scores do not need one another and run at the same time; the meta-review reads both.
Beside all of them a model reads for danger, and nothing but the result waits for it.
"""

import asyncio
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

from ai_psychiatrist.agents.baseline.shared_analysis import sharing_analysis
from ai_psychiatrist.agents.case import Case, open_case
from ai_psychiatrist.agents.danger import DangerAgent, reading_in_part
from ai_psychiatrist.agents.definition import DANGER
from ai_psychiatrist.agents.meta_review import MetaReviewAgent
from ai_psychiatrist.agents.prompts.digests import TASKS, Tasks
from ai_psychiatrist.agents.quantitative import QuantitativeAssessmentAgent
from ai_psychiatrist.agents.references import ReferenceSource, required
from ai_psychiatrist.assessment.ablation import MOST_CALLS
from ai_psychiatrist.assessment.believing import Believer
from ai_psychiatrist.assessment.feedback_loop import FeedbackLoop
from ai_psychiatrist.assessment.making import (
    ablate,
    asking,
    guarded,
    in_time,
    narrate,
    read_for_danger,
    review,
    score,
)
from ai_psychiatrist.assessment.part import FULL, OnFinished, Part
from ai_psychiatrist.assessment.progress import Progress
from ai_psychiatrist.assessment.spending import share_out
from ai_psychiatrist.assessment.telling import Telling
from ai_psychiatrist.assessment.unfinished import record_late
from ai_psychiatrist.domain.assessment import (
    AS_SET,
    Assessment,
    WantedScoring,
)
from ai_psychiatrist.domain.failures import FailureCode
from ai_psychiatrist.domain.reader import ReaderStatus
from ai_psychiatrist.domain.risk import RiskReport, with_model_reading
from ai_psychiatrist.domain.transcript import Transcript
from ai_psychiatrist.infrastructure.failure_log import collect_failures
from ai_psychiatrist.infrastructure.logging import get_logger
from ai_psychiatrist.infrastructure.stopping import Stopping
from ai_psychiatrist.infrastructure.telemetry.watching import watched
from ai_psychiatrist.infrastructure.telemetry.work import AssessmentWork
from ai_psychiatrist.infrastructure.worker_processes import work_on_text
from ai_psychiatrist.llm.calls import DEFAULT_MAX_CALLS, CallStore
from ai_psychiatrist.services.reader.reading import TranscriptReading
from ai_psychiatrist.services.reader.second_voice import SecondVoice, VoicedRisk
from ai_psychiatrist.services.risk.clause_memory import remembering_clauses
from ai_psychiatrist.services.risk.detector import detect_risk

logger = get_logger(__name__)


SHARE_OF_STOPPING: Final = 0.75  # The rest of that time is for telling what has finished.


@dataclass(frozen=True, slots=True, kw_only=True)
class AssessmentPipeline:
    """The agents and how they work together; one for all assessments."""

    feedback_loop: FeedbackLoop
    quantitative: QuantitativeAssessmentAgent
    meta_review: MetaReviewAgent
    danger: DangerAgent | None = None
    """Reads for danger beside the rules; `None` where they are alone."""
    second_voice: SecondVoice = field(default_factory=SecondVoice)
    """The learned reader beside the rules, for danger and items."""
    believer: Believer | None = None
    """Says how sure the scores are; `None` for nobody."""
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

        `parts`: what to make; `on_finished` is told of each as it is done, and an error of its own
        ends the assessment and is raised as it is. At the deadline the calls under way are
        cancelled. Cancelling the caller cancels them too. `risk`: what rules and reader say of this
        transcript if it is made already; otherwise it is made before any model is asked. `scoring`:
        how the caller wants the items scored. `store`: where the calls are kept, and found when
        they were made before. `stopping`: moves the deadline up when the service stops. Raises
        `RequestConflict` for a mode that shows references where there are none.
        """
        if scoring.mode.shows_references:
            required(scoring.mode, self.references)
        if risk is None:
            rules = await work_on_text(transcript.text, detect_risk, transcript)
            risk = await self.second_voice.voiced(transcript, rules)
        case = self._opened(
            transcript,
            participant_id=participant_id,
            store=store,
            unread=risk.report.examined.wholly_unread,
            scoring=scoring,
            reading=risk.reading,
        )
        with watched(AssessmentWork(mode=case.scoring.mode)) as work:
            assessment = await self._assessed(
                case,
                risk.report,
                parts,
                on_finished=on_finished,
                deadline_seconds=deadline_seconds,
                stopping=stopping or Stopping(),
            )
            work.status, work.danger = assessment.status, assessment.risk.level
            work.calls, work.failures = len(assessment.attempts), len(assessment.failures)
        return assessment

    async def _assessed(
        self,
        case: Case,
        risk: RiskReport,
        parts: frozenset[Part],
        *,
        on_finished: OnFinished,
        deadline_seconds: float | None,
        stopping: Stopping,
    ) -> Assessment:
        progress, telling = Progress(), Telling(on_finished)
        if self.believer is not None:
            progress.beliefs = self.believer.begin(case.scoring.mode)
        unread = FailureCode.INTERNAL_ERROR
        with collect_failures() as failures, sharing_analysis(), remembering_clauses():
            case.share_transcript()
            try:
                async with asyncio.timeout(deadline_seconds) as deadline:
                    calls = replace(case.calls, deadline=deadline.when())
                    with stopping.holding(deadline, share=SHARE_OF_STOPPING):
                        await self._run(replace(case, calls=calls), parts, progress, telling)
            except BaseExceptionGroup:
                if telling.error is None:
                    raise
            except TimeoutError:
                progress.record_deadline(parts - progress.late)
                unread = FailureCode.DEADLINE_EXCEEDED
                if self.danger is not None and progress.danger is None:
                    record_late(DANGER.name)
                progress.record_late_doubts(case)
        if telling.error is not None:
            raise telling.error
        progress.leave_drives_open(case, unread)
        if self.danger is not None:
            reading = progress.danger or await reading_in_part(case, progress.kept_danger, unread)
            risk = with_model_reading(risk, reading)
        if case.reading.status is ReaderStatus.FAILED:
            risk = replace(risk, reader=case.reading.state)
        assessment = progress.assessment(case, risk, parts, failures)
        logger.info(
            "assessment_finished",
            status=assessment.status,
            model_calls=len(assessment.attempts),
            failures=len(failures),
            turns_not_examined=len(risk.examined.unread),
            participant_id=case.participant_id,
        )
        return assessment

    def _opened(
        self,
        transcript: Transcript,
        *,
        participant_id: int | None,
        store: CallStore | None,
        unread: frozenset[int],
        scoring: WantedScoring,
        reading: TranscriptReading,
    ) -> Case:
        case = open_case(
            transcript,
            participant_id=participant_id,
            max_calls=self.max_calls,
            is_delimited=self.is_delimited,
            store=store,
            unread=unread,
            tasks=self.tasks,
            scoring=scoring,
            references=self.references,
        )
        case = replace(case, reading=reading)
        return case.with_first_call_ahead() if self.is_first_ahead else case

    async def _run(
        self, case: Case, parts: frozenset[Part], progress: Progress, on_finished: OnFinished
    ) -> None:
        async with asyncio.TaskGroup() as group:
            # A task as well: when all is stopped, none of them stops before another.
            group.create_task(self._make(group, case, parts, progress, on_finished))

    async def _make(
        self,
        beside: asyncio.TaskGroup,
        case: Case,
        parts: frozenset[Part],
        progress: Progress,
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
                work = partial(
                    narrate,
                    self.feedback_loop,
                    case.within(spending.narrative),
                    parts,
                    progress,
                    on_finished,
                )
                group.create_task(guarded(partial(in_time, work, case, parts, progress)))
            if Part.SCORES in parts:
                ask = asking(beside, case.within(spending.belief), progress)
                work = partial(
                    score,
                    self.quantitative,
                    case.within(spending.scores),
                    progress,
                    on_finished,
                    ask,
                )
                scoring = group.create_task(guarded(work))
                if case.scoring.ablates:
                    work = partial(
                        ablate, self.quantitative, scoring, case.within(spending.ablation), progress
                    )
                    beside.create_task(guarded(work))
            if self.danger is not None:
                # Last, so that a backend with few places serves what others wait for before it.
                work = partial(read_for_danger, self.danger, case.within(spending.danger), progress)
                beside.create_task(guarded(work))
        if Part.META_REVIEW in parts:
            last = case.within(spending.for_meta_review())
            await guarded(partial(review, self.meta_review, last, progress, on_finished))
