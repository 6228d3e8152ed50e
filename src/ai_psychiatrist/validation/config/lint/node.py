"""A value of a document that was found to have its shape, together with its place."""

from dataclasses import dataclass, field

from ai_psychiatrist.validation.config.document import Document
from ai_psychiatrist.validation.config.problem import KeyPath


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """One value of the file."""

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

    def child(self, key: str) -> "Node | None":
        """Return the value under a key, or `None` where there is none."""
        if isinstance(self.value, dict) and key in self.value:
            return Node.at(self.document, (*self.path, key))
        return None
