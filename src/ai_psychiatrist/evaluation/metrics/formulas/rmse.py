from ai_psychiatrist.evaluation.metrics.registry import Better, Row, metric
from ai_psychiatrist.evaluation.metrics.totals import ExactTotals
from ai_psychiatrist.statistics.measure import Measure, root_of_ratio


@metric(on={ExactTotals: Row(3, "Root mean squared error")}, better=Better.LOWER)
def rmse(totals: ExactTotals) -> Measure:
    """Root of the mean squared error of exact totals."""
    squares = (totals.distance**2).sum(axis=1)
    return root_of_ratio(squares, totals.answered, undefined=totals.no_pair)
