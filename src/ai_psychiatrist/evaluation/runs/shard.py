"""A part of a dataset for one of several processes: every n-th unit, from the i-th on.

Dealt out in turn, parts differ by one unit at most, neighbours of like length do not end up in one
part, and the place of a unit in the whole follows from its place in the part: what is put together
again stands in the order of the dataset, and no unit is in two parts.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Self, TypeVar

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.infrastructure.digests import keyed_digest

MOST_SHARDS: Final = 400
"""A merge has a few files of each open at once."""
_FIELD: Final = "--shard"
_FORM: Final = re.compile(r"([1-9][0-9]{0,5})/([1-9][0-9]{0,5})")
_KEY_DIGITS: Final = 64

Unit = TypeVar("Unit")


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Shard:
    """Which part of how many."""

    of: int
    number: int
    """From 1."""

    @classmethod
    def read(cls, text: str) -> Self:
        """Read `2/8`; raises `InputError` for what is no part of at most 400."""
        found = _FORM.fullmatch(text)
        number, of = map(int, found.groups()) if found else (0, 0)
        if not 1 <= number <= of <= MOST_SHARDS:
            msg = (
                "a shard is given as i/n, such as 2/8, with i from 1 to n and n at most "
                f"{MOST_SHARDS}"
            )
            raise InputError(msg, field=_FIELD)
        return cls(of=of, number=number)

    def __str__(self) -> str:
        """Write it as it is given."""
        return f"{self.number}/{self.of}"

    def part(self, units: Sequence[Unit]) -> Sequence[Unit]:
        """Return the part of some units; raises `InputError` where it would be empty."""
        part = units[self.number - 1 :: self.of]
        if not part:
            msg = f"shard {self} has none of {len(units)} units; make at most {len(units)} shards"
            raise InputError(msg, field=_FIELD)
        return part

    def place(self, number: int) -> int:
        """Return which unit of the whole the part's n-th one is, both from 1."""
        return (number - 1) * self.of + self.number

    def size(self, units: int) -> int:
        """Return how many of so many units it has."""
        return len(range(self.number - 1, units, self.of))

    def prompt_key(self, dataset_digest: str) -> str:
        """Return the key of prompts that all parts share which one installation begins.

        Parts then ask to the letter alike, and a merged run can be gone on with.
        """
        return keyed_digest(f"shards:{self.of}:{dataset_digest}", length=_KEY_DIGITS)
