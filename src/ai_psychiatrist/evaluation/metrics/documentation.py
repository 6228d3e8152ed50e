"""The table of all metrics for `docs/metrics.md`; `python -m` prints it."""

from collections.abc import Iterator
from typing import Final

from ai_psychiatrist.evaluation.metrics.registry import RegisteredMetric, all_metrics

HEADER: Final = (
    "| figure | of | definition | better | least n | source |",
    "| --- | --- | --- | --- | ---: | --- |",
)


def metrics_table() -> Iterator[str]:
    """Yield the lines of the table, one metric each."""
    yield from HEADER
    yield from map(_row, all_metrics())


def _row(metric: RegisteredMetric) -> str:
    kinds = ", ".join(f"`{kind.__name__}`" for kind in metric.on)
    definition = metric.definition.replace("|", "\\|")
    better = metric.better.value if metric.better.value != "neither" else "–"
    return (
        f"| `{metric.key}` | {kinds} | {definition} | {better} | {metric.smallest_n} | "
        f"{metric.source or '–'} |"
    )


if __name__ == "__main__":
    print("\n".join(metrics_table()))  # noqa: T201  what it is run for
