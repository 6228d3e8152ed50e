"""What a metric is: one decorated function, in the module of its family.

It takes a kind of data (`AllItems`, `Severities`, …) and returns what its figure is computed from.
Sections, the report's tables and the list of metrics take all metrics of a kind from here.
"""

import textwrap
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Final, TypeAlias, TypeVar

from ai_psychiatrist.evaluation.metrics.run_metrics import Better, Scale
from ai_psychiatrist.statistics.measure import SMALLEST_N, Measure

Found: TypeAlias = Measure | Mapping[str, Measure]
Function = TypeVar("Function", bound=Callable[..., Found])


@dataclass(frozen=True, slots=True)
class Row:
    """What a metric is called in the report's table of one kind of data."""

    place: int
    """Rows stand in this order."""
    title: str
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """One figure, wherever it is measured."""

    key: str
    """In `metrics.json`; the name of the function."""
    measure: Callable[..., Found]
    on: Mapping[type, Row | None]
    """The kinds of data that have it; `None` where the report does not show it."""
    definition: str
    source: str | None
    """Author, year and where; `None` for what needs none."""
    better: Better
    scale: Scale | None
    """`None` for the points of the data itself."""
    is_signed: bool
    """Whether those points may be below 0."""
    smallest_n: int
    """Participants that an interval, and with it a verdict, needs."""

    def scale_on(self, kind: type) -> Scale:
        """Return what it is measured in there."""
        points: Scale = getattr(kind, "points", Scale.UNIT)
        return self.scale or (points.signed if self.is_signed else points)


_FAMILIES: Final = "ai_psychiatrist.evaluation.metrics.compute"
"""Imports every family of metrics."""
_METRICS: Final[dict[str, Metric]] = {}


def metric(
    *,
    on: Mapping[type, Row | None],
    better: Better,
    source: str | None = None,
    scale: Scale | None = None,
    is_signed: bool = False,
    smallest_n: int = SMALLEST_N,
) -> Callable[[Function], Function]:
    """Declare a function to be a metric: its name is the key, its first paragraph what it is."""

    def declare(function: Function) -> Function:
        _METRICS[function.__name__] = Metric(
            key=function.__name__,
            measure=function,
            on=on,
            definition=" ".join((function.__doc__ or "").split("\n\n")[0].split()),
            source=source,
            better=better,
            scale=scale,
            is_signed=is_signed,
            smallest_n=smallest_n,
        )
        return function

    return declare


def all_metrics() -> list[Metric]:
    """Return every metric, by key."""
    import_module(_FAMILIES)
    return [_METRICS[key] for key in sorted(_METRICS)]


def shown_on(kind: type) -> list[tuple[Metric, Row]]:
    """Return the metrics that the report shows of a kind of data, in the order of their rows."""
    found = []
    for one in all_metrics():
        row = next((one.on[parent] for parent in kind.__mro__ if parent in one.on), None)
        if row is not None:
            found.append((one, row))
    return sorted(found, key=lambda shown: shown[1].place)


def measured(data: object) -> dict[str, Found]:
    """Return all metrics of some data, by key."""
    found: dict[str, Found] = {}
    for one in all_metrics():
        if isinstance(data, tuple(one.on)):
            value, smallest = one.measure(data), one.smallest_n
            found[one.key] = (
                replace(value, smallest_n=smallest)
                if isinstance(value, Measure)
                else {key: replace(part, smallest_n=smallest) for key, part in value.items()}
            )
    return found


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
