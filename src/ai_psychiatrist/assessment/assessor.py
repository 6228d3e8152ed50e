"""The assessment of one transcript: what is asked, in which order, and what runs side by side.

Narrative and item scores do not need one another and run at the same time; the meta-review reads
both. Beside them a model reads for danger, and only the result waits for it.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final, ParamSpec, TypeAlias

from ai_psychiatrist.agents.context import (
    AssessmentContext,
    assessment_context,
    sharing_transcripts,
)
from ai_psychiatrist.agents.danger import DangerAgent, reading_in_part
from ai_psychiatrist.agents.meta_review import MetaReviewAgent
from ai_psychiatrist.agents.prompts.tasks import TASKS, Tasks
from ai_psychiatrist.agents.pydantic_agents import ABLATION, DANGER
from ai_psychiatrist.agents.quantitative import Evidence, QuantitativeAssessmentAgent
from ai_psychiatrist.agents.references import ReferenceSource, required
from ai_psychiatrist.assessment.ablation import MOST_CALLS, drives_of
from ai_psychiatrist.assessment.budgets import Budgets, share_out
from ai_psychiatrist.assessment.parts import (
    FULL,
    OnFinished,
    Part,
    record_defect,
    record_late,
    record_skipped,
)
from ai_psychiatrist.assessment.progress import ListenerFailed, Progress
from ai_psychiatrist.assessment.refinement import FeedbackLoop
from ai_psychiatrist.assessment.result import build_result
from ai_psychiatrist.distribution.estimator import DistributionEstimator
from ai_psychiatrist.domain.assessment import (
    DEFAULT_SCORING,
    Assessment,
    Certificate,
    ScoringOptions,
)
from ai_psychiatrist.domain.failures import FailureCode
from ai_psychiatrist.domain.items import PHQ8Assessment
from ai_psychiatrist.domain.risk import ReaderStatus, joined_readings, with_model_reading
from ai_psychiatrist.domain.transcript import Transcript
from ai_psychiatrist.infrastructure.logging import (
    collect_failures,
    get_logger,
    identified_assessment,
)
from ai_psychiatrist.infrastructure.off_loop import work_on_text
from ai_psychiatrist.infrastructure.tasks import GracefulShutdown, JoinedTasks
from ai_psychiatrist.infrastructure.telemetry.watching import watched
from ai_psychiatrist.infrastructure.telemetry.work import AssessmentWork
from ai_psychiatrist.llm.calls import DEFAULT_MAX_CALLS, CallStore, FirstCallAhead
from ai_psychiatrist.services.language.memory import remembering_clauses
from ai_psychiatrist.services.reader.second_voice import SecondVoice, VoicedRisk
from ai_psychiatrist.services.risk.context import with_words
from ai_psychiatrist.services.risk.detector import detect_risk

logger = get_logger(__name__)

_SHARE_OF_STOPPING: Final = 0.75  # The rest of that time is for sending what has finished.
_NARRATIVE_SHARE_OF_TIME: Final = 0.75  # Of that before the deadline; the meta-review has the rest.

_Arguments = ParamSpec("_Arguments")

Certify: TypeAlias = Callable[[Assessment, Transcript], Certificate]


@dataclass(frozen=True, slots=True, kw_only=True)
class AssessmentOptions:
    """How one assessment is wanted."""

    participant_id: int | None = None
    """Whose stored transcript it is."""
    parts: frozenset[Part] = FULL
    """What to make."""
    scoring: ScoringOptions = DEFAULT_SCORING
    """How the items are scored."""
    risk: VoicedRisk | None = field(default=None, repr=False)
    """What rules and reader find in this transcript, where they have read it already."""
    deadline_seconds: float | None = None
    """What is not finished by then is left out; else the models' own time limits hold."""
    on_finished: OnFinished = field(default=lambda _: None, repr=False)
    """Called with each part as it is done; an error of its own ends the assessment."""
    store: CallStore | None = field(default=None, repr=False)
    """Where calls are kept, and found when they were made before."""
    stopping: GracefulShutdown = field(default_factory=GracefulShutdown, repr=False)
    """Moves the deadline up when the service stops."""
    certify: Certify | None = field(default=None, repr=False)
    """Makes the certificate, where one is wanted."""


NO_OPTIONS: Final = AssessmentOptions()


@dataclass(frozen=True, slots=True, kw_only=True)
class Assessor:
    """The agents and how they work together; one for all assessments."""

    feedback_loop: FeedbackLoop
    quantitative: QuantitativeAssessmentAgent
    meta_review: MetaReviewAgent
    agent_models: Mapping[str, tuple[str, ...]]
    """Agent → the models that it may ask, for each agent that makes calls."""
    danger: DangerAgent | None = None
    """Reads for danger beside the rules; `None` where they are alone."""
    second_voice: SecondVoice = field(default_factory=SecondVoice)
    """The learned reader beside the rules, for danger and items."""
    estimator: DistributionEstimator = field(default_factory=DistributionEstimator)
    """Estimates how sure the scores are."""
    max_calls: int = DEFAULT_MAX_CALLS
    is_delimited: bool = False
    part_characters: int | None = None
    """From what length on an interview is read in parts of at most that; `None`: never."""
    is_first_ahead: bool = False
    """Whether an assessment's first call to a model that caches prefixes goes alone."""
    tasks: Tasks = field(default_factory=lambda: TASKS, repr=False)
    """What the agents are asked."""
    references: ReferenceSource | None = field(default=None, repr=False)
    """Where scoring finds examples of other participants; `None` where there are none."""
    crisis_resources: str = ""
    """Where to turn in danger, as the operator set it."""

    async def assess(
        self, transcript: Transcript, options: AssessmentOptions = NO_OPTIONS
    ) -> Assessment:
        """Assess a transcript; what fails is recorded and everything that finished is kept.

        At the deadline the calls in flight are cancelled; cancelling the caller cancels them too.
        Raises `RequestConflict` for a mode that shows references where there are none.
        """
        if options.scoring.mode.shows_references:
            required(options.scoring.mode, self.references)
        risk = options.risk or await self.read_for_risk(transcript)
        context = assessment_context(
            transcript,
            participant_id=options.participant_id,
            max_calls=self.max_calls,
            is_delimited=self.is_delimited,
            store=options.store,
            unread=risk.report.examined.wholly_unread,
            tasks=self.tasks,
            scoring=options.scoring,
            references=self.references,
        )
        if self.part_characters is not None:
            context = context.in_parts(self.part_characters)
        calls = replace(context.calls, ahead=FirstCallAhead() if self.is_first_ahead else None)
        context = replace(context, learned_reading=risk.reading, calls=calls)
        with (
            identified_assessment() as assessment_id,
            watched(AssessmentWork(mode=options.scoring.mode)) as work,
        ):
            assessment = await _Run(self, options, context).assessment(assessment_id, risk)
            work.status, work.danger = assessment.status, assessment.risk.level
            work.calls, work.failures = len(assessment.attempts), len(assessment.failures)
        if options.certify is None:
            return assessment
        certificate = await asyncio.to_thread(options.certify, assessment, transcript)
        return replace(assessment, certificate=certificate)

    async def read_for_risk(self, transcript: Transcript) -> VoicedRisk:
        """Return what the rules and the learned reader find of danger."""
        rules = await work_on_text(transcript.text, detect_risk, transcript)
        return await self.second_voice.voiced(transcript, rules)


class _Run:
    """One assessment in progress."""

    def __init__(
        self, assessor: Assessor, options: AssessmentOptions, context: AssessmentContext
    ) -> None:
        self.assessor, self.options, self.context = assessor, options, context
        self.shown = context
        """What narrative, scores and review are shown: the notes, once parts are read for them."""
        self.evidence: Evidence | None = None
        """What was found in the parts, where the interview is read in parts."""
        self.possible = options.parts
        """The parts of the assessment that there is something to make from."""
        self.parts = options.parts
        self.progress = Progress(
            on_finished=options.on_finished,
            beliefs=assessor.estimator.begin(context.scoring.mode),
        )

    async def assessment(self, assessment_id: str, risk: VoicedRisk) -> Assessment:
        """Return what there is when all has finished, or the time is up."""
        progress, assessor, options = self.progress, self.assessor, self.options
        parts = self.context.part_numbers
        missing = FailureCode.INTERNAL_ERROR
        with collect_failures() as failures, sharing_transcripts(), remembering_clauses():
            self.context.share_transcript()
            try:
                async with asyncio.timeout(options.deadline_seconds) as deadline:
                    calls = replace(self.context.calls, deadline=deadline.when())
                    self.context = self.shown = replace(self.context, calls=calls)
                    with options.stopping.holding(deadline, share=_SHARE_OF_STOPPING):
                        async with JoinedTasks() as group:
                            # A task as well: when all is stopped, none of them stops before others.
                            group.create_task(self._make_parts(group))
            except BaseExceptionGroup:
                if progress.listener_error is None:
                    raise
            except TimeoutError:
                missing = FailureCode.DEADLINE_EXCEEDED
                progress.record_late_parts(self.parts - progress.late)
                if assessor.danger is not None and len(progress.danger) < len(parts):
                    record_late(DANGER.name)
                progress.record_late_estimates(self.context)
        if progress.listener_error is not None:
            raise progress.listener_error
        unread = FailureCode.MISSING_INPUT if self.context.part_blocks else missing
        progress.leave_drives_open(self.context, unread)
        report = risk.report
        if assessor.danger is not None:
            readings = [
                progress.danger.get(part)
                or await reading_in_part(self.context, progress.kept_danger.get(part), missing)
                for part in parts
            ]
            report = with_model_reading(report, joined_readings(readings))
        if self.context.learned_reading.status is ReaderStatus.FAILED:
            report = replace(report, reader=self.context.learned_reading.state)
        transcript = self.context.transcript
        assessment = build_result(
            progress,
            self.context,
            self.parts,
            failures,
            assessment_id=assessment_id,
            risk=with_words(transcript, report, resources=assessor.crisis_resources),
            agent_models=assessor.agent_models,
        )
        logger.info(
            "assessment_finished",
            status=assessment.status,
            model_calls=len(assessment.attempts),
            failures=len(failures),
            turns_not_examined=report.examined.count_not_examined,
            participant_id=options.participant_id,
        )
        return assessment

    async def _make_parts(self, outer: asyncio.TaskGroup) -> None:
        """Make the parts. `outer`: for what only the result waits for."""
        budgets, is_in_parts = self._budgets(), bool(self.context.part_blocks)
        if is_in_parts:
            self._begin_danger(budgets, outer)
            await _caught(self._read_parts, budgets)
        async with JoinedTasks() as group:
            if Part.FINDINGS in self.possible:
                group.create_task(_caught(self._narrate, self.shown.within(budgets.narrative)))
            if Part.SCORES in self.possible:
                scoring = group.create_task(_caught(self._score, budgets, outer))
                if self.context.scoring.ablates and not is_in_parts:
                    own = self.context.within(budgets.ablation)
                    outer.create_task(_caught(self._ablate, own, scoring))
            if not is_in_parts:
                # Last, so that a backend with few slots serves what others wait for before it.
                self._begin_danger(budgets, outer)
        if Part.META_REVIEW in self.parts:
            await _caught(self._review, self.shown.within(budgets.for_meta_review()))

    def _begin_danger(self, budgets: Budgets, outer: asyncio.TaskGroup) -> None:
        agent, own = self.assessor.danger, self.context.within(budgets.danger)
        if agent is not None:
            outer.create_task(_caught(self._read_for_danger, agent, own))

    async def _read_parts(self, budgets: Budgets) -> None:
        """Read each part for notes and evidence, which then take the place of the transcript."""
        quantitative = self.assessor.quantitative
        self.possible = frozenset()

        async def find() -> None:
            own = self.context.within(budgets.scores)
            self.evidence = found = await quantitative.evidence(own)
            if found is not None and found.report.validated_count:
                self.progress.quantitative = quantitative.unscored(own, found)

        async with JoinedTasks() as group:
            own = self.context.within(budgets.narrative)
            noting = group.create_task(self.assessor.feedback_loop.qualitative.notes(own))
            if Part.SCORES in self.parts:
                group.create_task(find())
        notes = noting.result()
        self.shown = self.context.with_notes(notes, self.evidence)
        if any(notes):
            self.possible |= self.parts & {Part.FINDINGS, Part.JUDGEMENT}
        elif Part.JUDGEMENT in self.parts:
            record_skipped(Part.JUDGEMENT.value)
        if self.evidence is not None:
            self.possible |= {Part.SCORES}
        if self.context.scoring.ablates and Part.SCORES in self.parts:
            # It changes the transcript, which is too long to be shown.
            record_skipped(ABLATION.name)

    def _budgets(self) -> Budgets:
        """Share the calls out among what is wanted."""
        assessor, has_scores = self.assessor, Part.SCORES in self.parts
        is_reviewed, parts = Part.META_REVIEW in self.parts, self.context.part_blocks
        is_ablated = self.context.scoring.ablates and has_scores and not parts
        budgets = share_out(
            assessor.max_calls,
            most_scores=assessor.quantitative.most_calls if has_scores else 0,
            most_review=assessor.meta_review.most_calls if is_reviewed else 0,
            most_danger=0 if assessor.danger is None else assessor.danger.most_calls,
            most_ablation=MOST_CALLS if is_ablated else 0,
            most_belief=assessor.estimator.most_calls,
        )
        if parts:
            budgets.grow(
                len(parts),
                evidence=assessor.quantitative.most_evidence_calls if has_scores else 0,
                notes=assessor.feedback_loop.qualitative.most_calls,
                danger=0 if assessor.danger is None else assessor.danger.most_calls,
            )
        return budgets

    async def _narrate(self, context: AssessmentContext) -> None:
        """Write the narrative, and have it judged and refined where that is wanted.

        It ends while there is time for the meta-review, which can do without it.
        """
        deadline, seconds = context.calls.deadline, None
        if deadline is not None and Part.META_REVIEW in self.parts:
            left = deadline - asyncio.get_running_loop().time()
            seconds = left * _NARRATIVE_SHARE_OF_TIME
        rounds, is_judged = self.progress.rounds, Part.JUDGEMENT in self.parts
        try:
            async with asyncio.timeout(seconds):
                await self.assessor.feedback_loop.run(context, rounds, is_judged=is_judged)
        except TimeoutError:
            self.progress.late = self.parts & {Part.FINDINGS, Part.JUDGEMENT}
            self.progress.record_late_parts(self.progress.late)
            return
        if rounds:
            self.progress.finish(Part.FINDINGS)
        elif is_judged:
            record_skipped(Part.JUDGEMENT.value)

    async def _score(self, budgets: Budgets, outer: asyncio.TaskGroup) -> None:
        """Score the items; what has evidence only is kept should the scores not come."""
        progress = self.progress

        def keep(unscored: PHQ8Assessment) -> None:
            progress.quantitative = unscored

        def estimate(found: PHQ8Assessment) -> None:
            """Ask how sure the scores are, while the items are scored and the review is made."""
            own = self.shown.within(budgets.belief)
            request = _caught(progress.beliefs.ask, own, found)
            try:
                outer.create_task(request)
            except RuntimeError:
                # All is being cancelled, and takes no further part.
                request.close()

        agent, own = self.assessor.quantitative, self.shown.within(budgets.scores)
        if self.evidence is None:
            scores = await agent.assess(own, on_evidence=keep, on_scoring=estimate)
        else:
            scores = await agent.scored(own, self.evidence, on_scoring=estimate)
        progress.quantitative = scores
        if progress.quantitative is not None and progress.quantitative.accepted:
            progress.finish(Part.SCORES)

    async def _ablate(self, context: AssessmentContext, scoring: asyncio.Task[None]) -> None:
        """Score again once there are scores, with the evidence changed."""
        await asyncio.wait([scoring])
        scores = self.progress.quantitative
        if scores is not None and scores.has_scores:
            self.progress.drives = await drives_of(self.assessor.quantitative, context, scores)

    async def _read_for_danger(self, agent: DangerAgent, context: AssessmentContext) -> None:
        progress = self.progress

        async def read(part: AssessmentContext) -> None:
            keep = partial(progress.kept_danger.__setitem__, part.part)
            progress.danger[part.part] = await agent.read(part, on_kept=keep)

        await context.of_parts(read)

    async def _review(self, context: AssessmentContext) -> None:
        """Write the meta-review of what there is; without scores there is none."""
        progress = self.progress
        if progress.quantitative is None or not progress.quantitative.has_answers:
            record_skipped(Part.META_REVIEW.value)
            return
        judged = progress.evaluation
        narrative = None if judged is None else judged.best.qualitative
        agent = self.assessor.meta_review
        progress.meta_review = await agent.review(context, narrative, progress.quantitative)
        if progress.meta_review is not None and progress.meta_review.is_whole:
            progress.finish(Part.META_REVIEW)


async def _caught(
    part: Callable[_Arguments, Awaitable[None]],
    *arguments: _Arguments.args,
    **named: _Arguments.kwargs,
) -> None:
    """Keep a defect in one part from taking the others with it.

    The part is called here, so that a task that is cancelled before it begins leaves nothing.
    """
    try:
        await part(*arguments, **named)
    except ListenerFailed:
        raise
    except Exception as error:  # noqa: BLE001  whatever it is, the finished parts are kept
        record_defect(error)
