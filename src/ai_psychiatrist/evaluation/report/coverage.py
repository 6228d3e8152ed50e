"""Which items were scored, and why the others were not, over all units of a run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ai_psychiatrist.domain.phq8 import Item, UnknownReason
from ai_psychiatrist.evaluation.report.figure_row import grouped, of, percent
from ai_psychiatrist.evaluation.report.figures import Metrics

_PARTS: Final[Mapping[str, str]] = {
    "scored": "scored",
    UnknownReason.NO_MENTION: "never mentioned",
    UnknownReason.SCORE_NA_WITH_EVIDENCE: "model abstained despite evidence",
    UnknownReason.NO_GROUNDED_EVIDENCE: "no quote accepted as evidence",
    UnknownReason.NOT_ABOUT_ITEM: "about something else",
    UnknownReason.ONLY_DENIED_OR_PAST: "only denied or past",
    UnknownReason.ZERO_WITHOUT_DENIAL: "scored 0 without a denial",
    UnknownReason.NOT_EXAMINED: "in a language that is not read",
    UnknownReason.SCORING_FAILED: "scoring failed",
}
_SHADES: Final = ("c-scored", *(f"c{place}" for place in range(1, len(_PARTS))))


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One stretch of a bar, 0-100."""

    name: str
    shade: str
    start: float
    width: float
    amount: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """One item over all units."""

    name: str
    scored: str
    parts: tuple[Part, ...]
    counts: tuple[str, ...]
    """In the order of the legend."""

    @property
    def spoken(self) -> str:
        """The bar as one phrase."""
        return ", ".join(f"{part.name} {part.amount}" for part in self.parts) or "no units"


@dataclass(frozen=True, slots=True, kw_only=True)
class LegendEntry:
    """What a shade means."""

    name: str
    shade: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverageChart:
    """The section on what was scored."""

    summary: str
    legend: tuple[LegendEntry, ...]
    rows: tuple[Bar, ...]


def coverage_of(metrics: Metrics) -> CoverageChart:
    """Return one bar for each item, none when there are no units."""
    present = [key for key in _PARTS if metrics.count(f"coverage_by_reason.all.{key}")]
    shades = dict(zip(_PARTS, _SHADES, strict=True))
    scored = metrics.count("coverage_by_reason.all.scored")
    every = sum(metrics.count(f"coverage_by_reason.all.{key}") for key in _PARTS)
    if every == 0:
        return CoverageChart(summary="There are no units.", legend=(), rows=())
    return CoverageChart(
        summary=f"Scored: {of(scored, every)} items of all units, with or without a label. "
        "An unknown item is not a 0.",
        legend=tuple(LegendEntry(name=_PARTS[key], shade=shades[key]) for key in present),
        rows=tuple(_bar(metrics, item, present, shades) for item in Item),
    )


def _bar(metrics: Metrics, item: Item, keys: Sequence[str], shades: Mapping[str, str]) -> Bar:
    path = f"coverage_by_reason.by_item.{item.value}"
    counts = [metrics.count(f"{path}.{key}") for key in keys]
    whole = sum(counts)
    parts = [
        Part(
            name=_PARTS[key],
            shade=shades[key],
            start=round(100 * sum(counts[:place]) / whole, 3),
            width=round(100 * count / whole, 3),
            amount=of(count, whole),
        )
        for place, (key, count) in enumerate(zip(keys, counts, strict=True))
        if count
    ]
    return Bar(
        name=item.label,
        scored=percent(metrics.count(f"{path}.scored"), whole),
        parts=tuple(parts),
        counts=tuple(map(grouped, counts)),
    )
