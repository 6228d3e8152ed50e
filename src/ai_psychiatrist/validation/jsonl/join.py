"""Hand each unit its context: side by side while the order is the same, else by an index."""

from collections.abc import Generator, Iterator
from pathlib import Path

from ai_psychiatrist.validation.jsonl.context import Asked, ContextIndex, asked_twice, read_contexts
from ai_psychiatrist.validation.jsonl.unit_ids import UnitIds, id_digest
from ai_psychiatrist.validation.reply.limits import ParseLimits


class ContextJoin:
    """The units that were asked for.

    While answers come in the order of the context, both are read side by side. From the first that
    does not, the context is looked up by an index on disk.
    """

    def __init__(self, path: Path, folder: Path, limits: ParseLimits) -> None:
        """`folder` takes the index; nobody else may read it."""
        self.path, self._folder, self._limits = path, folder, limits
        self._following: Generator[Asked, None, None] = read_contexts(path, limits)
        self._next = next(self._following, None)
        self._index: ContextIndex | None = None
        self.asked_count = 0
        """Units of the context that have been come across; all of them at the end."""

    def take(self, key: str) -> Asked | None:
        """Return a unit that is answered; `None` when it was not asked for."""
        following = self._next
        if self._index is None and following is not None and following.key == key:
            self._advance()
            return following
        return self.use_index().find(key)

    def use_index(self) -> ContextIndex:
        """Look units up from now on, in an index that is built unless another process has."""
        if self._index is None:
            self._following.close()
            place = self._folder / "context.sqlite"
            open_index = ContextIndex if place.exists() else ContextIndex.build
            self._index = open_index(self.path, place, self._limits)
            self.asked_count = len(self._index)
        return self._index

    def unanswered(self, answered: UnitIds) -> Iterator[Asked]:
        """Yield in the order of the context the units that no answer has come for.

        `answered` takes their ids in.
        """
        if self._index is not None:
            for asked in read_contexts(self.path, self._limits):
                if answered.add(id_digest(asked.key)):
                    yield asked
            return
        while (following := self._next) is not None:
            if not answered.add(id_digest(following.key)):
                raise asked_twice(following.number)
            self._advance()
            yield following

    def close(self) -> None:
        """Close the files."""
        self._following.close()
        if self._index is not None:
            self._index.close()

    def _advance(self) -> None:
        self.asked_count += 1
        self._next = next(self._following, None)
