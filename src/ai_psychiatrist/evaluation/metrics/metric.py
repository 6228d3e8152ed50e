"""What a metric is: one decorated function, in the module of its family.

It takes a kind of data (`AllItems`, `Severities`, …) and returns what its figure is computed from.
Sections, the report's tables and the list of metrics take all metrics of a kind from here.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Final, TypeAlias, TypeVar

from ai_psychiatrist.evaluation.metrics.scale import Better, Scale
from ai_psychiatrist.statistics.measure import SMALLEST_N, Measure

Found: TypeAlias = Measure | Mapping[str, Measure]
Function = TypeVar("Function", bound=Callable[..., Found])


@dataclass(frozen=True, slots=True)
class Row:
    """What a metric is called in the report's table of one kind of data."""

    place: int
    """Rows stand in this order."""
    title: str
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """One figure, wherever it is measured."""

    key: str
    """In `metrics.json`; the name of the function."""
    measure: Callable[..., Found]
    on: Mapping[type, Row | None]
    """The kinds of data that have it; `None` where the report does not show it."""
    definition: str
    source: str | None
    """Author, year and where; `None` for what needs none."""
    better: Better
    scale: Scale | None
    """`None` for the points of the data itself."""
    is_signed: bool
    """Whether those points may be below 0."""
    smallest_n: int
    """Participants that an interval, and with it a verdict, needs."""

    def scale_on(self, kind: type) -> Scale:
        """Return what it is measured in there."""
        points: Scale = getattr(kind, "points", Scale.UNIT)
        return self.scale or (points.signed if self.is_signed else points)


_FAMILIES: Final = "ai_psychiatrist.evaluation.metrics.compute"
"""Imports every family of metrics."""
_METRICS: Final[dict[str, Metric]] = {}


def metric(
    *,
    on: Mapping[type, Row | None],
    better: Better,
    source: str | None = None,
    scale: Scale | None = None,
    is_signed: bool = False,
    smallest_n: int = SMALLEST_N,
) -> Callable[[Function], Function]:
    """Declare a function to be a metric: its name is the key, its first paragraph what it is."""

    def declare(function: Function) -> Function:
        _METRICS[function.__name__] = Metric(
            key=function.__name__,
            measure=function,
            on=on,
            definition=" ".join((function.__doc__ or "").split("\n\n")[0].split()),
            source=source,
            better=better,
            scale=scale,
            is_signed=is_signed,
            smallest_n=smallest_n,
        )
        return function

    return declare


def all_metrics() -> list[Metric]:
    """Return every metric, by key."""
    import_module(_FAMILIES)
    return [_METRICS[key] for key in sorted(_METRICS)]


def shown_on(kind: type) -> list[tuple[Metric, Row]]:
    """Return the metrics that the report shows of a kind of data, in the order of their rows."""
    found = []
    for one in all_metrics():
        row = next((one.on[parent] for parent in kind.__mro__ if parent in one.on), None)
        if row is not None:
            found.append((one, row))
    return sorted(found, key=lambda shown: shown[1].place)


def measured(data: object) -> dict[str, Found]:
    """Return all metrics of some data, by key."""
    found: dict[str, Found] = {}
    for one in all_metrics():
        if isinstance(data, tuple(one.on)):
            value, smallest = one.measure(data), one.smallest_n
            found[one.key] = (
                replace(value, smallest_n=smallest)
                if isinstance(value, Measure)
                else {key: replace(part, smallest_n=smallest) for key, part in value.items()}
            )
    return found
