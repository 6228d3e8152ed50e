"""Which items were scored, and why the others were not, over all units of a run: bars."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from ai_psychiatrist.agents.baseline import BASELINE
from ai_psychiatrist.agents.pydantic_agents import EVIDENCE
from ai_psychiatrist.domain.phq8 import UnknownReason
from ai_psychiatrist.evaluation.metrics.outcomes import SCORED
from ai_psychiatrist.evaluation.metrics.run_metrics import Counts, RunMetrics
from ai_psychiatrist.evaluation.report.wording import of, percent
from ai_psychiatrist.results.wording import UNKNOWN_REASONS, nothing_found_by

_NAMES: Final[Mapping[str, str]] = {
    SCORED: "scored",
    UnknownReason.NO_MENTION: UNKNOWN_REASONS[UnknownReason.NO_MENTION],
    UnknownReason.UNCLEAR: "two readings stand, or an answer was not read",
    UnknownReason.SCORE_NA_WITH_EVIDENCE: "model abstained despite evidence",
    UnknownReason.NO_GROUNDED_EVIDENCE: "no quote accepted as evidence",
    UnknownReason.NOT_ABOUT_ITEM: "about something else",
    UnknownReason.ONLY_DENIED_OR_PAST: "only denied or past",
    UnknownReason.ZERO_WITHOUT_DENIAL: "scored 0 without a denial",
    UnknownReason.NOT_EXAMINED: "not read: its language, or a failure",
    UnknownReason.SCORING_FAILED: "scoring failed",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class BarStretch:
    """One stretch of a bar, 0-100."""

    name: str
    shade: str
    start: float
    width: float
    count: int
    amount: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """One item, or all of them, over all units."""

    name: str
    scored: str
    parts: tuple[BarStretch, ...]
    """Those that occur in any item."""

    @property
    def spoken(self) -> str:
        """The bar as one phrase."""
        return ", ".join(f"{part.name} {part.amount}" for part in self.parts if part.count)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownItems:
    """The section on what was scored; there are bars where there are units."""

    summary: str
    bars: tuple[Bar, ...]


def unknown_items_of(metrics: RunMetrics) -> UnknownItems:
    """Return one bar for each item, none when there are no units."""
    found, names = (
        metrics.coverage_by_reason,
        {**_NAMES, UnknownReason.NO_MENTION: _nothing(metrics)},
    )
    present = [key for key in _NAMES if found.all[key]]
    if not present:
        return UnknownItems(summary="There are no units.", bars=())
    return UnknownItems(
        summary=f"Scored: {of(found.all[SCORED], found.all.total)} items of all units, with or "
        "without a label. An unknown item is not a 0.",
        bars=tuple(_bar(one.label, one, present, names) for one in found.by_item.values()),
    )


def _nothing(metrics: RunMetrics) -> str:
    """Return who found nothing: the rules, a model, or now one and now the other."""
    looked = {
        one.model
        for one in metrics.cost.by_agent_and_model
        if one.agent == EVIDENCE.name and one.accepted
    }
    is_of_both = BASELINE in looked and len(looked) > 1
    return nothing_found_by(None if is_of_both else next(iter(looked), None))


def _bar(name: str, counts: Counts, keys: list[str], names: Mapping[str, str]) -> Bar:
    parts, start = [], 0
    for key in keys:
        part = BarStretch(
            name=names[key],
            shade="c-scored" if key == SCORED else f"c{list(_NAMES).index(key)}",
            start=round(100 * start / counts.total, 3),
            width=round(100 * counts[key] / counts.total, 3),
            count=counts[key],
            amount=of(counts[key], counts.total),
        )
        parts.append(part)
        start += part.count
    return Bar(name=name, scored=percent(counts[SCORED], counts.total), parts=tuple(parts))
