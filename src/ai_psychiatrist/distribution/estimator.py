"""How likely each score of an assessment is, from all the sources that are configured."""

from dataclasses import dataclass, field, replace

from ai_psychiatrist.agents.context import AssessmentContext
from ai_psychiatrist.distribution.fit import Fit
from ai_psychiatrist.distribution.scores import pooled, rules_vote, shares_of, total_interval
from ai_psychiatrist.distribution.settings import BeliefSettings
from ai_psychiatrist.distribution.sources import Source, SourceVotes, record_silence
from ai_psychiatrist.domain.assessment import AssessmentMode
from ai_psychiatrist.domain.belief import BeliefSource, ItemBelief
from ai_psychiatrist.domain.failures import FailureCode
from ai_psychiatrist.domain.items import ItemAssessment, PHQ8Assessment
from ai_psychiatrist.infrastructure.logging import get_logger
from ai_psychiatrist.infrastructure.tasks import JoinedTasks

logger = get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class DistributionEstimator:
    """The sources and the calibration fit; one for all assessments."""

    settings: BeliefSettings = field(default_factory=BeliefSettings)
    sources: tuple[Source, ...] = ()
    """Those that are models; the rules are always there."""
    fit: Fit | None = None
    fit_mode: AssessmentMode = AssessmentMode.ZERO_SHOT
    """In another mode scores come from another prompt, of which the fit says nothing."""

    @property
    def most_calls(self) -> int:
        """How many calls the distributions of one assessment cost at most."""
        return sum(source.most_calls for source in self.sources)

    def begin(self, mode: AssessmentMode = AssessmentMode.ZERO_SHOT) -> "ScoreDistributions":
        """Return the distributions of one assessment, before any source answered."""
        return ScoreDistributions(self, self.fit if mode is self.fit_mode else None)


@dataclass(slots=True)
class ScoreDistributions:
    """The distributions of one assessment, as the sources answer."""

    estimator: DistributionEstimator
    fit: Fit | None = None
    votes: dict[BeliefSource, SourceVotes] = field(default_factory=dict)
    """The rules' vote is no answer, and always there."""
    is_asking: bool = False

    async def ask(self, context: AssessmentContext, found: PHQ8Assessment) -> None:
        """Ask every source that is a model, all at the same time, each within its own budget.

        Where no quote was found there is nothing to ask about.
        """
        sources = self.estimator.sources
        if not sources or not any(item.evidence for item in found.items.values()):
            return
        self.is_asking = True
        budgets = [context.calls.budget.set_aside(source.most_calls) for source in sources]
        with context.apart(len(sources)) as contexts:
            async with JoinedTasks() as group:
                for source, own, budget in zip(sources, contexts, budgets, strict=True):
                    group.create_task(self._ask(source, own.within(budget), found))
        self.is_asking = False

    async def _ask(self, source: Source, case: AssessmentContext, found: PHQ8Assessment) -> None:
        try:
            votes = await source.ask(case, found)
        except Exception as error:  # noqa: BLE001  whatever it is, the other sources stand
            logger.error("part_failed", error_type=type(error).__name__)
            record_silence(source.agent, FailureCode.INTERNAL_ERROR, items=len(found.items))
            return
        if votes:
            self.votes[source.name] = votes

    def of(self, scores: PHQ8Assessment) -> PHQ8Assessment:
        """Return the items with their distributions, from the answers so far."""
        items = {key: replace(item, belief=self._of(item)) for key, item in scores.items.items()}
        beliefs = [item.belief for item in items.values() if item.belief is not None]
        interval = total_interval(beliefs, self.estimator.settings.level)
        return replace(scores, items=items, total_interval=interval)

    def _of(self, item: ItemAssessment) -> ItemBelief:
        votes = {BeliefSource.RULES: shares_of([rules_vote(item)])}
        for source, shares in self.votes.items():
            if item.item in shares:
                votes[source] = shares[item.item]
        belief = pooled(votes)
        return belief if self.fit is None else self.fit.applied(belief, item)
