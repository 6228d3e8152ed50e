from ai_psychiatrist.evaluation.metrics.drive import AllDrivenItems, DrivenItems
from ai_psychiatrist.evaluation.metrics.registry import Better, Row, Scale, metric
from ai_psychiatrist.statistics.measure import Measure


@metric(
    on={
        DrivenItems: None,
        AllDrivenItems: Row(3, "Scores without a verdict", "a call failed or no change was made"),
    },
    better=Better.LOWER,
    scale=Scale.SHARE,
)
def undetermined_drive(items: DrivenItems) -> Measure:
    """Share of the items that were scored again of which no verdict could be told."""
    return items.share(items.is_undetermined, items.has_verdict | items.is_undetermined)
