"""An item as a reply proposes it, held against the clinical rules."""

from dataclasses import dataclass, replace

from ai_psychiatrist.agents.contracts.item_check import UNCHECKED, Served, check_item
from ai_psychiatrist.agents.item_review import JudgedItem
from ai_psychiatrist.agents.output_models import NOT_EXAMINED, ItemScoreOutput
from ai_psychiatrist.agents.unscored import distinct_texts
from ai_psychiatrist.domain.assessment import ItemAssessment
from ai_psychiatrist.domain.evidence import Quote, UnverifiedQuote, stated_frequency
from ai_psychiatrist.domain.phq8 import Item, UnknownReason


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposedItem:
    """What a reply says of an item, and what there is for it."""

    item: Item
    answer: ItemScoreOutput
    quotes: tuple[Quote, ...]
    unfound: tuple[UnverifiedQuote, ...]
    served: Served


def judged_item(
    proposed: ProposedItem, unscored: ItemAssessment, *, is_checked: bool
) -> JudgedItem:
    """Return the item with its score, or unknown where a rule speaks against that score.

    `unscored`: the item as evidence left it. `is_checked`: whether quotes are held against the
    transcript; without that no rule is applied.
    """
    answer, quotes = proposed.answer, proposed.quotes
    finding = UNCHECKED
    if is_checked:
        unfound = {quote.text for quote in proposed.unfound}
        finding = check_item(
            proposed.item,
            answer,
            quotes,
            lambda quote: quote not in unfound,
            served=proposed.served,
        )
    reason = finding.reason_against(answer.score, quotes)
    if answer.score is None and answer.reason == NOT_EXAMINED:
        reason = UnknownReason.NOT_EXAMINED
    assessment = replace(
        unscored,
        score=answer.score if reason is None else None,
        unknown_reason=reason,
        proposed_score=answer.score,
        quotes=quotes,
        frequency=stated_frequency(quotes),
        unverified_quotes=distinct_texts(unscored.unverified_quotes, proposed.unfound),
        reason=answer.reason,
        confidence=answer.confidence,
        warnings=finding.rules if is_checked else (),
    )
    return JudgedItem(assessment=assessment, errors=finding.errors)
