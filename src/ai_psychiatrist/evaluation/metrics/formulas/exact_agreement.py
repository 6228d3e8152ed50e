from ai_psychiatrist.evaluation.metrics.items import AllItems, RatedItems, ScoredItems
from ai_psychiatrist.evaluation.metrics.pairs import Pairs
from ai_psychiatrist.evaluation.metrics.registry import Better, Row, Scale, metric
from ai_psychiatrist.statistics.measure import Measure, ratio


@metric(
    on={
        AllItems: Row(6, "Exactly right", "of the scored items"),
        ScoredItems: None,
        RatedItems: Row(3, "Same score"),
    },
    better=Better.HIGHER,
    scale=Scale.SHARE,
)
def exact_agreement(pairs: Pairs) -> Measure:
    """Share of scored items whose score is the label."""
    return ratio(pairs.is_right.sum(axis=1), pairs.answered, undefined=pairs.no_pair)
