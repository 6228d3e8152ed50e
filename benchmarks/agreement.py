"""Whether agreement is found as it was planted: made-up raters whose errors are known.

A rater errs by a point in some answers and cannot tell others; of a tenth of the subjects both say
the same. Each subject has one interview or two. The truth is that of a very large cohort.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ai_psychiatrist.reviews.agreement_measures import PROGRAM, Coded, Compared
from ai_psychiatrist.statistics.alpha import MISSING
from ai_psychiatrist.statistics.bootstrap import Bootstrap, Owners, estimate
from ai_psychiatrist.statistics.intervals import figure_of
from benchmarks.simulation import print_table

SUBJECTS: Final = (20, 60)
ERRORS: Final = (0.2, 0.5)
"""Share of answers that a rater gets wrong by a point."""
FIGURES: Final = ("kappa", "alpha", "exact", "span_characters")
_CANNOT_TELL: Final = 0.1
_ALIKE: Final = 0.1
_LARGE: Final = 100_000
_ITEMS: Final = 8
_EVIDENCE: Final = 100

Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What became of the intervals of one figure."""

    figure: str
    subjects: int
    errors: float
    truth: float
    mean: float
    """Of the figure over all cohorts."""
    given: float
    """The share of cohorts that have an interval."""
    covered: float
    """The share of those that hold the truth."""


def cohort(subjects: int, errors: float, draw: np.random.Generator) -> tuple[Coded, Owners]:
    """Make up what two raters say of the interviews of so many subjects."""
    owners = np.repeat(np.arange(subjects), draw.integers(1, 3, size=subjects))
    cases = len(owners)
    severity = draw.normal(size=(subjects, 1))[owners]
    truth = np.clip(np.rint(1.5 + severity + draw.normal(size=(cases, _ITEMS))), 0, 3)
    is_alike = (draw.random(subjects) < _ALIKE)[owners]
    said = [_said(truth, errors, draw) for _ in range(2)]
    said[1][is_alike] = said[0][is_alike]
    starts = [draw.integers(0, _EVIDENCE, size=(cases, _ITEMS)) for _ in range(2)]
    program = np.full((cases, _ITEMS), MISSING)
    return _coded([*said, program], starts), owners


def _said(truth: NDArray[np.float64], errors: float, draw: np.random.Generator) -> Numbers:
    wrong = draw.choice([-1, 1], size=truth.shape) * (draw.random(truth.shape) < errors)
    said: Numbers = np.clip(truth + wrong, 0, 3).astype(np.int64)
    said[draw.random(truth.shape) < _CANNOT_TELL] = MISSING
    return said


def _coded(answers: Sequence[Numbers], starts: Sequence[Numbers]) -> Coded:
    """Lay out what each says of each case; an answer of a rater has one mark of a fixed length."""
    cases = len(answers[0])
    said = np.repeat([[True], [True], [False]], cases, axis=1)
    return Coded(
        coders=("rater 1", "rater 2", PROGRAM),
        answers=np.stack(answers).astype(np.int8),
        has_scores=said,
        has_marks=said,
        marks={
            (coder, case): [(item, start, start + _EVIDENCE) for item, start in enumerate(row)]
            for coder, of_coder in enumerate(starts)
            for case, row in enumerate(of_coder.tolist())
        },
    )


def compared(coded: Coded) -> Compared:
    """Compare the two raters, as the service does."""
    return Compared(coded=coded, with_program=False)


def truths(errors: float) -> dict[str, float]:
    """Return the figures of so large a cohort that they are the truth of all others."""
    coded, _ = cohort(_LARGE, errors, np.random.default_rng(0))
    measures = compared(coded).measures(slice(None))
    return {
        name: float(one.combine(one.statistics.sum(axis=0)[:, None])[0])
        for name, one in measures.items()
        if name in FIGURES
    }


def study(
    subjects: int, errors: float, *, truth: Mapping[str, float], cohorts: int, resamples: int
) -> Iterator[Found]:
    """Yield what became of each figure in that many cohorts."""
    draw = np.random.default_rng([subjects, round(100 * errors)])
    found: dict[str, list[tuple[float, bool, bool]]] = {name: [] for name in truth}
    for number in range(cohorts):
        coded, owners = cohort(subjects, errors, draw)
        measures = compared(coded).measures(slice(None))
        bootstrap = Bootstrap(owners=owners, resamples=resamples, seed=number)
        wanted = [measures[name] for name in truth]
        for name, one in zip(truth, estimate(wanted, bootstrap), strict=True):
            figure = figure_of(measures[name], one)
            low, high = figure.interval or (np.nan, np.nan)
            found[name].append((one.value, figure.interval is not None, low <= truth[name] <= high))
    for name, rows in found.items():
        values, given, held = (np.array(column) for column in zip(*rows, strict=True))
        yield Found(
            figure=name,
            subjects=subjects,
            errors=errors,
            truth=truth[name],
            mean=float(values.mean()),
            given=float(given.mean()),
            covered=float(held[given].mean()),
        )


def rows(*, cohorts: int, resamples: int) -> Iterator[str]:
    """Yield the lines of the table."""
    yield "| figure | subjects | answers wrong | planted | found, mean | covered | has one |"
    yield "| --- | ---: | ---: | ---: | ---: | ---: | ---: |"
    for errors in ERRORS:
        truth = truths(errors)
        for subjects in SUBJECTS:
            for one in study(subjects, errors, truth=truth, cohorts=cohorts, resamples=resamples):
                yield (
                    f"| {one.figure} | {subjects} | {errors:.0%} | {one.truth:.3f} | "
                    f"{one.mean:.3f} | {one.covered:.1%} | {one.given:.1%} |"
                )


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    print_table(rows, name="agreement", description=__doc__, arguments=arguments)


if __name__ == "__main__":
    main()
