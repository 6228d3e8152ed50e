import numpy as np

from ai_psychiatrist.evaluation.metrics.formulas.pearson import correlation
from ai_psychiatrist.evaluation.metrics.items import RatedItems
from ai_psychiatrist.evaluation.metrics.registry import Better, Row, Scale, metric
from ai_psychiatrist.statistics.arrays import Array
from ai_psychiatrist.statistics.measure import Measure


@metric(
    on={
        RatedItems: Row(
            7,
            "Largest correlation with one rater",
            "of scores without any error; no run can be shown to do better",
        )
    },
    source="Spearman 1904",
    better=Better.NEITHER,
    scale=Scale.AGREEMENT,
)
def largest_correlation(pairs: RatedItems) -> Measure:
    """√r of two raters' correlation r: what error-free scores correlate with one rater.

    The attenuation by one rater's noise, when both raters are equally noisy.
    """
    return pairs.of_moments(_root, undefined="the raters do not agree beyond chance")


def _root(sums: Array) -> Array:
    shared = correlation(sums)
    root: Array = np.sqrt(np.where(shared >= 0, shared, np.nan))
    return root
