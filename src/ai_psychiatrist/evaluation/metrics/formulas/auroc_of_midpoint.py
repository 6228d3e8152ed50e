"""How well the middle of the range orders cases and controls."""

from ai_psychiatrist.evaluation.metrics.binary import ONE_CLASS, RangeClassifier
from ai_psychiatrist.evaluation.metrics.registry import Better, Row, metric
from ai_psychiatrist.evaluation.metrics.scale import Scale
from ai_psychiatrist.statistics.auroc import auroc
from ai_psychiatrist.statistics.measure import Measure


@metric(
    on={RangeClassifier: Row(title="AUROC of the range's midpoint", note="0.5 is chance", place=8)},
    definition="How often a case has a higher middle of its range than a control, ties counting "
    "half; a failed unit has the middle of the scale, 12.",
    source="Hanley & McNeil 1982",
    better=Better.HIGHER,
    scale=Scale.UNIT,
)
def auroc_of_midpoint(found: RangeClassifier) -> Measure:
    """Over all labelled units."""
    return auroc(found.middle, found.is_case, found.is_control, undefined=ONE_CLASS)
