"""The clauses of spoken English."""

from typing import Final

from ai_psychiatrist.services.language.clauses import Clause, boundary, cut

__all__ = ["Clause", "clauses_of"]

_BOUNDARY: Final = boundary()


def clauses_of(words: str) -> tuple[Clause, ...]:
    """Cut words into clauses that tile them."""
    return tuple(cut(words, 0, len(words), _BOUNDARY))
