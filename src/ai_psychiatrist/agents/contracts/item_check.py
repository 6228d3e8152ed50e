"""The clinical rules over one item: its proposed score beside the quotes that were found."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from ai_psychiatrist.agents.contracts.shipped_step import shipped_step
from ai_psychiatrist.agents.output_models import ItemScoreOutput, QuantitativeOutput
from ai_psychiatrist.domain.evidence import Quote, Segment
from ai_psychiatrist.domain.phq8 import Item, UnknownReason
from ai_psychiatrist.validation.checks.step_validator import StepValidator
from ai_psychiatrist.validation.checks.verdict import Verdict

MatchesQuote = Callable[[str], bool]
Served = Mapping[tuple[Segment, ...], int]
"""The place of a quote → for how many scored items it is given."""
NO_OTHERS: Final[Served] = {}

_REASON_OF_RULE: Final = {
    "score_needs_evidence": UnknownReason.NO_GROUNDED_EVIDENCE,
    "not_about_item": UnknownReason.NOT_ABOUT_ITEM,
    "zero_without_denial": UnknownReason.ZERO_WITHOUT_DENIAL,
    "contradicted_by_evidence": UnknownReason.ONLY_DENIED_OR_PAST,
    "one_without_presence": UnknownReason.ONLY_DENIED_OR_PAST,
}
"""The rules that a score cannot stand against, however often the model insists."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemFinding:
    """What the rules say about an item."""

    errors: tuple[str, ...] = field(default=(), repr=False)
    """For the model: what is wrong and what is wanted, without words of the participant."""
    rules: tuple[str, ...] = ()
    """Names of all rules that speak against it, warnings among them."""

    def reason_against(self, score: int | None, quotes: Sequence[Quote]) -> UnknownReason | None:
        """Return why a proposed score 0-3, `None` for N/A, does not stand; `None` when it does."""
        if score is None:
            return UnknownReason.SCORE_NA_WITH_EVIDENCE if quotes else UnknownReason.NO_MENTION
        broken = (_REASON_OF_RULE.get(rule) for rule in self.rules)
        return next((reason for reason in broken if reason is not None), None)


UNCHECKED: Final = ItemFinding(rules=("score_needs_evidence",))
"""Where quotes are not checked none is grounded, and no score can stand on one."""


def check_item(
    item: Item,
    answer: ItemScoreOutput,
    quotes: Sequence[Quote],
    matches_quote: MatchesQuote,
    *,
    served: Served = NO_OTHERS,
) -> ItemFinding:
    """Check one item of a scoring reply.

    `quotes`: the grounded ones, those of the evidence stage and those the reply cites.
    """
    step = shipped_step("item")
    verdict = item_verdict(item, answer, quotes, matches_quote, step=step, served=served)
    found = (*verdict.errors, *verdict.warnings)
    return ItemFinding(
        errors=tuple(error.message for error in verdict.errors),
        rules=tuple(dict.fromkeys(error.rule for error in found)),
    )


def served_by(output: QuantitativeOutput, given: Mapping[str, Iterable[Quote]]) -> Served:
    """Return for how many scored items each quote is given."""
    return Counter(
        quote.segments
        for key, answer in output.items.items()
        if answer.score is not None
        for quote in given[key]
    )


def item_verdict(
    item: Item,
    answer: ItemScoreOutput,
    quotes: Sequence[Quote],
    matches_quote: MatchesQuote,
    *,
    step: StepValidator,
    served: Served = NO_OTHERS,
) -> Verdict:
    """Return the whole verdict on one item of a scoring reply."""
    return step.check_object(
        {
            "item": item.value,
            "status": "na" if answer.score is None else "scored",
            "score": answer.score,
            "evidence": list(answer.evidence),
            "reason": answer.reason,
            "confidence": answer.confidence,
        },
        context={"quotes": [_facts(quote, served.get(quote.segments, 1)) for quote in quotes]},
        host={"matches_quote": matches_quote},
    )


def _facts(quote: Quote, served: int) -> dict[str, object]:
    return {
        "text": quote.text,
        "relevance": quote.relevance.value,
        "polarity": quote.polarity.value,
        "frequency": quote.frequency.value,
        "timeframe": quote.timeframe.value,
        "plain": quote.is_plain,
        "items": served,
    }
