from ai_psychiatrist.evaluation.metrics.items import NO_LABEL
from ai_psychiatrist.evaluation.metrics.registry import Better, Row, metric
from ai_psychiatrist.evaluation.metrics.selective import RankedItems
from ai_psychiatrist.statistics import risk_coverage
from ai_psychiatrist.statistics.measure import Measure


@metric(
    on={
        RankedItems: Row(
            1, "AURC over full coverage", "unknown items first, 3 points each; less is better"
        )
    },
    source="Geifman, Uziel & El-Yaniv 2019",
    better=Better.LOWER,
)
def charged_aurc(items: RankedItems) -> Measure:
    """(1/n) Σ R(k), k = 1 … n, with R(k) the mean loss of the first k of all n labelled items:
    unknown ones first with loss 3, the others by falling confidence.
    """
    return items.measure(
        lambda found: risk_coverage.aurc(found.charged), n=items.asked, undefined=NO_LABEL
    )
