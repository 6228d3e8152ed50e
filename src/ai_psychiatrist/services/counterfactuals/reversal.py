"""A clause turned into its opposite, by wordings that the reader of language reads as that."""

import re
from collections.abc import Iterator
from typing import Final

from ai_psychiatrist.domain.evidence import Quote
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.services.counterfactuals.cited_clauses import ClauseInPlace
from ai_psychiatrist.services.counterfactuals.openings import without_capital

_SWAPS: Final = tuple(
    (re.compile(rf"\b{said}\b", re.IGNORECASE), other)
    for said, other in (
        (r"can(?:no|['’])t", "can"),
        (r"couldn['’]t", "could"),
        (r"don['’]t", "do"),
        (r"doesn['’]t", "does"),
        (r"didn['’]t", "did"),
        (r"haven['’]t", "have"),
        (r"hasn['’]t", "has"),
        (r"isn['’]t", "is"),
        (r"aren['’]t", "are"),
        (r"wasn['’]t", "was"),
        (r"I['’]m not", "I'm"),
        (r"I['’]m", "I'm not"),
        (r"I am", "I am not"),
        (r"I was", "I was not"),
        (r"I['’]ve been", "I haven't been"),
        (r"I have been", "I have not been"),
        (r"I can", "I can't"),
        (r"I feel", "I don't feel"),
        (r"I have", "I don't have"),
        (r"I get", "I don't get"),
        (r"it['’]s", "it's not"),
        (r"it is", "it is not"),
        (r"my (\w{2,20}) is", r"my \1 is not"),
        (r"no", "yes"),
        (r"yes|yeah|yep|yup", "no"),
        (r"never", "always"),
        (r"not", ""),
    )
)
_FRAMES: Final = (
    "It's not true that {}",
    "It is not the case that {}",
    "I would not say that {}",
    "No, it is not true that {}",
)
_BARE: Final = ("No, not at all.", "Yes, I do.", "No.", "Yes.")
_PLAIN: Final = {
    Item.NO_INTEREST: ("I have no interest in anything", "I enjoy everything I do"),
    Item.DEPRESSED: ("I feel depressed", "I don't feel depressed"),
    Item.SLEEP: ("I can't sleep", "I sleep well"),
    Item.TIRED: ("I feel tired", "I don't feel tired"),
    Item.APPETITE: ("I have no appetite", "I eat well"),
    Item.FAILURE: ("I feel like a failure", "I don't feel like a failure"),
    Item.CONCENTRATING: ("I can't concentrate", "I concentrate well"),
    Item.MOVING: ("I feel restless", "I don't feel restless"),
}
"""What says plainly of each item that the symptom is there, and that it is not."""


def reversed_clause(clause: ClauseInPlace, item: Item, *, is_denial: bool) -> str | None:
    """Return a wording that says the opposite of an item; `None` where none is read as that.

    `is_denial`: whether it is a denial that is to be turned round, or an affirmation.
    """
    if not _supports(clause.read(clause.text, item), is_denial=is_denial):
        return None
    return next(
        (
            text
            for text in (*_wordings(clause.text), _PLAIN[item][not is_denial])
            if _supports(clause.read(text, item), is_denial=not is_denial)
        ),
        None,
    )


def _supports(quote: Quote, *, is_denial: bool) -> bool:
    return quote.denies_symptom if is_denial else quote.supports_symptom


def _wordings(text: str) -> Iterator[str]:
    for said, other in _SWAPS:
        swapped, count = said.subn(other, text, count=1)
        if count:
            yield swapped
    for frame in _FRAMES:
        yield frame.format(without_capital(text))
    yield from _BARE
