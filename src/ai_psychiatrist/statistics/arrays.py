"""Kinds of arrays."""

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
Scalar = TypeVar("Scalar", bound=np.generic)


def two_dimensional(values: NDArray[Scalar]) -> NDArray[Scalar]:
    """Return (units,) as (units, 1), and (units, k) as it is."""
    return values[:, None] if values.ndim == 1 else values
