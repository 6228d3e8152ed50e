"""The clauses about a span of spoken English."""

from itertools import takewhile

from ai_psychiatrist.services.language.clauses import WINDOW, Clause, boundary, cut

__all__ = ["WINDOW", "Clause", "clauses_around", "clauses_near", "clauses_of"]


def clauses_of(words: str) -> tuple[Clause, ...]:
    """Cut words into clauses that tile them; none is longer than `WINDOW` characters."""
    return tuple(cut(words, 0, len(words), boundary()))


def clauses_around(words: str, start: int, end: int) -> tuple[Clause, ...]:
    """Return the clauses that the span `words[start:end]` lies in."""
    start, end = without_outer_spaces(words, start, end)
    after = max(end, start + 1)
    near = takewhile(lambda clause: clause.start < after, clauses_near(words, start, end))
    return tuple(clause for clause in near if clause.end > start)


def clauses_near(words: str, start: int, end: int) -> tuple[Clause, ...]:
    """Return the clauses about a span.

    At most `WINDOW` characters before the span and after its beginning's window are read, so the
    cost does not grow with the text.
    """
    start, end = without_outer_spaces(words, start, min(end, start + 4 * WINDOW))
    return tuple(cut(words, max(0, start - WINDOW), min(len(words), end + WINDOW), boundary()))


def without_outer_spaces(words: str, start: int, end: int) -> tuple[int, int]:
    """Narrow a span by the spaces at its edges."""
    while start < end and words[start].isspace():
        start += 1
    while end > start and words[end - 1].isspace():
        end -= 1
    return start, end
