"""Files that their owner alone can read, and that are there whole or not at all."""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


@contextmanager
def draft_of(path: Path) -> Iterator[BinaryIO]:
    """Yield a file beside a path's place, which takes that place when the block ends well."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def write_whole(path: Path, chunks: Iterable[bytes]) -> None:
    """Write a file from its parts."""
    with draft_of(path) as file:
        file.writelines(chunks)
