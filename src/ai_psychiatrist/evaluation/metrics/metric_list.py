"""Every metric in words: its formula, its kinds of data, its source."""

import textwrap
from collections.abc import Iterator
from typing import Final

from ai_psychiatrist.evaluation.metrics.metric import Metric, all_metrics
from ai_psychiatrist.evaluation.metrics.scale import Better

_WIDTH: Final = 100
SOURCES: Final = (
    (
        "Barlow, Bartholomew, Bremner & Brunk 1972. Statistical Inference under Order "
        "Restrictions. Wiley."
    ),
    (
        "Bland & Altman 1986. Statistical methods for assessing agreement between two methods of "
        "clinical measurement. Lancet 327:307–310."
    ),
    (
        "Brier 1950. Verification of forecasts expressed in terms of probability. Mon Weather Rev"
        " 78:1–3."
    ),
    (
        "Brodersen, Ong, Stephan & Buhmann 2010. The balanced accuracy and its posterior "
        "distribution. ICPR."
    ),
    (
        "Bröcker & Smith 2007. Increasing the reliability of reliability diagrams. Weather "
        "Forecast 22:651–661."
    ),
    (
        "Bröcker 2012. Estimating reliability and resolution of probability forecasts through "
        "decomposition of the empirical score. Clim Dyn 39:655–667."
    ),
    "Cohen 1968. Weighted kappa. Psychol Bull 70:213–220.",
    "Efron 1987. Better bootstrap confidence intervals. J Am Stat Assoc 82:171–185.",
    "Geifman & El-Yaniv 2017. Selective classification for deep neural networks. NeurIPS.",
    (
        "Geifman, Uziel & El-Yaniv 2019. Bias-reduced uncertainty estimation for deep neural "
        "classifiers. ICLR."
    ),
    "Guo, Pleiss, Sun & Weinberger 2017. On calibration of modern neural networks. ICML.",
    "Hanley & McNeil 1982. The meaning and use of the area under a ROC curve. Radiology 143:29–36.",
    "Hesterberg 2015. What teachers should know about the bootstrap. Am Stat 69:371–386.",
    (
        "Kroenke, Strine, Spitzer, Williams, Berry & Mokdad 2009. The PHQ-8. J Affect Disord "
        "114:163–173."
    ),
    "Kumar, Liang & Ma 2019. Verified uncertainty calibration. NeurIPS.",
    (
        "Lin 1989. A concordance correlation coefficient to evaluate reproducibility. Biometrics "
        "45:255–268."
    ),
    "Pearson 1896. Regression, heredity and panmixia. Phil Trans R Soc A 187:253–318.",
    (
        "Spearman 1904. The proof and measurement of association between two things. Am J Psychol"
        " 15:72–101."
    ),
    (
        "Traub et al. 2024. Overcoming common flaws in the evaluation of selective classification"
        " systems. NeurIPS."
    ),
    "van Rijsbergen 1979. Information Retrieval. Butterworths.",
)
"""What metrics, intervals and calibration are taken from, in full."""


def metric_list() -> Iterator[str]:
    """Yield lines: each metric, then the sources in full."""
    for one in all_metrics():
        yield from _told(one)
    yield "sources:"
    for source in SOURCES:
        yield from _wrapped(source)


def _told(metric: Metric) -> Iterator[str]:
    yield metric.key
    yield from _wrapped(metric.definition)
    kinds = ", ".join(kind.__name__ for kind in metric.on)
    better = "" if metric.better is Better.NEITHER else f"; {metric.better.value} is better"
    yield from _wrapped(f"of {kinds}{better}; interval from {metric.smallest_n} participants on")
    if metric.source:
        yield from _wrapped(metric.source)
    yield ""


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, _WIDTH, initial_indent="  ", subsequent_indent="    ")
