"""Hand each unit its context: side by side while the order is the same, else by an index."""

from collections.abc import Generator, Iterator
from pathlib import Path

from ai_psychiatrist.validation.jsonl.context import (
    Asked,
    ContextIndex,
    asked_twice,
    read_context,
)
from ai_psychiatrist.validation.jsonl.unit_index import SeenIds, id_digest
from ai_psychiatrist.validation.reply.limits import ParseLimits


class ContextJoin:
    """The units that were asked for, and which of them have been answered.

    While answers come in the order of the context, both are read side by side. From the first that
    does not, the context is looked up by an index on disk.
    """

    def __init__(self, path: Path, folder: Path, limits: ParseLimits) -> None:
        """`folder` takes the index; nobody else may read it."""
        self.path, self._folder, self._limits = path, folder, limits
        self._following: Generator[Asked, None, None] = read_context(path, limits)
        self._next = next(self._following, None)
        self._index: ContextIndex | None = None
        self._answered = bytearray()
        """One byte for each position, 1 where the unit is answered."""
        self.asked_count = 0
        """Units of the context that have been come across; all of them at the end."""

    def take(self, key: str) -> Asked | None:
        """Return a unit and note that it is answered; `None` when it was not asked for."""
        following = self._next
        if self._index is None and following is not None and following.key == key:
            self._advance()
            self._answered.append(1)
            return following
        asked = self.use_index().find(key)
        if asked is not None:
            self._answered[asked.position] = 1
        return asked

    def use_index(self) -> ContextIndex:
        """Look units up from now on, in an index that is built unless another process has."""
        if self._index is None:
            self._stop_reading()
            place = self._folder / "context.sqlite"
            open_index = ContextIndex if place.exists() else ContextIndex.build
            self._index = open_index(self.path, place, self._limits)
            self.asked_count = len(self._index)
            self._answered.extend(bytes(self.asked_count - len(self._answered)))
        return self._index

    def mark(self, answered: bytes) -> None:
        """Note the units that others have answered: one byte for each position, 1 where so."""
        self.use_index()
        mine, theirs = int.from_bytes(self._answered), int.from_bytes(answered)
        self._answered = bytearray((mine | theirs).to_bytes(len(self._answered)))

    @property
    def answered(self) -> bytes:
        """One byte for each position, 1 where the unit is answered."""
        return bytes(self._answered)

    def unanswered(self, seen: SeenIds) -> Iterator[Asked]:
        """Yield in the order of the context the units that no answer has come for.

        `seen` holds the units that have been answered.
        """
        if self._index is None:
            while (asked := self._next) is not None:
                if not seen.add(id_digest(asked.key)):
                    raise asked_twice(asked.number)
                self._advance()
                yield asked
            return
        for asked in read_context(self.path, self._limits):
            if not self._answered[asked.position]:
                yield asked

    def close(self) -> None:
        """Close the files."""
        self._stop_reading()
        if self._index is not None:
            self._index.close()

    def _stop_reading(self) -> None:
        self._following.close()

    def _advance(self) -> None:
        self.asked_count += 1
        self._next = next(self._following, None)
