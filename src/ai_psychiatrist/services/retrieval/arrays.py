"""Arrays as files: written whole, read as they lie on the disk, and never as code."""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ai_psychiatrist.domain.errors import ArtifactMismatch
from ai_psychiatrist.infrastructure.private_files import draft_of


def write_array(path: Path, array: npt.NDArray[Any]) -> None:
    """Write an array as a file that its owner alone can read."""
    with draft_of(path) as file:
        np.save(file, array, allow_pickle=False)


def read_array(path: Path, dtype: npt.DTypeLike, *, columns: int | None = None) -> npt.NDArray[Any]:
    """Map an array into memory. `columns`: of a matrix; `None` for a single row of values.

    Raises `ArtifactMismatch` for a file that holds another kind of array.
    """
    try:
        array: npt.NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError):
        msg = f"{path.name!r} of the references holds no array; build them anew"
        raise ArtifactMismatch(msg) from None
    shape = () if columns is None else (columns,)
    if array.dtype != np.dtype(dtype) or array.ndim != len(shape) + 1 or array.shape[1:] != shape:
        msg = f"{path.name!r} of the references holds another kind of array; build them anew"
        raise ArtifactMismatch(msg)
    return array


def refuse_outside(name: str, array: npt.NDArray[Any], least: int, most: int) -> None:
    """Raise `ArtifactMismatch` for a value below `least` or above `most`."""
    if array.size and not (least <= array.min() and array.max() <= most):
        msg = f"{name!r} of the references holds values that cannot be; build them anew"
        raise ArtifactMismatch(msg)
