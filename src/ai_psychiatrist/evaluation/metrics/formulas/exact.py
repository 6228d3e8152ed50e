from ai_psychiatrist.evaluation.metrics.registry import Better, Row, Scale, metric
from ai_psychiatrist.evaluation.metrics.totals import Severities
from ai_psychiatrist.statistics.measure import Measure, ratio


@metric(
    on={Severities: Row(3, "Band right, of the decided")},
    source="Kroenke et al. 2009",
    better=Better.HIGHER,
    scale=Scale.SHARE,
)
def exact(bands: Severities) -> Measure:
    """Share of decided units with the right band."""
    return ratio((bands.is_right).sum(axis=1), bands.answered, undefined=bands.no_pair)
