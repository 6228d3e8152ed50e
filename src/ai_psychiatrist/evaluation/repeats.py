"""Runs repeated under the same prompts and models, as groups: mean and spread over the repeats."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean, stdev
from typing import TYPE_CHECKING

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.evaluation.measuring import figures_of_run
from ai_psychiatrist.evaluation.runs.run_folder import RunFolder
from ai_psychiatrist.evaluation.runs.run_list import RunName, name_of, refuse_incomparable

if TYPE_CHECKING:
    from ai_psychiatrist.evaluation.metrics.run_metrics import RunMetrics


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """One figure over repeats of a run; those in which it is not defined are left out."""

    title: str
    values: tuple[float, ...]

    @property
    def mean(self) -> float | None:
        """`None` where no repeat has the figure."""
        return fmean(self.values) if self.values else None

    @property
    def deviation(self) -> float | None:
        """The standard deviation (n - 1); `None` of fewer than two."""
        return stdev(self.values) if len(self.values) > 1 else None

    def as_json(self) -> dict[str, object]:
        """Return mean, deviation and the values."""
        return {"mean": self.mean, "deviation": self.deviation, "values": list(self.values)}


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatedRun:
    """All repeats of a run."""

    runs: tuple[RunName, ...]
    """They differ in folder and repeat alone."""
    figures: Mapping[str, Spread]
    """By where they lie in `metrics.json`."""

    def __str__(self) -> str:
        """Name what the repeats have in common."""
        first = self.runs[0]
        return f"{first.model}, {first.mode}, prompts {first.wording}, {len(self.runs)} repeats"

    def as_json(self) -> dict[str, object]:
        """Return names and figures."""
        return {
            "runs": [asdict(name) for name in self.runs],
            "figures": {key: spread.as_json() for key, spread in self.figures.items()},
        }


def repeated_runs(folders: Sequence[Path]) -> list[RepeatedRun]:
    """Group runs, and those in folders of runs, by what they were made with.

    Raises `InputError` for a folder without runs, and `ArtifactMismatch` for runs over other texts
    or labels than the first one's.
    """
    runs = [run for folder in folders for run in RunFolder(folder).runs()]
    if len(runs) < 2:
        raise InputError("there is only one run; name another one", field="RUN2")
    for other in runs[1:]:
        refuse_incomparable(runs[0], other)
    groups: dict[tuple[str, str, str], list[RunFolder]] = {}
    for run in runs:
        name = name_of(run)
        groups.setdefault((name.model, name.mode, name.wording), []).append(run)
    return [_repeated(group) for group in groups.values()]


def _repeated(runs: Sequence[RunFolder]) -> RepeatedRun:
    found = [list(_figures(figures_of_run(run))) for run in runs]
    return RepeatedRun(
        runs=tuple(map(name_of, runs)),
        figures={
            of_all[0][0]: Spread(
                title=of_all[0][1], values=tuple(value for *_, value in of_all if value is not None)
            )
            for of_all in zip(*found, strict=True)
        },
    )


def _figures(metrics: "RunMetrics") -> Iterator[tuple[str, str, float | None]]:
    """Yield where each figure lies in `metrics.json`, its title, and its value."""
    # What measures is an extra.
    from ai_psychiatrist.evaluation.metrics.kinds import (  # noqa: PLC0415
        AllItems,
        Severities,
        TotalRanges,
    )
    from ai_psychiatrist.evaluation.metrics.metric import shown_on  # noqa: PLC0415
    from ai_psychiatrist.evaluation.metrics.outcomes import (  # noqa: PLC0415
        EvidenceFound,
        Outcomes,
    )

    items = ("mae_charged", "mae", "coverage", "quadratic_kappa")
    for section, kind, keys in (
        ("items", AllItems, items),
        ("totals.range", TotalRanges, ("midpoint_mae",)),
        ("severity", Severities, ("exact_undecidable_as_wrong",)),
        ("evidence", EvidenceFound, ("units_with_a_symptom",)),
        ("failures", Outcomes, ("units_with_any",)),
    ):
        titles = {metric.key: row.title for metric, row in shown_on(kind)}
        figures = metrics.part(*section.split("."))
        yield from ((f"{section}.{key}", titles[key], figures.figure(key).value) for key in keys)
