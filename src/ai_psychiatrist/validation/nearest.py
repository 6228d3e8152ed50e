"""Guess which known name a misspelt one was meant to be."""

import difflib
from collections.abc import Iterable
from typing import Final

_SIMILARITY: Final = 0.75
_MOST_NAMES: Final = 300
_LONGEST_NAME: Final = 100
_DIGITS: Final = str.maketrans("", "", "0123456789")


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that `name` most likely stands for, or `None`.

    Names that differ in nothing but their digits (`card_1`, `card_2`) are different names. Of a
    long name, and among more than 300 names, nothing is guessed: each pair is compared by letters.
    """
    options = [option for option in known if len(option) <= _LONGEST_NAME]
    if len(name) > _LONGEST_NAME or len(options) > _MOST_NAMES:
        return None
    folded = name.casefold()
    candidates = {option.casefold(): option for option in sorted(options) if option != name}
    for close in difflib.get_close_matches(folded, candidates, n=3, cutoff=_SIMILARITY):
        if close == folded or close.translate(_DIGITS) != folded.translate(_DIGITS):
            return candidates[close]
    return None


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return `; did you mean '…'?` or an empty text, to be put behind a message."""
    guess = nearest(name, known)
    return "" if guess is None else f"; did you mean {guess!r}?"
