"""Which sessions of an artefact are the same interview as another text: they share its passages.

Resemblance by shared sequences of words: Broder 1997, Compression and Complexity of Sequences.
"""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from ai_psychiatrist.domain.errors import ArtifactMismatch
from ai_psychiatrist.services.retrieval.arrays import read_array, refuse_outside, write_array
from ai_psychiatrist.services.retrieval.identity import Identity

_PASSAGES: Final = "passages.npy"
_SESSIONS: Final = "passage_sessions.npy"
COPY_FILES: Final = (_PASSAGES, _SESSIONS)
_LEAST_SHARED: Final = 4
"""Passages, that is eleven words in a row: a single sentence may be anybody's."""
_SHARE: Final = 0.5
"""Of the shorter text's passages: a part is a copy as well, and one with words corrected.

Of 267 conversations of other people no two share more than 0.06, of 599 made of the same set
phrases no more than 0.40; with one word in twenty changed a copy keeps 0.67.
"""


def write_passages(folder: Path, identities: Sequence[Identity]) -> None:
    """Write every passage and whose it is, in the order of the passages."""
    counts = [len(one.passages) for one in identities]
    passages = np.fromiter(
        (passage for one in identities for passage in one.passages), np.uint64, sum(counts)
    )
    sessions = np.repeat(np.arange(len(identities), dtype=np.int32), counts)
    order = np.lexsort((sessions, passages))
    write_array(folder / _PASSAGES, passages[order])
    write_array(folder / _SESSIONS, sessions[order])


class Copies:
    """Tells which sessions are copies of a text, or the text of one of them."""

    def __init__(self, folder: Path, sessions: int) -> None:
        """Open the files; raises `ArtifactMismatch` where they do not fit together."""
        self._passages = read_array(folder / _PASSAGES, np.uint64)
        self._sessions = read_array(folder / _SESSIONS, np.int32)
        refuse_outside(_SESSIONS, self._sessions, 0, sessions - 1)
        if len(self._passages) != len(self._sessions):
            msg = "the passages of the references and their sessions do not fit; build them anew"
            raise ArtifactMismatch(msg)
        self._counts = np.bincount(self._sessions, minlength=sessions)

    def of(self, passages: Collection[int]) -> npt.NDArray[np.intp]:
        """Return the numbers of the sessions that are copies of what has these passages."""
        wanted = np.sort(np.fromiter(passages, np.uint64, len(passages)))
        first = np.searchsorted(self._passages, wanted)
        counts = np.searchsorted(self._passages, wanted, side="right") - first
        # The places first[i], first[i] + 1, … of each passage, one after another.
        places = np.arange(counts.sum()) + np.repeat(first - np.cumsum(counts) + counts, counts)
        shared = np.bincount(self._sessions[places], minlength=len(self._counts))
        least = _SHARE * np.minimum(self._counts, len(wanted))
        return np.flatnonzero((shared >= _LEAST_SHARED) & (shared >= least))
