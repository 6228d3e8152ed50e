"""Runs repeated under the same prompts and models, as groups: mean and spread over the repeats."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean, stdev
from typing import Final

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.evaluation.measuring import figures_of_run
from ai_psychiatrist.evaluation.runs.comparability import refuse_incomparable
from ai_psychiatrist.evaluation.runs.folder import RunFolder
from ai_psychiatrist.evaluation.runs.name import RunName, name_of

FIGURES: Final[Mapping[str, str]] = {
    "items.mae_charged": "Mean error, unknown items charged",
    "items.mae": "Mean error of the scored items",
    "items.coverage": "Labelled items that were scored",
    "items.quadratic_kappa": "Quadratic kappa of the items",
    "totals.range.midpoint_mae": "Mean error of the total's midpoint",
    "severity.exact_undecidable_as_wrong": "Severity band right, of all",
    "evidence.units_with_a_symptom": "Conversations with a symptom",
    "failures.units_with_any": "Units with any failure",
}
"""Where a figure lies in `metrics.json`, and what it is called."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """One figure over repeats of a run; those in which it is not defined are left out."""

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
    """By the keys of `FIGURES`."""

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
        raise InputError("there is one run alone; name another one beside it", field="RUN2")
    for other in runs[1:]:
        refuse_incomparable(runs[0], other)
    groups: dict[tuple[str, str, str], list[RunFolder]] = {}
    for run in runs:
        name = name_of(run)
        groups.setdefault((name.model, name.mode, name.wording), []).append(run)
    return [_repeated(group) for group in groups.values()]


def _repeated(runs: Sequence[RunFolder]) -> RepeatedRun:
    documents = [figures_of_run(run) for run in runs]
    return RepeatedRun(
        runs=tuple(map(name_of, runs)),
        figures={
            key: Spread(
                values=tuple(
                    value for found in documents if (value := _value(found, key)) is not None
                )
            )
            for key in FIGURES
        },
    )


def _value(document: Mapping[str, object], key: str) -> float | None:
    found: object = document
    for name in (*key.split("."), "value"):
        found = found.get(name) if isinstance(found, Mapping) else None
    return float(found) if isinstance(found, int | float) else None
