"""What calibration errors are of signals that have none, and of signals that are off by a tenth."""

from collections.abc import Iterator, Sequence
from statistics import NormalDist
from typing import Final

import numpy as np

from ai_psychiatrist.evaluation.metrics.calibration import (
    Forecast,
    debiased_calibration_error,
    ece,
    ece_of_calibrated,
)
from ai_psychiatrist.statistics.arrays import Array
from ai_psychiatrist.statistics.bootstrap import Bootstrap, Estimate, estimate
from ai_psychiatrist.statistics.intervals import figure_of
from ai_psychiatrist.statistics.measure import Measure
from benchmarks.simulation import print_table

PARTICIPANTS: Final = (20, 41, 100)
SHIFTS: Final = (0.0, 0.1)
"""How much more often a score is right than the signal says."""
_ITEMS: Final = 8
_SHARED: Final = 0.3
_STATED: Final = (0.2, 0.35, 0.5, 0.62, 0.81)
_CUTS: Final = {
    shift: np.array([NormalDist().inv_cdf(stated + shift) for stated in _STATED])
    for shift in SHIFTS
}


def forecast_of(participants: int, shift: float, draw: np.random.Generator) -> Forecast:
    """Make up probabilities and outcomes; the eight outcomes of a participant go together."""
    stated = draw.integers(len(_STATED), size=(participants, _ITEMS))
    shared, own = draw.normal(size=(participants, 1)), draw.normal(size=(participants, _ITEMS))
    probability = np.array(_STATED)[stated]
    mixed = np.sqrt(_SHARED) * shared + np.sqrt(1 - _SHARED) * own
    return Forecast(
        where=np.ones(stated.shape, dtype=np.bool_),
        signal=probability,
        probability=probability,
        base_rate=probability,
        is_right=np.asarray(mixed < _CUTS[shift][stated], dtype=np.bool_),
        owners=np.arange(participants),
    )


def rows(*, cohorts: int, resamples: int) -> Iterator[str]:
    """Yield the lines of the table."""
    yield "| participants | off by | `ece` | of calibrated | debiased | its spread | covered |"
    yield "| ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
    for shift in SHIFTS:
        for participants in PARTICIPANTS:
            yield _row(participants, shift, cohorts=cohorts, resamples=resamples)


def _row(participants: int, shift: float, *, cohorts: int, resamples: int) -> str:
    draw = np.random.default_rng([participants, int(100 * shift)])
    plain, calibrated, debiased, held = [], [], [], []
    for cohort in range(cohorts):
        found = forecast_of(participants, shift, draw)
        bootstrap = Bootstrap(owners=found.owners, resamples=resamples, seed=cohort)
        measures = [ece(found), ece_of_calibrated(found), debiased_calibration_error(found)]
        first, second, third = estimate(measures, bootstrap)
        plain.append(first.value)
        calibrated.append(second.value)
        debiased.append(third.value)
        held.append(_holds(measures[2], third, shift**2))
    values: Array = np.array(debiased)
    return (
        f"| {participants} | {shift:.1f} | {np.mean(plain):.3f} | {np.mean(calibrated):.3f} | "
        f"{values.mean():+.4f} | {values.std():.4f} | {np.mean(held):.1%} |"
    )


def _holds(measure: Measure, found: Estimate, truth: float) -> bool:
    interval = figure_of(measure, found).interval
    return interval is not None and interval[0] <= truth <= interval[1]


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    print_table(rows, name="calibration_error", description=__doc__, arguments=arguments)


if __name__ == "__main__":
    main()
