"""Kinds of arrays, and how they are made of others."""

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
Places = NDArray[np.intp]
Scalar = TypeVar("Scalar", bound=np.generic)


def two_dimensional(values: NDArray[Scalar]) -> NDArray[Scalar]:
    """Return (units,) as (units, 1), and (units, k) as it is."""
    return values[:, None] if values.ndim == 1 else values


def narrowest(numbers: NDArray[np.integer], *, below: int) -> NDArray[np.integer]:
    """Return whole numbers from -1 on in the least memory that holds all `below` a bound."""
    return numbers.astype(np.min_scalar_type(-below - 1))
