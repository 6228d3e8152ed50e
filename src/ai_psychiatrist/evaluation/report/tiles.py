"""The four figures that stand large at the top."""

from dataclasses import dataclass
from typing import Final

from ai_psychiatrist.evaluation.report.figure_row import Shown, show
from ai_psychiatrist.evaluation.report.figures import Metrics, Scale


@dataclass(frozen=True, slots=True, kw_only=True)
class Tile:
    """One large figure."""

    title: str
    shown: Shown
    counted: str
    """What its n counts."""


_LABELLED: Final = (
    ("items.mae_charged", "Mean item error, unknown items charged", Scale.ITEM_POINTS, "items"),
    ("items.mae", "Mean error of the scored items", Scale.ITEM_POINTS, "items"),
    ("items.coverage", "Labelled items that were scored", Scale.SHARE, "items"),
    (
        "binary.from_total.undecided_as_wrong.balanced_accuracy",
        "Balanced accuracy at a total of\u00a010, undecided as wrong",
        Scale.SHARE,
        "participants",
    ),
)
_UNLABELLED: Final = (
    ("evidence.units_with_a_symptom", "Conversations with a symptom", Scale.SHARE, "units"),
    ("evidence.symptoms_per_unit", "Symptoms per conversation, of\u00a08", Scale.ITEMS, "units"),
    (
        "evidence.items_with_evidence_per_unit",
        "Items with accepted evidence, of\u00a08",
        Scale.ITEMS,
        "units",
    ),
    ("failures.units_failed", "Units that failed", Scale.SHARE, "units"),
)


def tiles_of(metrics: Metrics) -> tuple[Tile, ...]:
    """Return errors where there are labels, rates of evidence where there are none."""
    chosen = _LABELLED if metrics.count("units.labelled") else _UNLABELLED
    if metrics.count("units.predicted") == 0:
        return ()
    return tuple(
        Tile(title=title, shown=show(metrics.figure(path), scale), counted=counted)
        for path, title, scale, counted in chosen
    )
