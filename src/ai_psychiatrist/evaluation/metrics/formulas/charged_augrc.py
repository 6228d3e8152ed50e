from ai_psychiatrist.evaluation.metrics.items import NO_LABEL
from ai_psychiatrist.evaluation.metrics.registry import Better, Row, metric
from ai_psychiatrist.evaluation.metrics.selective import RankedItems
from ai_psychiatrist.statistics import risk_coverage
from ai_psychiatrist.statistics.measure import Measure


@metric(
    on={
        RankedItems: Row(
            2, "AUGRC over full coverage", "as above, without weighting the surest items more"
        )
    },
    source="Traub et al. 2024",
    better=Better.LOWER,
)
def charged_augrc(items: RankedItems) -> Measure:
    """(1/n) Σ L(k)/n, k = 1 … n, with L(k) the summed loss of the first k items in the order of
    `charged_aurc`.
    """
    return items.measure(
        lambda found: risk_coverage.augrc(found.charged), n=items.asked, undefined=NO_LABEL
    )
