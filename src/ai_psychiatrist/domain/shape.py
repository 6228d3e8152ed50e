"""What all parts of a result have in common: each is its own JSON, and shows none of its words.

They are the standard library's dataclasses, which Pydantic writes, reads and describes by their
attributes; made inside the program they cost no validation.
"""

import threading
from collections.abc import Iterator, Sized
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any, ClassVar, Final, Self

from pydantic import (
    ConfigDict,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    TypeAdapter,
    ValidationError,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, InitErrorDetails, PydanticCustomError, from_json

DESCRIBING: Final = threading.RLock()
"""Held while descriptions are read from source: Python 3.11 cannot parse in two threads at once."""
_ADAPTERS: Final[dict[type["Shape"], TypeAdapter[Any]]] = {}
_BEGUN: Final[set[type["Shape"]]] = set()


class Shape:
    """A part of a result; declare it with `repr=False`, or a dataclass writes a `repr` of its own.

    Its `repr` and `str` hold numbers, codes and how many there are of everything else, so that a
    result that is printed, logged or shown in a traceback tells nothing that was said.
    """

    __slots__ = ()
    __pydantic_core_schema__: ClassVar[CoreSchema]
    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(
        use_attribute_docstrings=True, json_schema_serialization_defaults_required=True
    )

    def __repr__(self) -> str:
        """Show what holds no words."""
        shown = ", ".join(f"{name}={one!r}" for name, one in self.shown())
        return f"{type(self).__name__}({shown})"

    def shown(self) -> Iterator[tuple[str, object]]:
        """Yield the fields that can be shown, and what is shown of each."""
        for one in fields(self):  # type: ignore[arg-type]  # each of these classes is a dataclass
            shown = without_words(getattr(self, one.name))
            if shown is not None:
                yield one.name, shown

    @classmethod
    def __get_pydantic_core_schema__(
        cls, source: type[Any], handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """Describe the class once, as Pydantic does, and not in every class that contains it."""
        with DESCRIBING:
            if cls not in _BEGUN:
                adapter_of(cls)
            return handler(source)

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Describe inherited fields as well: Pydantic reads docstrings in the class alone."""
        found = handler(schema)
        properties = handler.resolve_ref_schema(found)["properties"]
        for shape in cls.__mro__[1:]:
            if issubclass(shape, Shape) and is_dataclass(shape):
                for name, one in adapter_of(shape).json_schema()["properties"].items():
                    if "description" in one:
                        properties[name].setdefault("description", one["description"])
        return found

    def model_dump(self) -> dict[str, Any]:
        """Return the JSON as values."""
        values: dict[str, Any] = adapter_of(type(self)).dump_python(self, mode="json")
        return values

    def model_dump_json(self, *, indent: int | None = None, ensure_ascii: bool = False) -> str:
        """Return the JSON, on one line or indented by that many spaces."""
        written = adapter_of(type(self)).dump_json(self, indent=indent, ensure_ascii=ensure_ascii)
        return written.decode()

    @classmethod
    def model_validate(cls, values: object) -> Self:
        """Return what values of JSON hold; raises `ValidationError`, which repeats none of them."""
        return cls.model_validate_json(TypeAdapter(object).dump_json(values))

    @classmethod
    def model_validate_json(cls, content: str | bytes) -> Self:
        """Return what JSON holds; raises `ValidationError`, which repeats none of it.

        What is derived has to follow from the rest: a file in which a level or a total says
        something else was changed, such as one whose signs of danger were taken out.
        """
        try:
            found: Self = adapter_of(cls).validate_json(content)
        except ValidationError as error:
            wrong = [one["loc"] for one in error.errors(include_input=False)]
        else:
            wrong = list(_differences(from_json(content), adapter_of(cls).dump_python(found)))[:1]
            if not wrong:
                return found
        missing_or_wrong = PydanticCustomError("invalid", "it is missing or wrong")
        places = [InitErrorDetails(type=missing_or_wrong, loc=loc, input=None) for loc in wrong]
        raise ValidationError.from_exception_data(cls.__name__, places, hide_input=True)


def _differences(found: object, read: object) -> Iterator[tuple[int | str, ...]]:
    """Yield where JSON has another number or code than what was read of it.

    Sentences may be worded otherwise: another version of the program may have written them.
    """
    match found, read:
        case dict(), dict():
            for key in (one for one in found if one in read):
                yield from ((key, *rest) for rest in _differences(found[key], read[key]))
        case list(), list() | tuple() if len(found) == len(read):
            for at, (one, other) in enumerate(zip(found, read, strict=True)):
                yield from ((at, *rest) for rest in _differences(one, other))
        case str(), str() if not isinstance(read, Enum):
            return
        case _ if found != read:
            yield ()


def adapter_of(shape: type[Shape]) -> TypeAdapter[Any]:
    """Return what writes, reads and describes a class of these; built when it is first needed."""
    if shape not in _ADAPTERS:
        with DESCRIBING:
            if shape not in _ADAPTERS:
                _BEGUN.add(shape)
                adapter = TypeAdapter[Any](shape)
                shape.__pydantic_core_schema__ = adapter.core_schema
                _ADAPTERS[shape] = adapter
    return _ADAPTERS[shape]


def without_words(value: object) -> object:
    """Return what can be shown of a value: codes, numbers and how many there are of others."""
    match value:
        case Enum():
            return value.value
        case bool() | int() | float() | Shape():
            return value
        case Sized() if not isinstance(value, str | bytes):
            return _Count(len(value))
        case _:
            return None


class _Count:
    """Stands for so many values."""

    def __init__(self, count: int) -> None:
        self._count = count

    def __repr__(self) -> str:
        return f"<{self._count}>"
