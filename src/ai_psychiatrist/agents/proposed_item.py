"""An item as a reply proposes it, held against the clinical rules."""

from dataclasses import dataclass, replace
from typing import Final

from ai_psychiatrist.agents.item_review import JudgedItem
from ai_psychiatrist.agents.item_rules import UNCHECKED, QuoteUse, check_item
from ai_psychiatrist.agents.output_models import (
    NOT_EXAMINED,
    NOT_READ,
    NOT_SHARED,
    UNSETTLED,
    ItemScoreOutput,
)
from ai_psychiatrist.agents.unscored import distinct_texts
from ai_psychiatrist.domain.assessment import ItemAssessment
from ai_psychiatrist.domain.evidence import (
    Quote,
    Relevance,
    UnreadAnswer,
    UnverifiedQuote,
    stated_frequency,
)
from ai_psychiatrist.domain.phq8 import Item, NotExaminedCause, UnknownReason

_OF_BASELINE: Final = {
    NOT_EXAMINED: UnknownReason.NOT_EXAMINED,
    NOT_READ: UnknownReason.NOT_EXAMINED,
    UNSETTLED: UnknownReason.UNCLEAR,
    NOT_SHARED: UnknownReason.UNCLEAR,
}
"""What the reasons of the rule baseline for no score come to."""
_CAUSES: Final = {
    NOT_EXAMINED: NotExaminedCause.LANGUAGE,
    NOT_READ: NotExaminedCause.READER_FAILED,
}
READER_DIFFERS: Final = "reader_differs"
"""The warning of an item whose quotes the learned reader does not take for what its score says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposedItem:
    """What a reply says of an item, and what there is for it."""

    item: Item
    answer: ItemScoreOutput
    quotes: tuple[Quote, ...]
    unfound: tuple[UnverifiedQuote, ...]
    served: QuoteUse
    asked: UnreadAnswer | None = None
    """The last question that names the item, and the answer to it."""
    is_shared: bool = True
    """Whether the learned reader takes one of the quotes for what the score says."""

    @property
    def is_taken_by_nobody(self) -> bool:
        """Whether a symptom is scored by quotes of which neither rules nor reader read it."""
        is_unread = all(quote.relevance is Relevance.UNREAD for quote in self.quotes)
        return bool(self.answer.score and self.quotes) and is_unread and not self.is_shared


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
            quote_use=proposed.served,
        )
    reason = finding.reason_against(answer.score, quotes)
    if answer.score is None:
        reason = _OF_BASELINE.get(answer.reason, reason)
    if reason is None and is_checked and proposed.is_taken_by_nobody:
        reason = UnknownReason.NOT_ABOUT_ITEM
    unread = proposed.asked if reason is UnknownReason.NO_MENTION else None
    if unread is not None:
        reason = UnknownReason.UNCLEAR
    assessment = replace(
        unscored,
        score=answer.score if reason is None else None,
        unknown_reason=reason,
        not_examined_cause=_CAUSES.get(answer.reason)
        if reason is UnknownReason.NOT_EXAMINED
        else None,
        unread_answer=unread,
        proposed_score=answer.score,
        quotes=quotes,
        frequency=stated_frequency(quotes),
        unverified_quotes=distinct_texts(unscored.unverified_quotes, proposed.unfound),
        reason=answer.reason,
        confidence=answer.confidence,
        warnings=_warnings(proposed, finding.rules) if is_checked else (),
    )
    return JudgedItem(assessment=assessment, errors=finding.errors)


def _warnings(proposed: ProposedItem, rules: tuple[str, ...]) -> tuple[str, ...]:
    """Return the rules that speak against a score, and the learned reader where it differs."""
    is_scored = proposed.answer.score is not None
    return rules if proposed.is_shared or not is_scored else (*rules, READER_DIFFERS)
