"""Tell whoever asked for an assessment of its parts; what they raise is theirs."""

from collections.abc import Callable
from typing import Generic, TypeVar

Told = TypeVar("Told")


class ListenerFailed(Exception):
    """Who is told raised an error, which is no defect of the part that was told of."""


class Telling(Generic[Told]):
    """Tells a listener, and keeps the first error that it raises; after that it is told nothing."""

    def __init__(self, listener: Callable[[Told], None]) -> None:
        """`listener`: what the caller gave."""
        self.error: BaseException | None = None
        self._listener = listener

    def __call__(self, told: Told) -> None:
        """Tell it; raises `ListenerFailed` where it raised."""
        if self.error is None:
            try:
                self._listener(told)
            except BaseException as error:
                self.error = error
                raise ListenerFailed from error
