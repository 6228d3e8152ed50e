from ai_psychiatrist.evaluation.metrics.binary import ONE_CLASS, RangeClassifier
from ai_psychiatrist.evaluation.metrics.registry import Better, Row, Scale, metric
from ai_psychiatrist.statistics.auroc import auroc
from ai_psychiatrist.statistics.measure import Measure


@metric(
    on={RangeClassifier: Row(8, "AUROC of the range's midpoint", "0.5 is chance")},
    source="Hanley & McNeil 1982",
    better=Better.HIGHER,
    scale=Scale.UNIT,
)
def auroc_of_midpoint(found: RangeClassifier) -> Measure:
    """How often a case has a higher middle of its range than a control, ties counting half; a
    failed unit has the middle of the scale, 12.
    """
    return auroc(found.middle, found.is_case, found.is_control, undefined=ONE_CLASS)
