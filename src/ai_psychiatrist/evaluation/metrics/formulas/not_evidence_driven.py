from ai_psychiatrist.evaluation.metrics.drive import AllDrivenItems, DrivenItems
from ai_psychiatrist.evaluation.metrics.registry import Better, Row, Scale, metric
from ai_psychiatrist.statistics.measure import Measure


@metric(
    on={
        DrivenItems: None,
        AllDrivenItems: Row(
            1, "Scores that the evidence does not drive", "of those with a verdict"
        ),
    },
    better=Better.LOWER,
    scale=Scale.SHARE,
)
def not_evidence_driven(items: DrivenItems) -> Measure:
    """Share of scored items with a verdict whose score the cited evidence does not drive."""
    return items.share(items.is_not_driven, items.has_verdict)
