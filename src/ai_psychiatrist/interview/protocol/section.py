"""What the sections of a protocol file have in common: texts, whole numbers, no empty keys."""

from typing import Annotated, TypeAlias

from pydantic import AfterValidator, PlainValidator, ValidationInfo, model_validator
from pydantic_core import PydanticCustomError

from ai_psychiatrist.validation.file_model import FileModel, Text, invalid, invalid_inside


def out_of_range(name: str | None, low: int, high: int) -> PydanticCustomError:
    """Return the error about a number that is none, or outside its bounds."""
    return invalid("out_of_range", f"{name!r} has to be a whole number from {low} to {high}")


def between(low: int, high: int) -> PlainValidator:
    """Take a whole number; both bounds are inclusive, and `true` is none."""

    def check(value: object, key: ValidationInfo) -> int:
        if type(value) is int and low <= value <= high:
            return value
        raise out_of_range(key.field_name, low, high)

    return PlainValidator(check)


Wording: TypeAlias = Annotated[Text, AfterValidator(str.strip)]
"""A text that says something, without the spaces about it."""


class Section(FileModel):
    """A mapping of a protocol file, whose keys all have a value."""

    @model_validator(mode="before")
    @classmethod
    def _says_something(cls, given: object) -> object:
        if isinstance(given, dict) and None in given.values():
            empty = [key for key, value in given.items() if value is None]
            no_value = {key: invalid("wrong_shape", f"{key!r} has no value") for key in empty}
            raise invalid_inside(no_value)
        return given
