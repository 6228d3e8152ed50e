"""What was read of clauses is remembered while transcripts are worked on, and then forgotten."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from ai_psychiatrist.services.cues.lexicon import hits_of, words_of
from ai_psychiatrist.services.cues.occurrence import occurrences_in
from ai_psychiatrist.services.cues.period import told_in
from ai_psychiatrist.services.cues.statement import answer_of, statement_of
from ai_psychiatrist.services.cues.valence import read_clause
from ai_psychiatrist.services.risk.statement import read_statement

_CACHES: Final = (
    words_of,
    hits_of,
    read_clause,
    answer_of,
    statement_of,
    occurrences_in,
    told_in,
    read_statement,
)
"""All of them are keyed by a clause: together they could tell much of a transcript."""


class _Working:
    """How many transcripts are worked on in this process."""

    count = 0
    lock = threading.Lock()


@contextmanager
def remembering_clauses() -> Iterator[None]:
    """Keep the readings of clauses inside the block; after the last block all are forgotten."""
    with _Working.lock:
        _Working.count += 1
    try:
        yield
    finally:
        with _Working.lock:
            _Working.count -= 1
            if not _Working.count:
                _forget()


def _forget() -> None:
    for cache in _CACHES:
        cache.cache_clear()
