"""The report as one HTML file that needs nothing else: no network, no script, no other file."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.evaluation.report.comparison import Comparison
from ai_psychiatrist.evaluation.report.figure_row import grouped
from ai_psychiatrist.evaluation.report.page import Page, page_of
from ai_psychiatrist.evaluation.scores.prediction import UnitPrediction
from ai_psychiatrist.infrastructure.private_files import write_whole


def write_report(
    folder: Path,
    *,
    metrics: Mapping[str, object],
    predictions: Sequence[UnitPrediction],
    provenance: Mapping[str, object],
    out: Path,
    comparisons: Sequence[Comparison] = (),
) -> None:
    """Write the report of the run in `folder`; the same inputs give the same bytes.

    `metrics` is the parsed document of `compute_metrics`, `provenance` the run's own record. The
    file appears whole or not at all. Raises `InputError` when the metrics have not the form of this
    version, or the file cannot be written.
    """
    page = page_of(
        folder.resolve().name,
        document=metrics,
        predictions=predictions,
        provenance=provenance,
        comparisons=comparisons,
    )
    content = render(page).encode("utf-8", errors="replace")
    try:
        write_whole(out, [content])
    except OSError:
        raise InputError(f"cannot write the report to {str(out)!r}", field="out") from None


def render(page: Page) -> str:
    """Return the page as HTML; every value is escaped."""
    from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415 - an extra

    environment = Environment(
        loader=PackageLoader("ai_psychiatrist.evaluation.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["grouped"] = grouped
    return environment.get_template("report.html.j2").render(page=page)
