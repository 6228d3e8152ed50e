"""Everything that the template shows, in the order of the page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.evaluation.report.account import Cost, Failures, cost_of, failures_of
from ai_psychiatrist.evaluation.report.comparison import Comparison
from ai_psychiatrist.evaluation.report.confusion import Confusion, confusion_of
from ai_psychiatrist.evaluation.report.coverage import CoverageChart, coverage_of
from ai_psychiatrist.evaluation.report.definitions import NOTICE, TERMS, Term
from ai_psychiatrist.evaluation.report.evidence import EvidenceRates, evidence_of
from ai_psychiatrist.evaluation.report.figure_row import Shown, show
from ai_psychiatrist.evaluation.report.figures import Metrics, Scale
from ai_psychiatrist.evaluation.report.headline import headline_of
from ai_psychiatrist.evaluation.report.panels import Panel, panels_of
from ai_psychiatrist.evaluation.report.provenance import Block, Entry, blocks_of, facts_of, value_at
from ai_psychiatrist.evaluation.report.rows import Group
from ai_psychiatrist.evaluation.report.sentences import reading_of
from ai_psychiatrist.evaluation.report.tiles import Tile, tiles_of
from ai_psychiatrist.evaluation.report.units import UnitTable, units_of
from ai_psychiatrist.evaluation.scores.prediction import UnitPrediction


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemRow:
    """The error of one item beside its coverage."""

    name: str
    error: Shown
    coverage: Shown


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """An entry of the table of contents."""

    anchor: str
    title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """The report; a part that the run has nothing for is empty or `None`."""

    title: str
    facts: tuple[Entry, ...]
    reading: tuple[str, ...]
    tiles: tuple[Tile, ...]
    headline: tuple[Group, ...]
    panels: tuple[Panel, ...]
    items: tuple[ItemRow, ...]
    confusion: Confusion | None
    coverage: CoverageChart
    evidence: EvidenceRates
    failures: Failures
    cost: Cost
    comparisons: Sequence[Comparison]
    units: UnitTable
    provenance: tuple[Block, ...]
    definitions: tuple[Term, ...] = TERMS
    notice: str = NOTICE

    @property
    def contents(self) -> tuple[Link, ...]:
        """The sections that the page has."""
        sections = (
            ("figures", "Figures", self.headline),
            ("risk-coverage", "Risk and coverage", self.panels),
            ("items", "Items", self.items),
            ("severities", "Severities", self.confusion),
            ("coverage", "What was scored", True),
            ("evidence", self.evidence.title, True),
            ("failures", "Failures", True),
            ("cost", "Cost", True),
            ("comparison", "Other runs", self.comparisons),
            ("units", "Units", self.units.rows),
            ("provenance", "Provenance", True),
            ("definitions", "Definitions", True),
        )
        return tuple(Link(anchor=anchor, title=title) for anchor, title, has in sections if has)


def page_of(
    run_name: str,
    *,
    document: Mapping[str, object],
    predictions: Sequence[UnitPrediction],
    provenance: Mapping[str, object],
    comparisons: Sequence[Comparison] = (),
) -> Page:
    """Lay out the report. Raises `InputError` when the metrics have another form."""
    metrics = Metrics(document)
    about_depression = value_at(provenance, "dataset", "concerns_depression") is not False
    headline, failures = headline_of(metrics), failures_of(metrics)
    return Page(
        title=f"Evaluation on {value_at(provenance, 'dataset', 'name') or 'an unnamed dataset'}",
        facts=facts_of(run_name, provenance),
        reading=reading_of(
            metrics,
            headline,
            failures,
            concerns_depression=about_depression,
            not_read=_not_read(provenance),
        ),
        tiles=tiles_of(metrics),
        headline=headline,
        panels=panels_of(metrics) if headline else (),
        items=_items(metrics) if headline else (),
        confusion=_confusion(metrics) if headline else None,
        coverage=coverage_of(metrics),
        evidence=evidence_of(metrics, concerns_depression=about_depression),
        failures=failures,
        cost=cost_of(metrics),
        comparisons=comparisons,
        units=units_of(predictions),
        provenance=blocks_of(provenance),
    )


def _not_read(provenance: Mapping[str, object]) -> int:
    counts = value_at(provenance, "dataset", "not_read")
    known = counts.values() if isinstance(counts, Mapping) else ()
    return sum(count for count in known if type(count) is int)


def _items(metrics: Metrics) -> tuple[ItemRow, ...]:
    if metrics.count("items.counts.labelled") == 0:
        return ()
    return tuple(
        ItemRow(
            name=item.label,
            error=show(metrics.figure(f"items.by_item.{item.value}.mae"), Scale.ITEM_POINTS),
            coverage=show(metrics.figure(f"items.by_item.{item.value}.coverage"), Scale.SHARE),
        )
        for item in Item
    )


def _confusion(metrics: Metrics) -> Confusion | None:
    return confusion_of(metrics.matrix("severity.confusion.counts"))
