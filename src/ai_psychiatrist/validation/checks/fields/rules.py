"""The field rules of a rule block: allowed values and ranges."""

import math
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import ValidationInfo, field_validator, model_validator

from ai_psychiatrist.validation.config.file_model import FileModel, otherwise, refused


class EnumRule(FileModel):
    """The allowed values of a field: written as their list, or as a mapping with the matching."""

    match: Annotated[
        Literal["casefold", "none"], otherwise("unknown_match", "`match` is 'casefold' or 'none'")
    ] = "casefold"
    """With `casefold` a text of other case is taken, and written as the value is."""
    values: tuple[object, ...]

    @model_validator(mode="before")
    @classmethod
    def _of_list(cls, given: object) -> object:
        return {"values": given} if isinstance(given, list) else given

    @field_validator("values")
    @classmethod
    def _can_be_told_apart(
        cls, values: tuple[object, ...], known: ValidationInfo
    ) -> tuple[object, ...]:
        if not values:
            raise refused("empty_enum", "an enum without values allows nothing")
        is_folded = known.data.get("match", "casefold") == "casefold"
        seen: set[object] = set()
        for position, value in enumerate(values, start=1):
            if not isinstance(value, str | int | float | None):
                problem = "is no plain value; write it in quotes"
                raise refused("enum_value", f"value {position} {problem}")
            folded = value.strip().casefold() if is_folded and isinstance(value, str) else value
            if (type(value), folded) in seen:
                cure = " but for its case; give `match: none`" if folded != value else ""
                raise refused("enum_value", f"value {position} is there already{cure}")
            seen.add((type(value), folded))
        return values


@dataclass(frozen=True, slots=True, kw_only=True)
class RangeRule:
    """The numbers that a field may hold; `None` is a side without a bound."""

    low: float | None
    high: float | None
    is_low_open: bool = False
    """Whether the low bound itself is outside."""
    is_high_open: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether no number is inside."""
        if self.low is None or self.high is None:
            return False
        is_open = self.is_low_open or self.is_high_open
        return self.low > self.high or (self.low == self.high and is_open)

    def holds(self, number: float) -> bool:
        """Return whether a number is inside; NaN never is."""
        if math.isnan(number):
            return False
        low, high = self.low, self.high
        if low is not None and (number < low or (self.is_low_open and number == low)):
            return False
        return high is None or number < high or (number == high and not self.is_high_open)

    @property
    def wanted(self) -> str:
        """What the range asks for, in words."""
        bounds = []
        if self.low is not None:
            bounds.append(f"{'more than' if self.is_low_open else 'at least'} {self.low:g}")
        if self.high is not None:
            bounds.append(f"{'less than' if self.is_high_open else 'at most'} {self.high:g}")
        return f"must be {' and '.join(bounds)}" if bounds else "must be a number"
