"""What of an assessment has finished, and what becomes of the rest."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Protocol

from ai_psychiatrist.agents.context import AssessmentContext
from ai_psychiatrist.agents.pydantic_agents import ABLATION, AGENT_ORDER
from ai_psychiatrist.assessment.ablation import open_drives
from ai_psychiatrist.assessment.parts import OnFinished, Part, record_late
from ai_psychiatrist.assessment.refinement import narrative_of
from ai_psychiatrist.domain.assessment import (
    Assessment,
    AssessmentMode,
    AssessmentStatus,
    JudgedRound,
    MetaReview,
    Metric,
    PHQ8Assessment,
)
from ai_psychiatrist.domain.drive import ItemDrive
from ai_psychiatrist.domain.failures import FailureCode, FailureRecord
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.domain.risk import ModelReading, RiskReport
from ai_psychiatrist.llm.replies import PartialOutput

_BELIEF: Final = "belief"
"""Names the part in accounts of failures."""


class Beliefs(Protocol):
    """The score distributions of one assessment's items, as sources answer."""

    @property
    def is_asking(self) -> bool:
        """Whether a model has been asked, and not all have answered or failed."""

    async def ask(self, case: AssessmentContext, found: PHQ8Assessment) -> None:
        """Ask models about items, whose evidence is found."""

    def of(self, scores: PHQ8Assessment) -> PHQ8Assessment:
        """Return the items with their distributions by now."""


class Believer(Protocol):
    """Estimates how sure the scores of each assessment are."""

    @property
    def most_calls(self) -> int:
        """How many calls one assessment costs at most."""

    def begin(self, mode: AssessmentMode) -> Beliefs:
        """Return the distributions of one assessment in a mode, of which nothing is known yet."""


class ListenerFailed(Exception):
    """The caller's listener raised, which is no defect of the part that had finished."""


@dataclass(slots=True, kw_only=True)
class Progress:
    """What has finished so far."""

    on_finished: OnFinished
    listener_error: BaseException | None = None
    """The first error of the caller's listener; after that it is not called."""
    rounds: list[JudgedRound] = field(default_factory=list)
    quantitative: PHQ8Assessment | None = None
    drives: Mapping[Item, ItemDrive] | None = None
    """A verdict on each score, once those after changes are there."""
    meta_review: MetaReview | None = None
    danger: ModelReading | None = None
    kept_danger: PartialOutput | None = None
    """What is valid of replies about danger that were refused, while others are waited for."""
    beliefs: Beliefs | None = None
    late: frozenset[Part] = frozenset()
    """What was ended so that a part that needs its time could have it."""

    def finish(self, part: Part) -> None:
        """Tell the listener of a part that is done; raises `ListenerFailed` where that raises."""
        if self.listener_error is None:
            try:
                self.on_finished(part)
            except BaseException as error:
                self.listener_error = error
                raise ListenerFailed from error

    def finished(self) -> Iterable[Part]:
        """Yield the parts that are done."""
        narrative = narrative_of(self.rounds)
        if narrative is not None:
            yield Part.FINDINGS
            if len(narrative.best.scores) == len(Metric):
                yield Part.JUDGEMENT
        if self.quantitative is not None and self.quantitative.is_accepted:
            yield Part.SCORES
        if self.meta_review is not None and self.meta_review.is_whole:
            yield Part.META_REVIEW

    def record_late_parts(self, parts: frozenset[Part]) -> None:
        """Record which of these parts were not done in time."""
        late = parts.difference(self.finished())
        for part in [one for one in Part if one in late]:
            record_late(part.value)

    def record_late_doubts(self, context: AssessmentContext) -> None:
        """Record what of how sure the scores are was not there in time."""
        if self._lacks_drives(context):
            record_late(ABLATION.name)
        if self.beliefs is not None and self.beliefs.is_asking:
            record_late(_BELIEF)

    def leave_drives_open(self, context: AssessmentContext, code: FailureCode) -> None:
        """Leave each verdict open that was asked for and is not there."""
        if self.quantitative is not None and self._lacks_drives(context):
            self.drives = open_drives(self.quantitative, code)

    def _lacks_drives(self, context: AssessmentContext) -> bool:
        scores = self.quantitative
        is_wanted = context.scoring.ablates and scores is not None and scores.has_scores
        return is_wanted and self.drives is None

    def assessment(
        self,
        context: AssessmentContext,
        risk: RiskReport,
        parts: frozenset[Part],
        failures: list[FailureRecord],
    ) -> Assessment:
        """Return all of it; it is complete when these parts are done and rest on evidence."""
        finished, scores = set(self.finished()), self.quantitative
        has_any = bool(finished) or scores is not None or self.meta_review is not None
        status = AssessmentStatus.PARTIAL if has_any else AssessmentStatus.FAILED
        if finished >= parts and not (scores is not None and scores.lost_all_evidence):
            status = AssessmentStatus.COMPLETE
        if scores is not None and self.drives is not None:
            found = self.drives
            items = tuple(replace(one, drive=found.get(one.item)) for one in scores.items)
            scores = replace(scores, items=items)
        if scores is not None and self.beliefs is not None:
            scores = self.beliefs.of(scores)
        shows_references = Part.SCORES in parts and context.scoring.mode.shows_references
        references = context.references if shows_references else None
        # By agent: calls that run at the same time end in any order.
        attempts = sorted(context.calls.attempts, key=lambda one: AGENT_ORDER.index(one.agent))
        others = context.calls.other_hosts
        return Assessment(
            transcript=context.transcript,
            risk=risk,
            participant_id=context.participant_id,
            mode=context.scoring.mode,
            status=status,
            narrative=narrative_of(self.rounds),
            quantitative=scores,
            meta_review=self.meta_review,
            attempts=tuple(attempts),
            failures=tuple(sorted(failures, key=lambda failure: failure.stage)),
            references=None if references is None else references.digest,
            hosts=tuple(sorted({host for one in attempts for host in one.hosts} | others)),
        )
