"""How much of what was asked has an answer."""

from ai_psychiatrist.evaluation.metrics.binary import Classifier
from ai_psychiatrist.evaluation.metrics.items import AllItems, RatedItems, ScoredItems
from ai_psychiatrist.evaluation.metrics.pairs import Pairs
from ai_psychiatrist.evaluation.metrics.registry import Better, Row, metric
from ai_psychiatrist.evaluation.metrics.scale import Scale
from ai_psychiatrist.evaluation.metrics.totals import ExactTotals, Severities
from ai_psychiatrist.statistics.measure import Measure, ratio


@metric(
    on={
        AllItems: Row(title="Labelled items that were scored", place=5),
        ScoredItems: Row(title="Scored", place=1),
        RatedItems: Row(title="Labelled items that were rated twice", place=1),
        ExactTotals: Row(
            title="Totals without an unknown item", note="those below rest on these alone", place=1
        ),
        Severities: Row(title="Band decided", place=2),
        Classifier: Row(title="Decided", place=1),
    },
    definition="Answered ÷ labelled: scored items, exact totals, decided bands or decided units.",
    better=Better.NEITHER,
    scale=Scale.SHARE,
)
def coverage(data: Pairs | Classifier) -> Measure:
    """No error means anything without it."""
    return ratio(data.answered, data.asked, undefined=data.no_truth)
