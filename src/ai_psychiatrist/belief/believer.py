"""What is believed of each item of an assessment, from all the sources that are configured."""

from dataclasses import dataclass, field, replace

from ai_psychiatrist.agents.context import AssessmentContext
from ai_psychiatrist.belief.facts import EvidenceFacts
from ai_psychiatrist.belief.fit import Fit
from ai_psychiatrist.belief.heard import Heard, Source, record_silence
from ai_psychiatrist.belief.pooling import pooled
from ai_psychiatrist.belief.rules import rules_vote
from ai_psychiatrist.belief.settings import BeliefSettings
from ai_psychiatrist.belief.totals import total_interval
from ai_psychiatrist.belief.votes import shares_of
from ai_psychiatrist.domain.assessment import AssessmentMode
from ai_psychiatrist.domain.belief import BeliefSource, ItemBelief
from ai_psychiatrist.domain.failures import FailureCode
from ai_psychiatrist.domain.items import ItemAssessment, PHQ8Assessment
from ai_psychiatrist.infrastructure.logging import get_logger
from ai_psychiatrist.infrastructure.tasks import JoinedTasks

logger = get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Believer:
    """Knows which sources there are; one for all assessments."""

    settings: BeliefSettings = field(default_factory=BeliefSettings)
    sources: tuple[Source, ...] = ()
    """Those that are models; the rules are always there."""
    fit: Fit | None = None
    fit_mode: AssessmentMode = AssessmentMode.ZERO_SHOT
    """In another mode scores come from another prompt, of which the fit says nothing."""

    @property
    def most_calls(self) -> int:
        """How many calls the beliefs of one assessment cost at most."""
        return sum(source.most_calls for source in self.sources)

    def begin(self, mode: AssessmentMode = AssessmentMode.ZERO_SHOT) -> "Beliefs":
        """Return the beliefs of one assessment, of which nothing is known yet."""
        return Beliefs(self, self.fit if mode is self.fit_mode else None)


@dataclass(slots=True)
class Beliefs:
    """The beliefs of one assessment, as answers to what is asked come in."""

    believer: Believer
    fit: Fit | None = None
    heard: dict[BeliefSource, Heard] = field(default_factory=dict)
    """The rules' vote is no answer, and always there."""
    is_asking: bool = False

    async def ask(self, context: AssessmentContext, found: PHQ8Assessment) -> None:
        """Ask every source that is a model, all at the same time, each within its own budget.

        Where no quote was found there is nothing to ask about.
        """
        sources = self.believer.sources
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
            heard = await source.ask(case, found)
        except Exception as error:  # noqa: BLE001  whatever it is, the other sources are believed
            logger.error("part_failed", error_type=type(error).__name__)
            record_silence(source.agent, FailureCode.INTERNAL_ERROR, items=len(found.items))
            return
        if heard:
            self.heard[source.name] = heard

    def of(self, scores: PHQ8Assessment) -> PHQ8Assessment:
        """Return the items with what is believed of them by now."""
        beliefs = {key: self._of_item(item) for key, item in scores.items.items()}
        interval = total_interval(beliefs.values(), self.believer.settings.level)
        items = {key: replace(scores.items[key], belief=one) for key, one in beliefs.items()}
        return replace(scores, items=items, total_interval=interval)

    def _of_item(self, item: ItemAssessment) -> ItemBelief:
        heard = {
            source: shares[item.item]
            for source, shares in self.heard.items()
            if item.item in shares
        }
        belief = pooled({BeliefSource.RULES: shares_of([rules_vote(item)]), **heard})
        return belief if self.fit is None else self.fit.applied(belief, EvidenceFacts.of(item))
