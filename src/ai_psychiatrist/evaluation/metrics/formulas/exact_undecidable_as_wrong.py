from ai_psychiatrist.evaluation.metrics.registry import Better, Row, Scale, metric
from ai_psychiatrist.evaluation.metrics.totals import Severities
from ai_psychiatrist.statistics.measure import Measure, ratio


@metric(
    on={Severities: Row(1, "Severity band right, of all", "an undecidable band counts as wrong")},
    source="Kroenke et al. 2009",
    better=Better.HIGHER,
    scale=Scale.SHARE,
)
def exact_undecidable_as_wrong(bands: Severities) -> Measure:
    """Share of all labelled units with the right band."""
    return ratio((bands.is_right).sum(axis=1), bands.asked, undefined=bands.no_truth)
