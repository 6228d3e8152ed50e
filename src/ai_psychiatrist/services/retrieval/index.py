"""The index of an artefact: how like each chunk is to a query, by shared words or by vectors.

Shared words are scored by BM25 (Robertson and Zaragoza 2009, Found Trends Inf Retr 3:333-389, in
the form of Lucene), whose weights are computed when the artefact is made; vectors are kept as a
byte a dimension with a scale for each row.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import bm25s
import numpy as np
import numpy.typing as npt

from ai_psychiatrist.services.retrieval.embedders import Vectors, unit_rows

Similarities = npt.NDArray[np.float32]

_K1: Final = 1.5
_B: Final = 0.75
LEXICAL_DIGEST: Final = f"bm25-lucene-k1={_K1}-b={_B}-words=1"
"""Names how words are told apart and weighed."""
_WORD: Final = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_LARGEST: Final = 127
_BLOCK: Final = 64
"""Rows of one product of matrices.

So few that one thread does it, on numbers that stay in the cache: with several threads, a busy
machine makes all of them wait for the slowest, fifteen times as long.
"""


@dataclass(frozen=True, kw_only=True, eq=False)
class LexicalIndex:
    """Words and their weights in each chunk that holds them."""

    word_ids: Mapping[str, int] = field(repr=False)
    weights: npt.NDArray[np.float32] = field(repr=False)
    """(pairs,): of each pair of word and chunk, by word."""
    chunks: npt.NDArray[np.int32] = field(repr=False)
    """(pairs,)."""
    starts: npt.NDArray[np.int64] = field(repr=False)
    """(words + 1,): where the pairs of each word begin."""
    count: int
    """Of all chunks."""

    def similarities(self, texts: Sequence[str]) -> Similarities:
        """Return (texts, chunks): which part, 0-1, of the weight of a text's words a chunk holds.

        A word that no chunk holds has weight all the same.
        """
        return np.stack([self._shared_part(set(_words(text))) for text in texts])

    def _shared_part(self, words: set[str]) -> Similarities:
        ids = np.array(sorted(self.word_ids[word] for word in words if word in self.word_ids), int)
        shared = np.zeros(self.count, dtype=np.float32)
        if not len(ids):
            return shared
        starts, ends = self.starts[ids], self.starts[ids + 1]
        for start, end in zip(starts, ends, strict=True):
            np.add.at(shared, self.chunks[start:end], self.weights[start:end])
        most = self._most_weight(ends - starts).sum()
        most += (len(words) - len(ids)) * self._most_weight(np.zeros(1)).item()
        return shared / np.float32(most)

    def _most_weight(self, holding: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        """Return the limit of the weights of words by how many chunks hold each."""
        return np.log1p((self.count - holding + 0.5) / (holding + 0.5))


def lexical_index(texts: Sequence[str]) -> LexicalIndex:
    """Return the index of the words of texts, one a chunk."""
    spoken = [_words(text) for text in texts]
    # Sorted, so that the same texts give the same bytes: a set has another order each time.
    word_ids = {
        word: at for at, word in enumerate(sorted({word for one in spoken for word in one}))
    }
    index = bm25s.BM25(k1=_K1, b=_B, method="lucene", backend="numpy", csc_backend="numpy")
    built = index.build_index_from_ids(
        [*word_ids.values()],
        [[word_ids[word] for word in one] for one in spoken],
        show_progress=False,
    )
    return LexicalIndex(
        word_ids=word_ids,
        weights=built["data"].astype(np.float32),
        chunks=built["indices"].astype(np.int32),
        starts=built["indptr"].astype(np.int64),
        count=len(texts),
    )


def _words(text: str) -> list[str]:
    """Return the words that count, in their order; `don't` is one."""
    return [word.replace("’", "'") for word in _WORD.findall(text.casefold())]


@dataclass(frozen=True, kw_only=True, eq=False)
class DenseIndex:
    """A vector for each chunk."""

    vectors: npt.NDArray[np.int8] = field(repr=False)
    """(chunks, dimensions)."""
    scales: npt.NDArray[np.float32] = field(repr=False)
    """(chunks,): what a row is multiplied with to have length 1."""

    def similarities(self, queries: Vectors) -> Similarities:
        """Return (queries, chunks): the cosine of the angle between two vectors, at least 0."""
        count, dimensions = self.vectors.shape
        columns = np.ascontiguousarray(unit_rows(queries).T)
        found = np.empty((count, len(queries)), dtype=np.float32)
        # Always of one size: a product of fewer rows rounds differently.
        rows = np.zeros((_BLOCK, dimensions), dtype=np.float32)
        for start in range(0, count, _BLOCK):
            part = self.vectors[start : start + _BLOCK]
            rows[: len(part)] = part
            found[start : start + len(part)] = (rows @ columns)[: len(part)]
        found *= self.scales[:, None]
        return np.ascontiguousarray(np.maximum(found, 0, out=found).T)


def dense_index(vectors: Vectors) -> DenseIndex:
    """Return the index of vectors, (chunks, dimensions); `ValueError` for rows of no length."""
    rows = unit_rows(vectors)
    scales = np.abs(rows).max(axis=1) / _LARGEST
    return DenseIndex(
        vectors=np.rint(rows / scales[:, None]).astype(np.int8), scales=scales.astype(np.float32)
    )
