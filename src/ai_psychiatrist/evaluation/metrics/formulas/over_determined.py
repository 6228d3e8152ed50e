from ai_psychiatrist.evaluation.metrics.drive import AllDrivenItems, DrivenItems
from ai_psychiatrist.evaluation.metrics.registry import Better, Row, Scale, metric
from ai_psychiatrist.statistics.measure import Measure


@metric(
    on={
        DrivenItems: None,
        AllDrivenItems: Row(2, "Scores that other words carry as well", "over-determined"),
    },
    better=Better.NEITHER,
    scale=Scale.SHARE,
)
def over_determined(items: DrivenItems) -> Measure:
    """Share of scored items with a verdict that stand on the cited words and on others alike."""
    return items.share(items.is_over_determined, items.has_verdict)
