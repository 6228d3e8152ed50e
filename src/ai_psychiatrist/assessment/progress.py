"""What of an assessment has finished, and what becomes of the rest."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ai_psychiatrist.agents.case import Case
from ai_psychiatrist.agents.definition import ABLATION, AGENT_ORDER
from ai_psychiatrist.assessment.ablation import open_drives, with_drives
from ai_psychiatrist.assessment.believing import BELIEF, Beliefs
from ai_psychiatrist.assessment.feedback_loop import narrative_of
from ai_psychiatrist.assessment.part import Part
from ai_psychiatrist.assessment.unfinished import record_late
from ai_psychiatrist.domain.assessment import (
    Assessment,
    AssessmentStatus,
    JudgedRound,
    MetaReview,
    Metric,
    PHQ8Assessment,
)
from ai_psychiatrist.domain.drive import ItemDrive
from ai_psychiatrist.domain.failures import Attempt, FailureCode, FailureRecord
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.domain.risk import ModelReading, RiskReport
from ai_psychiatrist.llm.replies import PartialOutput


@dataclass(slots=True)
class Progress:
    """What has finished so far."""

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

    def record_deadline(self, parts: frozenset[Part]) -> None:
        """Record which of these parts were not done in time."""
        finished = set(self.finished())
        for part in Part:
            if part in parts and part not in finished:
                record_late(part.value)

    def record_late_doubts(self, case: Case) -> None:
        """Record what of how sure the scores are was not told in time."""
        if self._lacks_drives(case):
            record_late(ABLATION.name)
        if self.beliefs is not None and self.beliefs.is_asking:
            record_late(BELIEF)

    def leave_drives_open(self, case: Case, code: FailureCode) -> None:
        """Leave each verdict open that was asked for and is not there."""
        if self.quantitative is not None and self._lacks_drives(case):
            self.drives = open_drives(self.quantitative, code)

    def assessment(
        self, case: Case, risk: RiskReport, parts: frozenset[Part], failures: list[FailureRecord]
    ) -> Assessment:
        """Return all of it; it is complete when these parts are done and rest on evidence."""
        finished = set(self.finished())
        has_any = bool(finished) or not (self.quantitative is None and self.meta_review is None)
        status = AssessmentStatus.PARTIAL if has_any else AssessmentStatus.FAILED
        is_ungrounded = self.quantitative is not None and self.quantitative.lost_all_evidence
        if finished >= parts and not is_ungrounded:
            status = AssessmentStatus.COMPLETE
        return Assessment(
            transcript=case.transcript,
            risk=risk,
            participant_id=case.participant_id,
            mode=case.scoring.mode,
            status=status,
            narrative=narrative_of(self.rounds),
            quantitative=self._with_belief_and_drives(),
            meta_review=self.meta_review,
            attempts=_in_agent_order(case.calls.attempts),
            failures=tuple(sorted(failures, key=lambda failure: failure.stage)),
            references=_digest_of_references(case) if Part.SCORES in parts else None,
        )

    def _lacks_drives(self, case: Case) -> bool:
        scores = self.quantitative
        is_wanted = case.scoring.ablates and scores is not None and scores.has_scores
        return is_wanted and self.drives is None

    def _with_belief_and_drives(self) -> PHQ8Assessment | None:
        scores = self.quantitative
        if scores is None:
            return None
        scores = scores if self.drives is None else with_drives(scores, self.drives)
        return scores if self.beliefs is None else self.beliefs.of(scores)


def _digest_of_references(case: Case) -> str | None:
    if case.references is None or not case.scoring.mode.shows_references:
        return None
    return case.references.digest


def _in_agent_order(attempts: list[Attempt]) -> tuple[Attempt, ...]:
    """Sort by agent: calls that run at the same time end in any order."""
    return tuple(sorted(attempts, key=lambda attempt: AGENT_ORDER.index(attempt.agent)))
