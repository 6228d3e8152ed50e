"""The clinical rules over one item: what its quotes say for and against a proposed score.

The shipped contract states the same rules for those who validate answers with it; a test holds both
against each other.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Final

from ai_psychiatrist.agents.output_models import (
    NOT_EXAMINED,
    NOT_READ,
    NOT_SHARED,
    UNSETTLED,
    ItemScoreOutput,
    QuantitativeOutput,
)
from ai_psychiatrist.domain.evidence import (
    Polarity,
    Quote,
    Relevance,
    Segment,
    Timeframe,
    UnreadAnswer,
    UnverifiedQuote,
    stated_frequency,
)
from ai_psychiatrist.domain.items import ItemAssessment
from ai_psychiatrist.domain.phq8 import Item, NotExaminedCause, UnknownReason

QuoteUse = Mapping[tuple[Segment, ...], int]
"""The place of a quote → for how many scored items it is given."""

_FEEDBACK: Final = {
    "na_needs_reason": "N/A needs a reason",
    "score_needs_evidence": (
        "a score of {score} needs a quote that says that the symptom is present; add one, or give "
        "N/A"
    ),
    "quote_in_transcript": (
        "a quote in evidence is not a statement of the participant; copy it letter by letter, as "
        "one unbroken stretch of one turn that can be understood alone, or leave it out"
    ),
    "not_about_item": ("no quote is about this symptom of the participant; add one, or give N/A"),
    "zero_without_denial": "a 0 needs a quote that denies the symptom; add one, or give N/A",
    "contradicted_by_evidence": (
        "every quote denies the symptom or is about the past alone; score from words about the "
        "last two weeks, or give N/A"
    ),
}
"""What the model is asked by a rule that its reply is sent back for."""
_REASON_OF_RULE: Final = {
    "score_needs_evidence": UnknownReason.NO_GROUNDED_EVIDENCE,
    "not_about_item": UnknownReason.NOT_ABOUT_ITEM,
    "zero_without_denial": UnknownReason.ZERO_WITHOUT_DENIAL,
    "contradicted_by_evidence": UnknownReason.ONLY_DENIED_OR_PAST,
    "one_without_presence": UnknownReason.ONLY_DENIED_OR_PAST,
}
"""The rules that a score cannot stand against, however often the model insists."""
_MOST_ITEMS_OF_A_QUOTE: Final = 2
_SURE: Final = 5


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
    matches_quote: Callable[[str], bool],
    *,
    quote_use: QuoteUse | None = None,
) -> ItemFinding:
    """Check one item of a scoring reply.

    `quotes`: the grounded ones, those of the evidence stage and those the reply cites.
    """
    score = answer.score
    about = [quote for quote in quotes if quote.relevance in _MAY_BE_ABOUT]
    has_presence = any(not quote.is_plain or _is_presence(quote) for quote in about)
    broken = {
        "na_needs_reason": score is None and not answer.reason.strip(),
        "score_needs_evidence": bool(score) and not quotes,
        "quote_in_transcript": not all(map(matches_quote, answer.evidence)),
        "not_about_item": score is not None and bool(quotes) and not about,
        "zero_without_denial": score == 0 and not any(map(_is_denial, quotes)),
        "contradicted_by_evidence": (score or 0) > 1 and bool(quotes) and not has_presence,
        "one_without_presence": score == 1 and bool(quotes) and not has_presence,
        "no_affirmed_evidence": bool(score)
        and any(map(_is_unclear_presence, about))
        and not any(quote.supports_symptom for quote in quotes),
        "quote_shared": score is not None and any(_is_shared(quote, quote_use) for quote in quotes),
        "na_with_high_confidence": score is None and bool(quotes) and answer.confidence == _SURE,
    }
    rules = tuple(rule for rule, is_broken in broken.items() if is_broken)
    feedback = (_FEEDBACK[rule].format(score=score) for rule in rules if rule in _FEEDBACK)
    return ItemFinding(errors=tuple(f"{item.value}: {text}" for text in feedback), rules=rules)


def quote_use_of(output: QuantitativeOutput, given: Mapping[str, Iterable[Quote]]) -> QuoteUse:
    """Return for how many scored items each quote is given."""
    return Counter(
        quote.segments
        for key, answer in output.items.items()
        if answer.score is not None
        for quote in given[key]
    )


_MAY_BE_ABOUT: Final = frozenset({Relevance.ABOUT, Relevance.UNREAD})


def _is_presence(quote: Quote) -> bool:
    return quote.polarity is not Polarity.DENIED and quote.timeframe is not Timeframe.PAST


def _is_unclear_presence(quote: Quote) -> bool:
    return quote.polarity is Polarity.UNCLEAR and quote.timeframe is not Timeframe.PAST


def _is_denial(quote: Quote) -> bool:
    return quote.relevance is Relevance.ABOUT and quote.denies_symptom


def _is_shared(quote: Quote, quote_use: QuoteUse | None) -> bool:
    return (quote_use or {}).get(quote.segments, 1) > _MOST_ITEMS_OF_A_QUOTE


# An item with a score, or unknown

READER_DIFFERS: Final = "reader_differs"
"""The warning of an item whose quotes the learned reader does not take for what its score says."""
_REASON_OF_BASELINE: Final = {
    NOT_EXAMINED: UnknownReason.NOT_EXAMINED,
    NOT_READ: UnknownReason.NOT_EXAMINED,
    UNSETTLED: UnknownReason.UNCLEAR,
    NOT_SHARED: UnknownReason.UNCLEAR,
}
"""What the reasons of the rule baseline for no score come to."""
_CAUSE_OF_BASELINE: Final = {
    NOT_EXAMINED: NotExaminedCause.LANGUAGE,
    NOT_READ: NotExaminedCause.READER_FAILED,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedItem:
    """An item and what the rules say about the reply that it comes from."""

    assessment: ItemAssessment
    errors: tuple[str, ...]
    """In words for the model."""


def judged_item(
    unscored: ItemAssessment,
    answer: ItemScoreOutput,
    *,
    quotes: tuple[Quote, ...],
    unfound: tuple[UnverifiedQuote, ...],
    quote_use: QuoteUse,
    unread_answer: UnreadAnswer | None,
    is_shared: bool,
    is_checked: bool,
) -> JudgedItem:
    """Return the item with its score, or unknown where a rule speaks against that score.

    `unscored`: the item as evidence left it. `unfound`: quotes of the reply that were not said.
    `unread_answer`: the last question that names the item, and the answer to it. `is_shared`:
    whether the learned reader takes one of the quotes for what the score says. `is_checked`:
    whether quotes are held against the transcript; without that no rule is applied.
    """
    finding = UNCHECKED
    if is_checked:
        texts = {quote.text for quote in unfound}
        finding = check_item(
            unscored.item, answer, quotes, lambda text: text not in texts, quote_use=quote_use
        )
    reason = finding.reason_against(answer.score, quotes)
    if answer.score is None:
        reason = _REASON_OF_BASELINE.get(answer.reason, reason)
    is_unread = all(quote.relevance is Relevance.UNREAD for quote in quotes)
    if reason is None and is_checked and answer.score and quotes and is_unread and not is_shared:
        # Neither the rules nor the reader read a symptom from the quotes.
        reason = UnknownReason.NOT_ABOUT_ITEM
    unread = unread_answer if reason is UnknownReason.NO_MENTION else None
    if unread is not None:
        reason = UnknownReason.UNCLEAR
    is_examined = reason is not UnknownReason.NOT_EXAMINED
    differs = not is_shared and answer.score is not None
    warnings = (*finding.rules, READER_DIFFERS) if differs else finding.rules
    assessment = replace(
        unscored,
        score=answer.score if reason is None else None,
        unknown_reason=reason,
        not_examined_cause=None if is_examined else _CAUSE_OF_BASELINE.get(answer.reason),
        unread_answer=unread,
        proposed_score=answer.score,
        evidence=quotes,
        frequency=stated_frequency(quotes),
        unverified_quotes=distinct_texts(unscored.unverified_quotes, unfound),
        reason=answer.reason,
        confidence=answer.confidence,
        warnings=warnings if is_checked else (),
    )
    return JudgedItem(assessment=assessment, errors=finding.errors)


def distinct_texts(*quotes: Iterable[UnverifiedQuote]) -> tuple[UnverifiedQuote, ...]:
    """Return the quotes in order, those of the same words once."""
    return tuple({quote.text: quote for quote in chain.from_iterable(quotes)}.values())
