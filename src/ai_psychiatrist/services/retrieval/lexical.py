"""Likeness by shared words: BM25, whose weights are worked out when the artefact is made.

Source: Robertson and Zaragoza 2009, Found Trends Inf Retr 3:333-389, in the form of Lucene.
"""

import asyncio
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

import bm25s
import numpy as np
import numpy.typing as npt
import orjson

from ai_psychiatrist.domain.errors import ArtifactMismatch
from ai_psychiatrist.infrastructure.given_files import read_regular
from ai_psychiatrist.infrastructure.private_files import write_whole
from ai_psychiatrist.services.retrieval.arrays import read_array, refuse_outside, write_array

_WEIGHTS: Final = "bm25_weights.npy"
_CHUNKS: Final = "bm25_chunks.npy"
_STARTS: Final = "bm25_starts.npy"
_WORDS: Final = "bm25_words.json"
LEXICAL_FILES: Final = (_WEIGHTS, _CHUNKS, _STARTS, _WORDS)
_K1: Final = 1.5
_B: Final = 0.75
LEXICAL_DIGEST: Final = f"bm25-lucene-k1={_K1}-b={_B}-words=1"
"""Of how words are told and weighed."""
_WORD: Final = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_MOST_BYTES: Final = 1 << 28


def words_of(text: str) -> list[str]:
    """Return the words that count, in their order; `don't` is one."""
    return [word.replace("’", "'") for word in _WORD.findall(text.casefold())]


def write_lexical(folder: Path, texts: Iterable[str]) -> None:
    """Write the weights of every word in every text."""
    said = [words_of(text) for text in texts]
    # In order, so that the same texts give the same bytes: a set has another order each time.
    known = {word: at for at, word in enumerate(sorted({word for one in said for word in one}))}
    index = _index()
    built = index.build_index_from_ids(
        list(known.values()),
        [[known[word] for word in one] for one in said],
        show_progress=False,
    )
    write_array(folder / _WEIGHTS, built["data"].astype(np.float32))
    write_array(folder / _CHUNKS, built["indices"].astype(np.int32))
    write_array(folder / _STARTS, built["indptr"].astype(np.int64))
    write_whole(folder / _WORDS, [orjson.dumps(list(known))])


class LexicalIndex:
    """Finds the chunks that share a query's words."""

    def __init__(self, folder: Path, chunks: int) -> None:
        """Open the files; raises `ArtifactMismatch` where they do not fit together."""
        words = orjson.loads(read_regular(folder / _WORDS, most_bytes=_MOST_BYTES))
        starts = read_array(folder / _STARTS, np.int64)
        if len(starts) != len(words) + 1:
            msg = "the words of the references and their weights do not fit; build them anew"
            raise ArtifactMismatch(msg)
        held_by = read_array(folder / _CHUNKS, np.int32)
        refuse_outside(_CHUNKS, held_by, 0, chunks - 1)
        refuse_outside(_STARTS, np.diff(starts), 0, chunks)
        self._known = {word: at for at, word in enumerate(words)}
        self._chunks = chunks
        self._index = _index()
        self._index.nonoccurrence_array = None
        self._index.scores = {
            "data": read_array(folder / _WEIGHTS, np.float32),
            "indices": held_by,
            "indptr": starts,
            "num_docs": chunks,
        }
        holding = np.diff(starts)
        self._most = np.log1p((chunks - holding + 0.5) / (holding + 0.5))
        self._most_unknown = float(np.log1p((chunks + 0.5) / 0.5))

    async def similarities(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Return (texts, chunks): which part, 0-1, of the weight of a text's words a chunk holds.

        A word that no chunk holds has weight all the same.
        """
        return await asyncio.to_thread(lambda: np.stack([self._of(text) for text in texts]))

    def _of(self, text: str) -> npt.NDArray[np.float32]:
        words = set(words_of(text))
        ids = sorted(self._known[word] for word in words if word in self._known)
        if not ids:
            return np.zeros(self._chunks, dtype=np.float32)
        whole = float(self._most[ids].sum()) + self._most_unknown * (len(words) - len(ids))
        shared: npt.NDArray[np.float32] = self._index.get_scores_from_ids(ids)
        return shared / np.float32(whole)


def _index() -> bm25s.BM25:
    return bm25s.BM25(k1=_K1, b=_B, method="lucene", backend="numpy", csc_backend="numpy")
