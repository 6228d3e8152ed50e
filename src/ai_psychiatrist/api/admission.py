"""How many assessments may be under way at the same time."""

from collections.abc import Iterator
from contextlib import contextmanager


class ServerBusy(Exception):
    """There is no room for another assessment."""


class Admission:
    """Lets a bounded number of assessments in and turns the others away at once."""

    def __init__(self, limit: int) -> None:
        self._free = limit

    @contextmanager
    def room(self) -> Iterator[None]:
        """Hold a place inside the block; raises `ServerBusy` when all are taken."""
        if self._free <= 0:
            raise ServerBusy
        self._free -= 1
        try:
            yield
        finally:
            self._free += 1
