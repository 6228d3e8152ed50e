"""What all results have in common: frozen, made of the domain's values, and shown without words."""

from collections.abc import Iterator, Sized
from enum import Enum
from typing import TYPE_CHECKING, ClassVar

from pydantic import AliasChoices, AliasPath, BaseModel, ConfigDict, ValidationError
from pydantic_core import InitErrorDetails


class Result(BaseModel):
    """A part of what a caller gets; made from the domain's values by their names.

    Its `repr` and `str` hold numbers, codes and how many there are of everything else: a result
    that is printed, logged or shown in a traceback tells nothing that was said.
    """

    model_config = ConfigDict(
        frozen=True,
        use_attribute_docstrings=True,
        from_attributes=True,
        hide_input_in_errors=True,
        # Built with the first result that is made, and the parts with the whole alone.
        defer_build=True,
    )

    shown_texts: ClassVar[frozenset[str]] = frozenset()
    """Fields whose text is this program's own, and is shown."""

    if not TYPE_CHECKING:

        def __setattr__(self, name: str, value: object) -> None:
            """Refuse it; Pydantic's own refusal would repeat the value."""
            error = InitErrorDetails(type="frozen_instance", loc=(name,), input=None)
            raise ValidationError.from_exception_data(type(self).__name__, [error], hide_input=True)

    def __str__(self) -> str:
        """Show it as `repr` does."""
        return repr(self)

    def __repr_args__(self) -> Iterator[tuple[str | None, object]]:
        """Yield what can be shown of each field."""
        for name, value in self:
            if name in self.shown_texts:
                yield name, value
            elif (shown := _shown(value)) is not None:
                yield name, shown


class _Count:
    """Stands for so many values."""

    def __init__(self, count: int) -> None:
        self._count = count

    def __repr__(self) -> str:
        return f"<{self._count}>"


def _shown(value: object) -> object | None:
    match value:
        case Enum():
            code: object = value.value
            return code
        case bool() | int() | float() | Result():
            return value
        case str() | bytes():
            return None
        case Sized():
            return _Count(len(value))
        case _:
            return None


def called(*path: str) -> AliasChoices:
    """Say where a value of the domain is that results give another name; the last is theirs."""
    *places, name = path
    return AliasChoices(name, AliasPath(*places))
