"""Readings of short texts that are remembered; of long ones they are made anew."""

from collections.abc import Callable
from functools import lru_cache
from typing import Concatenate, Final, Generic, ParamSpec, TypeVar

LONGEST_REMEMBERED: Final = 600
"""In characters: a clause, or the end of a question. Longer texts could fill the memory."""

_FORGETTING: Final[list[Callable[[], None]]] = []

P = ParamSpec("P")
T = TypeVar("T")


class Remembered(Generic[P, T]):
    """A pure function of a text that remembers what it returned for the last short ones."""

    def __init__(self, read: Callable[Concatenate[str, P], T], most: int) -> None:
        self._read = read
        self._kept = lru_cache(maxsize=most)(read)
        self.cache_info = self._kept.cache_info
        _FORGETTING.append(self._kept.cache_clear)

    def __call__(self, text: str, *args: P.args, **kwargs: P.kwargs) -> T:
        """Return what the function returns."""
        read = self._read if len(text) > LONGEST_REMEMBERED else self._kept
        return read(text, *args, **kwargs)


def remembered(
    most: int,
) -> Callable[[Callable[Concatenate[str, P], T]], Remembered[P, T]]:
    """Remember the results of a pure function for so many short texts."""
    return lambda read: Remembered(read, most)


def forget_remembered() -> None:
    """Forget what was read of texts: together the readings could tell much of a transcript."""
    for forget in _FORGETTING:
        forget()
