"""The figures of a run: what `metrics.json` holds, and what report and terminal show."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Final

from pydantic_core import to_json, to_jsonable_python

from ai_psychiatrist.statistics.figure import Figure

if TYPE_CHECKING:
    from ai_psychiatrist.evaluation.metrics.tree import Tree

SCHEMA_VERSION: Final = 1
MOST_UNITS: Final = 10
"""Units that are listed with their errors."""
SCORED: Final = "scored"
"""Beside the reasons of unknown items, what the others are counted as."""


class Better(Enum):
    """Which direction of a figure, or of a difference, is an improvement."""

    LOWER = "lower"
    HIGHER = "higher"
    NEITHER = "neither"


class Scale(Enum):
    """What a figure is measured in: its ends, how many decimals it is read to, its unit."""

    ITEM_POINTS = (0.0, 3.0, 2, "")
    TOTAL_POINTS = (0.0, 24.0, 1, "")
    ITEMS = (0.0, 8.0, 1, "")
    """How many of the eight items."""
    SHARE = (0.0, 1.0, 0, " %")
    AGREEMENT = (-1.0, 1.0, 2, "")
    UNIT = (0.0, 1.0, 3, "")
    """Areas and scores between 0 and 1 that are no shares."""
    SIGNED_ITEM_POINTS = (-3.0, 3.0, 2, "")
    SIGNED_TOTAL_POINTS = (-24.0, 24.0, 1, "")

    @property
    def signed(self) -> "Scale":
        """The scale of differences between its points."""
        return {
            Scale.ITEM_POINTS: Scale.SIGNED_ITEM_POINTS,
            Scale.TOTAL_POINTS: Scale.SIGNED_TOTAL_POINTS,
        }.get(self, self)


@dataclass(frozen=True, slots=True)
class Part:
    """Some of the figures: a section, or what lies in it under a name."""

    tree: "Mapping[str, Tree]"

    def part(self, *path: str) -> "Part":
        """Return what lies under the names, one within the other; `KeyError` where nothing does."""
        tree = self.tree
        for name in path:
            branch = tree[name]
            if not isinstance(branch, Mapping):
                raise KeyError(name)
            tree = branch
        return Part(tree)

    def parts(self, *path: str) -> "Iterator[Part]":
        """Yield the parts of a mapping or a list of them."""
        *names, last = path
        branch = self.part(*names).tree[last]
        every = branch.values() if isinstance(branch, Mapping) else branch
        for one in every if isinstance(every, Iterable) else ():
            if isinstance(one, Mapping):
                yield Part(one)

    def figure(self, *path: str) -> Figure:
        """Return the figure under the names; `KeyError` where there is none."""
        *names, last = path
        found = self.part(*names).tree[last]
        if not isinstance(found, Figure):
            raise KeyError(last)
        return found

    def count(self, *path: str) -> int:
        """Return the count under the names, 0 where nothing is counted under the last."""
        *names, last = path
        found = self.part(*names).tree.get(last, 0)
        return found if isinstance(found, int) else 0

    def numbers(self, name: str) -> list[float]:
        """Return a list of numbers of this part."""
        found = self.tree[name]
        return [one for one in found if isinstance(one, float)] if isinstance(found, list) else []

    def text(self, name: str) -> str:
        """Return a word of this part."""
        return str(self.tree[name])

    @property
    def total(self) -> int:
        """The sum of all counts of this part."""
        return sum(value for value in self.tree.values() if isinstance(value, int))


class RunMetrics(Part):
    """All figures of a run; `ai-psychiatrist evaluate metrics --list` says what each means."""

    def as_json(self) -> dict[str, object]:
        """Return them as plain values."""
        found: dict[str, object] = to_jsonable_python(self.tree)
        return found

    def to_bytes(self) -> bytes:
        """Return them as strict JSON; the same run gives the same bytes."""
        return to_json(self.tree, indent=2) + b"\n"
