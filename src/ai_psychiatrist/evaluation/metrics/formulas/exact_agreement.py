"""The share of scores that are the label."""

from ai_psychiatrist.evaluation.metrics.items import AllItems, RatedItems, ScoredItems
from ai_psychiatrist.evaluation.metrics.pairs import Pairs
from ai_psychiatrist.evaluation.metrics.registry import Better, Row, metric
from ai_psychiatrist.evaluation.metrics.scale import Scale
from ai_psychiatrist.statistics.measure import Measure, ratio


@metric(
    on={
        AllItems: Row(title="Exactly right", note="of the scored items", place=6),
        ScoredItems: None,
        RatedItems: Row(title="Same score", place=3),
    },
    definition="Share of scored items whose score is the label.",
    better=Better.HIGHER,
    scale=Scale.SHARE,
)
def exact_agreement(pairs: Pairs) -> Measure:
    """Of the pairs alone."""
    return ratio(pairs.is_right.sum(axis=1), pairs.answered, undefined=pairs.no_pair)
