"""What is believed of each item of an assessment, from all the sources that are configured."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from ai_psychiatrist.agents.case import Case
from ai_psychiatrist.belief.pooling import pooled
from ai_psychiatrist.belief.rules import rules_vote
from ai_psychiatrist.belief.settings import BeliefSettings
from ai_psychiatrist.belief.totals import total_interval
from ai_psychiatrist.belief.votes import shares_of
from ai_psychiatrist.domain.assessment import ItemAssessment, PHQ8Assessment
from ai_psychiatrist.domain.belief import BeliefSource, ItemBelief
from ai_psychiatrist.domain.phq8 import Item

Shares = tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Believer:
    """Knows which sources there are; one for all assessments."""

    settings: BeliefSettings = field(default_factory=BeliefSettings)

    @property
    def most_calls(self) -> int:
        """How many calls the beliefs of one assessment cost at most."""
        return 0

    def begin(self) -> "Beliefs":
        """Return the beliefs of one assessment, of which nothing is known yet."""
        return Beliefs(self)


@dataclass(slots=True)
class Beliefs:
    """The beliefs of one assessment, as answers to what is asked come in."""

    believer: Believer
    heard: dict[BeliefSource, Mapping[Item, Shares]] = field(default_factory=dict)
    """Source → item → probabilities; the rules' are no answer, and always there."""

    is_asking: bool = False

    async def ask(self, case: Case, found: PHQ8Assessment) -> None:
        """Ask every source that is a model, all at the same time."""

    def of(self, scores: PHQ8Assessment) -> PHQ8Assessment:
        """Return the items with what is believed of them by now."""
        settings = self.believer.settings
        items = tuple(replace(item, belief=self._of_item(item)) for item in scores.items)
        beliefs = [item.belief for item in items if item.belief is not None]
        return replace(scores, items=items, total_interval=total_interval(beliefs, settings.level))

    def _of_item(self, item: ItemAssessment) -> ItemBelief:
        heard = {source: shares[item.item] for source, shares in self.heard.items()}
        return pooled({BeliefSource.RULES: shares_of([rules_vote(item)]), **heard})
