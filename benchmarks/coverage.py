"""How often 95 % intervals hold the truth, over made-up cohorts whose truth is known.

A participant's sessions share four fifths of the variance of severity and of error. Intervals over
participants stand beside those of the same resamples of sessions, as percentiles.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from ai_psychiatrist.domain.phq8 import severity_of
from ai_psychiatrist.evaluation.metrics.agreement import quadratic_kappa
from ai_psychiatrist.evaluation.metrics.kinds import Severities
from ai_psychiatrist.evaluation.metrics.totals import CUTOFF
from ai_psychiatrist.statistics.arrays import Array
from ai_psychiatrist.statistics.bootstrap import Bootstrap, Owners, estimate
from ai_psychiatrist.statistics.intervals import INTERVAL, figure_of
from ai_psychiatrist.statistics.measure import Measure, ratio
from ai_psychiatrist.statistics.ranking import auroc
from benchmarks.simulation import print_table

PARTICIPANTS: Final = (10, 20, 41, 100)
SESSIONS: Final = (1, 3)
BATCH: Final = 40
"""Cohorts that are resampled together, from a seed of their own."""
SHARED: Final = 0.8
"""Share of the variance that the sessions of a participant have in common."""
_BANDS: Final = np.array([severity_of(total) for total in range(25)], dtype=np.float64)
_LARGE: Final = 400_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """What became of the intervals of one figure in one kind of cohort."""

    figure: str
    participants: int
    sessions: int
    given: float
    """The share of cohorts that have an interval."""
    covered: float
    """The share of those that hold the truth."""
    covered_by_session: float
    """The same of percentiles of resamples that draw sessions, in the same cohorts."""


def measures_of(participants: int, sessions: int, draw: np.random.Generator) -> dict[str, Measure]:
    """Make up a cohort of totals and predicted totals, and measure three figures, by unit."""

    def wave() -> Array:
        shared = draw.normal(size=(participants, 1))
        own = draw.normal(size=(participants, sessions))
        mixed: Array = (np.sqrt(SHARED) * shared + np.sqrt(1 - SHARED) * own).ravel()
        return mixed

    truth = np.clip(np.rint(8 + 6 * wave()), 0, 24)
    said = np.clip(np.rint(truth + 3.5 * wave()), 0, 24)
    everyone = np.ones(len(truth), dtype=np.bool_)
    pairs = Severities.beside(*(_BANDS[totals.astype(np.intp)] for totals in (said, truth)))
    return {
        "mean absolute error": ratio(np.abs(said - truth), everyone, undefined=""),
        "quadratic kappa": quadratic_kappa(pairs),
        "AUROC": auroc(said, truth >= CUTOFF, truth < CUTOFF, undefined=""),
    }


def truths() -> dict[str, float]:
    """Return the figures of so large a cohort that they are the truth of all others."""
    found = measures_of(_LARGE, 1, np.random.default_rng(0))
    sums = {
        name: one.statistics.sum(axis=0, dtype=np.float64)[:, None] for name, one in found.items()
    }
    return {name: float(one.combine(sums[name])[0]) for name, one in found.items()}


def coverage(
    participants: int, sessions: int, *, truth: Mapping[str, float], cohorts: int, resamples: int
) -> Iterator[Coverage]:
    """Yield each figure's coverage over that many cohorts."""
    draw = np.random.default_rng([participants, sessions])
    owners = np.repeat(np.arange(participants), sessions)
    held: dict[str, list[tuple[bool, bool, bool]]] = {name: [] for name in truth}
    for start in range(0, cohorts, BATCH):
        some = [
            measures_of(participants, sessions, draw) for _ in range(min(BATCH, cohorts - start))
        ]
        for name, known in truth.items():
            measures = [one[name] for one in some]
            held[name] += _held(measures, owners, known, resamples=resamples, seed=start)
    for name, rows in held.items():
        given, covered, by_session = np.array(rows).T
        yield Coverage(
            figure=name,
            participants=participants,
            sessions=sessions,
            given=float(given.mean()),
            covered=float(covered[given].mean()),
            covered_by_session=float(by_session[given].mean()),
        )


def _held(
    measures: Sequence[Measure], owners: Owners, truth: float, *, resamples: int, seed: int
) -> Iterator[tuple[bool, bool, bool]]:
    """Yield, by cohort: whether there is an interval, and whether it and the old one hold."""
    people = Bootstrap(owners=owners, resamples=resamples, seed=seed)
    units = Bootstrap(owners=np.arange(len(owners)), resamples=resamples, seed=seed)
    outside = (1 - INTERVAL) / 2
    found, old = estimate(measures, people), estimate(measures, units)
    for measure, one, before in zip(measures, found, old, strict=True):
        interval = figure_of(measure, one).interval
        defined = before.samples[~np.isnan(before.samples)]
        ends = np.quantile(defined, [outside, 1 - outside]) if len(defined) else (np.nan, np.nan)
        is_held = interval is not None and interval[0] <= truth <= interval[1]
        yield interval is not None, is_held, bool(ends[0] <= truth <= ends[1])


def rows(*, cohorts: int, resamples: int) -> Iterator[str]:
    """Yield the lines of the table."""
    truth = truths()
    yield "| figure | participants | sessions each | covered | has one | percentiles of sessions |"
    yield "| --- | ---: | ---: | ---: | ---: | ---: |"
    for sessions in SESSIONS:
        for participants in PARTICIPANTS:
            for one in coverage(
                participants, sessions, truth=truth, cohorts=cohorts, resamples=resamples
            ):
                yield (
                    f"| {one.figure} | {participants} | {sessions} | {one.covered:.1%} | "
                    f"{one.given:.1%} | {one.covered_by_session:.1%} |"
                )


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    print_table(rows, name="coverage", description=__doc__, arguments=arguments)


if __name__ == "__main__":
    main()
