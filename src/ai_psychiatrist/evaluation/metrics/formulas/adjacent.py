from ai_psychiatrist.evaluation.metrics.registry import Better, Row, Scale, metric
from ai_psychiatrist.evaluation.metrics.totals import Severities
from ai_psychiatrist.statistics.measure import Measure, ratio


@metric(
    on={Severities: Row(4, "Right or one band off, of the decided")},
    source="Kroenke et al. 2009",
    better=Better.HIGHER,
    scale=Scale.SHARE,
)
def adjacent(bands: Severities) -> Measure:
    """Share of decided units whose band is at most one off."""
    return ratio(
        (bands.is_both & (bands.distance <= 1)).sum(axis=1), bands.answered, undefined=bands.no_pair
    )
