"""Likeness by vectors: a byte a dimension, and a scale for each row."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from ai_psychiatrist.domain.errors import ArtifactMismatch, ModelCallFailed
from ai_psychiatrist.domain.failures import FailureCode
from ai_psychiatrist.services.retrieval.arrays import read_array, write_array
from ai_psychiatrist.services.retrieval.embedding import Embedder, Vectors, unit_rows

_VECTORS: Final = "vectors.npy"
_SCALES: Final = "scales.npy"
DENSE_FILES: Final = (_VECTORS, _SCALES)
_LARGEST: Final = 127
_BLOCK: Final = 512
"""Rows that are made numbers of four bytes at a time, so that they stay in the cache."""
_PRODUCT: Final = 64
"""Rows of one product of matrices."""


def write_dense(folder: Path, vectors: Vectors) -> None:
    """Write (chunks, dimensions); raises `ValueError` for rows of no length."""
    rows = unit_rows(vectors)
    scales = np.abs(rows).max(axis=1) / _LARGEST
    write_array(folder / _VECTORS, np.rint(rows / scales[:, None]).astype(np.int8))
    write_array(folder / _SCALES, scales.astype(np.float32))


class DenseIndex:
    """Finds the chunks whose vectors point where a query's does."""

    def __init__(self, folder: Path, embedder: Embedder, dimensions: int) -> None:
        """Open the files; raises `ArtifactMismatch` where they do not fit together."""
        self._vectors = read_array(folder / _VECTORS, np.int8, columns=dimensions)
        self._scales = read_array(folder / _SCALES, np.float32)
        self._embedder = embedder
        if len(self._vectors) != len(self._scales):
            msg = "the vectors of the references and their scales do not fit; build them anew"
            raise ArtifactMismatch(msg)

    async def similarities(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Return (texts, chunks): the cosine of the angle between their vectors, at least 0.

        Raises `ModelCallFailed` where a server gives no vectors, or such of another size than the
        references have: under the same name it has another model then.
        """
        queries = await self._embedder.embed(texts, is_query=True)
        if queries.shape != (len(texts), self._vectors.shape[1]):
            raise ModelCallFailed(FailureCode.MALFORMED_RESPONSE)
        return await asyncio.to_thread(self._compared, unit_rows(queries))

    def _compared(self, queries: Vectors) -> npt.NDArray[np.float32]:
        count, dimensions = self._vectors.shape
        found = np.empty((count, len(queries)), dtype=np.float32)
        rows = np.zeros((_BLOCK, dimensions), dtype=np.float32)
        # So small that each is done by one thread: with several, a busy machine has all of them
        # wait for the slowest, fifteen times as long.
        products = rows.reshape(-1, _PRODUCT, dimensions)
        columns = np.ascontiguousarray(queries.T)
        for start in range(0, count, _BLOCK):
            part = self._vectors[start : start + _BLOCK]
            np.copyto(rows[: len(part)], part)
            compared = np.matmul(products, columns).reshape(_BLOCK, -1)
            found[start : start + len(part)] = compared[: len(part)]
        found *= self._scales[:, None]
        return np.ascontiguousarray(np.maximum(found, 0, out=found).T)
