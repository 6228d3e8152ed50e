from ai_psychiatrist.evaluation.metrics.items import AllItems, RatedItems, ScoredItems
from ai_psychiatrist.evaluation.metrics.pairs import Pairs
from ai_psychiatrist.evaluation.metrics.registry import Better, Row, Scale, metric
from ai_psychiatrist.evaluation.metrics.totals import Severities
from ai_psychiatrist.statistics import kappa
from ai_psychiatrist.statistics.measure import Measure


@metric(
    on={
        AllItems: Row(7, "Quadratic kappa", "of the scored items; 0 is chance"),
        ScoredItems: Row(3, "Quadratic kappa"),
        RatedItems: Row(4, "Quadratic kappa"),
        Severities: Row(5, "Quadratic kappa"),
    },
    source="Cohen 1968",
    better=Better.HIGHER,
    scale=Scale.AGREEMENT,
)
def quadratic_kappa(pairs: Pairs) -> Measure:
    """Agreement beyond chance with quadratic weights: 1 − n·Σ(x−y)² ÷ (n·Σx² + n·Σy² − 2·Σx·Σy).

    With squared distances as weights the table of agreement counts through its moments only.
    """
    return pairs.of_moments(
        kappa.quadratic_kappa,
        undefined="only one value occurs, so there is no agreement beyond chance to measure",
    )
