"""What pydantic models of configuration files have in common: strict values and known keys."""

import math
from collections.abc import Mapping
from typing import Annotated, ClassVar, Final, TypeAlias, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    PlainValidator,
    Strict,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    model_validator,
)
from pydantic_core import InitErrorDetails, PydanticCustomError, PydanticKnownError

from ai_psychiatrist.validation.nearest import nearest

_MOST_UNKNOWN: Final = 500
"""Unknown keys of one mapping that are told; each costs a search for what was meant."""

_T = TypeVar("_T")


def invalid(
    code: str, message: str, *, meant: str | None = None, is_error: bool = True
) -> PydanticCustomError:
    """Return the error for a validator to raise: a code of ours, and a message that is shown.

    `meant`: the key that this one was meant to be; the value is then looked at under it.
    """
    context = {"message": message, "meant": meant, "is_error": is_error}
    return PydanticCustomError(code, "{message}", context)


def invalid_inside(errors: Mapping[str | int, PydanticCustomError]) -> ValidationError:
    """Return the errors for a validator to raise about single entries of a mapping or a list."""
    details = [
        InitErrorDetails(type=error, loc=(key,), input=None) for key, error in errors.items()
    ]
    return ValidationError.from_exception_data("entries", details)


def otherwise(code: str, message: str) -> WrapValidator:
    """Report whatever is wrong with a value in these words; for `Annotated`."""

    def check(value: object, handler: ValidatorFunctionWrapHandler) -> object:
        try:
            return handler(value)
        except ValidationError:
            raise invalid(code, message) from None

    return WrapValidator(check)


def each_once(values: tuple[_T, ...]) -> tuple[_T, ...]:
    """Refuse the values of a list that are there already."""
    twice = [at for at, value in enumerate(values) if value in values[:at]]
    if twice:
        raise invalid_inside(
            {at: invalid("duplicate_name", f"{values[at]!r} is listed twice") for at in twice}
        )
    return values


def _finite(value: object) -> int | float:
    if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
        return value
    raise PydanticKnownError("float_type")


Text: TypeAlias = Annotated[str, Strict(), Field(pattern=r"\S")]
"""A text that says something."""
Flag: TypeAlias = Annotated[bool, Strict()]
Count: TypeAlias = Annotated[
    int, Strict(), Field(ge=1), otherwise("wrong_shape", "this has to be a whole number from 1")
]
Number: TypeAlias = Annotated[int | float, PlainValidator(_finite)]
"""A finite number as it is written; `true` is none."""
Names: TypeAlias = Annotated[tuple[Text, ...], AfterValidator(each_once)]
"""A list of texts, each once."""


class FileModel(BaseModel):
    """A mapping of a configuration file.

    Keys without a meaning are refused, since what is not read would silently not be done. Where
    `is_shared`, other programs may read them: then they are a warning, unless they look misspelt.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    is_shared: ClassVar[bool] = False
    key_kind: ClassVar[str] = "key"
    """What the keys are, as the code `unknown_…` names it."""

    @model_validator(mode="before")
    @classmethod
    def _knows_every_key(cls, given: object) -> object:
        if isinstance(given, dict):
            unknown = [key for key in given if key not in cls.model_fields][:_MOST_UNKNOWN]
            if unknown:
                raise invalid_inside({key: cls._about(key, given) for key in unknown})
        return given

    @classmethod
    def _about(cls, key: str, given: Mapping[str, object]) -> PydanticCustomError:
        code, known = f"unknown_{cls.key_kind}", cls.model_fields
        meant = nearest(key, known)
        if meant is None and cls.is_shared:
            return invalid(code, f"the {cls.key_kind} {key!r} is not read", is_error=False)
        hint = f"did you mean {meant!r}?" if meant else f"known are {', '.join(sorted(known))}"
        message = f"{key!r} means nothing here; {hint}"
        return invalid(code, message, meant=None if meant is None or meant in given else meant)
