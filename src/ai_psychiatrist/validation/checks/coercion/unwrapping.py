"""Take an answer out of a field `response` that holds it, as text or as an object."""

from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final

from ai_psychiatrist.domain.errors import OutputRejected
from ai_psychiatrist.validation.reply.parse import parse_object

WRAPPER: Final = "response"


@dataclass(frozen=True, slots=True, kw_only=True)
class WrapperRule:
    """When the field `response` is a wrapper, and not a part of the answer."""

    required: AbstractSet[str]
    """Fields that an answer has to have; with all of them beside it, `response` is one more."""
    is_declared: bool
    """Whether the schema itself has a field of this name: then it is never a wrapper."""

    def unwrapped(self, value: dict[str, object]) -> dict[str, object] | None:
        """Return the answer without its wrapper, `None` when it is not wrapped.

        A field beside the wrapper wins over one of the same name inside it.
        """
        held = value.get(WRAPPER)
        if self.is_declared or not isinstance(held, str | dict):
            return None
        outer = {name: inner for name, inner in value.items() if name != WRAPPER}
        if outer and self.required <= outer.keys():
            return None
        inner = held if isinstance(held, dict) else _object_in(held)
        return {**outer, **inner, **outer} if inner else None


def _object_in(text: str) -> dict[str, object] | None:
    try:
        return parse_object(text).value
    except OutputRejected:
        return None
