from ai_psychiatrist.evaluation.metrics.calibration import Forecast
from ai_psychiatrist.evaluation.metrics.registry import Better, Row, Scale, metric
from ai_psychiatrist.statistics.auroc import auroc
from ai_psychiatrist.statistics.measure import Measure


@metric(
    on={Forecast: Row(6, "Tells right from wrong (AUROC)", "0.5 is chance")},
    source="Hanley & McNeil 1982",
    better=Better.HIGHER,
    scale=Scale.UNIT,
)
def auroc_of_right(found: Forecast) -> Measure:
    """How often a right score has a higher signal than a wrong one."""
    return auroc(
        found.signal,
        found.where & found.is_right,
        found.where & ~found.is_right,
        undefined="all scores are right, or none is, or there are none",
    )
