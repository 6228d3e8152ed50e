"""What turns texts into vectors, wherever it runs."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

Vectors = npt.NDArray[np.float32]


class Embedder(Protocol):
    """Gives texts of like meaning like vectors; the same text always gets the same one."""

    @property
    def name(self) -> str:
        """As in the settings."""
        ...

    @property
    def digest(self) -> str:
        """Of what makes the vectors, as far as it is known here."""
        ...

    async def embed(self, texts: Sequence[str], *, is_query: bool) -> Vectors:
        """Return (texts, dimensions), one row a text, of any length but zero.

        Raises `ModelCallFailed` where a server gives none.
        """
        ...


def unit_rows(vectors: Vectors) -> Vectors:
    """Return the rows at length 1; raises `ValueError` for rows of no length or no number."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not (np.isfinite(lengths).all() and (lengths > 0).all()):
        msg = "a vector has no length or holds what is no number"
        raise ValueError(msg)
    return np.asarray(vectors / lengths, dtype=np.float32)
