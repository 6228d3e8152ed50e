"""A value of the pipeline file together with its place, read by the shape that is expected."""

import math
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from ai_psychiatrist.validation.checks.verdict import type_name
from ai_psychiatrist.validation.config.document import Document
from ai_psychiatrist.validation.config.nearest import did_you_mean, nearest
from ai_psychiatrist.validation.config.problem import KeyPath, dotted


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """One value of the file; a reader that meets another shape reports it and reads nothing."""

    value: object = field(repr=False)
    path: KeyPath
    document: Document = field(repr=False)

    @classmethod
    def at(cls, document: Document, location: KeyPath) -> "Node":
        """Return the value at a location of a document."""
        path, value = document.found(location)
        return cls(value=value, path=path, document=document)

    def error(self, code: str, message: str, *, column: int | None = None) -> None:
        """Report an error here; `column`: 1-based inside this text."""
        self.document.error(self.path, code, message, column=column)

    def warn(self, code: str, message: str, *, column: int | None = None) -> None:
        """Report a warning here; `column`: 1-based inside this text."""
        self.document.warn(self.path, code, message, column=column)

    def child(self, key: str | int) -> "Node | None":
        """Return the value under a key, or `None` where there is none."""
        if isinstance(self.value, dict) and key in self.value:
            return self._inner(self.value[key], key)
        return None

    def entries(self, *, of: str) -> dict[str, "Node"]:
        """Return the values of a mapping by key; `of` says what the mapping holds."""
        if isinstance(self.value, dict):
            return {key: self._inner(value, key) for key, value in self.value.items()}
        self._expected(f"a mapping of {of}")
        return {}

    def items(self, *, of: str) -> list["Node"]:
        """Return the values of a list; `of` says what the list holds."""
        if isinstance(self.value, list):
            return [self._inner(value, position) for position, value in enumerate(self.value)]
        self._expected(f"a list of {of}")
        return []

    def text(self) -> str | None:
        """Return a text that says something."""
        if isinstance(self.value, str) and self.value.strip():
            return self.value
        self._expected("a text" if isinstance(self.value, str) else "a text, in quotes")
        return None

    def names(self, *, of: str) -> tuple[str, ...]:
        """Return a list of names, each once."""
        found: dict[str, None] = {}
        for item in self.items(of=of):
            name = item.text()
            if name in found:
                item.error("duplicate_name", f"{name!r} is listed twice")
            elif name is not None:
                found[name] = None
        return tuple(found)

    def number(self) -> int | float | None:
        """Return a finite number; `true` is none."""
        value = self.value
        if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
            return value
        self._expected("a number")
        return None

    def whole_number(self) -> int | None:
        """Return a whole number from 1."""
        if isinstance(self.value, int) and not isinstance(self.value, bool) and self.value >= 1:
            return self.value
        self._expected("a whole number from 1")
        return None

    def refuse_unknown_keys(self, known: Collection[str]) -> None:
        """Report keys that have no meaning here: what is not read would silently not be checked."""
        for key, node in self._unknown(known):
            listed = did_you_mean(key, known) or f"; known are {', '.join(sorted(known))}"
            node.error("unknown_key", f"{key!r} means nothing here{listed}")

    def suspect_unknown_keys(self, known: Collection[str]) -> None:
        """Report keys that look misspelt, and warn of others: other programs may read them."""
        for key, node in self._unknown(known):
            if nearest(key, known) is None:
                node.warn("unknown_key", f"{key!r} is not read")
            else:
                node.error("unknown_key", f"{key!r} means nothing here{did_you_mean(key, known)}")

    def _unknown(self, known: Collection[str]) -> Iterator[tuple[str, "Node"]]:
        if isinstance(self.value, dict):
            for key, value in self.value.items():
                if key not in known:
                    yield key, self._inner(value, key)

    def _inner(self, value: object, key: str | int) -> "Node":
        return Node(value=value, path=(*self.path, key), document=self.document)

    def _expected(self, wanted: str) -> None:
        name = dotted(self.path) or "the file"
        found = "an empty text" if self.value == "" else type_name(self.value)
        if self.value is None:
            found = "nothing"
        self.error("wrong_shape", f"{name} has to be {wanted}; found {found}")
