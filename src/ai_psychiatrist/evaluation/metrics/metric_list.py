"""Every metric in words: its formula, its kinds of data, its source."""

import textwrap
from collections.abc import Iterator
from typing import Final

from ai_psychiatrist.evaluation.metrics.registry import Better, RegisteredMetric, all_metrics
from ai_psychiatrist.evaluation.metrics.sources import SOURCES

_WIDTH: Final = 100


def metric_list() -> Iterator[str]:
    """Yield lines: each metric, then the sources in full."""
    for one in all_metrics():
        yield from _told(one)
    yield "sources:"
    for source in SOURCES:
        yield from _wrapped(source)


def _told(metric: RegisteredMetric) -> Iterator[str]:
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
