"""Guess which known name a misspelt one was meant to be."""

import difflib
from collections.abc import Iterable
from typing import Final

_SIMILARITY: Final = 0.75
_DIGITS: Final = str.maketrans("", "", "0123456789")


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that `name` most likely stands for, or `None`.

    Names that differ in nothing but their digits (`card_1`, `card_2`) are different names.
    """
    folded = name.casefold()
    candidates = {option.casefold(): option for option in sorted(known) if option != name}
    for close in difflib.get_close_matches(folded, candidates, n=3, cutoff=_SIMILARITY):
        if close == folded or close.translate(_DIGITS) != folded.translate(_DIGITS):
            return candidates[close]
    return None


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return `; did you mean '…'?` or an empty text, to be put behind a message."""
    guess = nearest(name, known)
    return "" if guess is None else f"; did you mean {guess!r}?"
