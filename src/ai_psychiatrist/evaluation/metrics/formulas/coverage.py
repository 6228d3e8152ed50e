from ai_psychiatrist.evaluation.metrics.binary import Classifier
from ai_psychiatrist.evaluation.metrics.items import AllItems, RatedItems, ScoredItems
from ai_psychiatrist.evaluation.metrics.pairs import Pairs
from ai_psychiatrist.evaluation.metrics.registry import Better, Row, Scale, metric
from ai_psychiatrist.evaluation.metrics.totals import ExactTotals, Severities
from ai_psychiatrist.statistics.measure import Measure, ratio


@metric(
    on={
        AllItems: Row(5, "Labelled items that were scored"),
        ScoredItems: Row(1, "Scored"),
        RatedItems: Row(1, "Labelled items that were rated twice"),
        ExactTotals: Row(1, "Totals without an unknown item", "those below rest on these alone"),
        Severities: Row(2, "Band decided"),
        Classifier: Row(1, "Decided"),
    },
    better=Better.NEITHER,
    scale=Scale.SHARE,
)
def coverage(data: Pairs | Classifier) -> Measure:
    """Answered ÷ labelled: scored items, exact totals, decided bands or decided units."""
    return ratio(data.answered, data.asked, undefined=data.no_truth)
