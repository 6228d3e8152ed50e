"""What of an assessment has finished, and what becomes of the rest."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from ai_psychiatrist.agents.context import AssessmentContext
from ai_psychiatrist.agents.pydantic_agents import ABLATION
from ai_psychiatrist.assessment.ablation import open_drives
from ai_psychiatrist.assessment.parts import OnFinished, Part, record_late
from ai_psychiatrist.distribution.estimator import ScoreDistributions
from ai_psychiatrist.domain.drive import ItemDrive
from ai_psychiatrist.domain.failures import FailureCode
from ai_psychiatrist.domain.items import PHQ8Assessment
from ai_psychiatrist.domain.narrative import JudgedRound, MetaReview, Metric, NarrativeEvaluation
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.domain.risk import ModelReading
from ai_psychiatrist.llm.replies import PartialOutput

_BELIEF: Final = "belief"
"""Names the part in accounts of failures."""


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
    danger: dict[int, ModelReading] = field(default_factory=dict)
    """By the number of the part that was read for danger; 0 for the whole."""
    kept_danger: dict[int, PartialOutput] = field(default_factory=dict)
    """What is valid of replies about danger that were refused, while others are waited for."""
    beliefs: ScoreDistributions
    """How sure the scores are, as sources answer."""
    late: frozenset[Part] = frozenset()
    """What was ended so that a part that needs its time could have it."""

    @property
    def evaluation(self) -> NarrativeEvaluation | None:
        """The rounds of the narrative with the best of them, `None` when there is none.

        The best has the most metrics judged and then the highest mean; of equals the earliest.
        """
        if not self.rounds:
            return None
        best = max(self.rounds, key=lambda one: (len(one.scores), one.average_score or 0))
        return NarrativeEvaluation(iteration=best.round, rounds=tuple(self.rounds))

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
        evaluation = self.evaluation
        if evaluation is not None:
            yield Part.FINDINGS
            if len(evaluation.best.scores) == len(Metric):
                yield Part.JUDGEMENT
        if self.quantitative is not None and self.quantitative.accepted:
            yield Part.SCORES
        if self.meta_review is not None and self.meta_review.is_whole:
            yield Part.META_REVIEW

    def record_late_parts(self, parts: frozenset[Part]) -> None:
        """Record which of these parts were not done in time."""
        late = parts.difference(self.finished())
        for part in [one for one in Part if one in late]:
            record_late(part.value)

    def record_late_estimates(self, context: AssessmentContext) -> None:
        """Record what of how sure the scores are was not there in time."""
        if self._lacks_drives(context):
            record_late(ABLATION.name)
        if self.beliefs.is_asking:
            record_late(_BELIEF)

    def leave_drives_open(self, context: AssessmentContext, code: FailureCode) -> None:
        """Leave each verdict open that was asked for and is not there."""
        if self.quantitative is not None and self._lacks_drives(context):
            self.drives = open_drives(self.quantitative, code)

    def _lacks_drives(self, context: AssessmentContext) -> bool:
        scores = self.quantitative
        is_wanted = context.scoring.ablates and scores is not None and scores.has_scores
        return is_wanted and self.drives is None
