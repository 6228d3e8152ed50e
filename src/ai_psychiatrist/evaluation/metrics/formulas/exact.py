"""How often a decided band is right."""

from ai_psychiatrist.evaluation.metrics.registry import Better, Row, metric
from ai_psychiatrist.evaluation.metrics.scale import Scale
from ai_psychiatrist.evaluation.metrics.totals import Severities
from ai_psychiatrist.statistics.measure import Measure, ratio


@metric(
    on={Severities: Row(title="Band right, of the decided", place=3)},
    definition="Share of decided units with the right band.",
    source="Kroenke et al. 2009",
    better=Better.HIGHER,
    scale=Scale.SHARE,
)
def exact(bands: Severities) -> Measure:
    """Bands of the PHQ-8."""
    return ratio((bands.is_right).sum(axis=1), bands.answered, undefined=bands.no_pair)
