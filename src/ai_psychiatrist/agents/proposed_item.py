"""An item as a reply proposes it, held against the clinical rules."""

from dataclasses import dataclass, replace
from typing import Final

from ai_psychiatrist.agents.contracts.item_check import UNCHECKED, Served, check_item
from ai_psychiatrist.agents.item_review import JudgedItem
from ai_psychiatrist.agents.output_models import (
    NOT_EXAMINED,
    NOT_READ,
    UNSETTLED,
    ItemScoreOutput,
)
from ai_psychiatrist.agents.unscored import distinct_texts
from ai_psychiatrist.domain.assessment import ItemAssessment
from ai_psychiatrist.domain.evidence import Quote, UnreadAnswer, UnverifiedQuote, stated_frequency
from ai_psychiatrist.domain.phq8 import Item, NotExaminedCause, UnknownReason

_OF_BASELINE: Final = {
    NOT_EXAMINED: UnknownReason.NOT_EXAMINED,
    NOT_READ: UnknownReason.NOT_EXAMINED,
    UNSETTLED: UnknownReason.UNCLEAR,
}
"""What the reasons of the rule baseline for no score come to."""
_CAUSES: Final = {
    NOT_EXAMINED: NotExaminedCause.LANGUAGE,
    NOT_READ: NotExaminedCause.READER_FAILED,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposedItem:
    """What a reply says of an item, and what there is for it."""

    item: Item
    answer: ItemScoreOutput
    quotes: tuple[Quote, ...]
    unfound: tuple[UnverifiedQuote, ...]
    served: Served
    asked: UnreadAnswer | None = None
    """The last question that names the item, and the answer to it."""


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
    if answer.score is None:
        reason = _OF_BASELINE.get(answer.reason, reason)
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
        warnings=finding.rules if is_checked else (),
    )
    return JudgedItem(assessment=assessment, errors=finding.errors)
