"""What sets of scores hold over many cohorts: how much, how that varies, and when it breaks.

`python -m benchmarks.conformal` simulates people whose items rise and fall together, and a rater
who is off for each of them by an amount of its own. Thresholds of sets are made from cohorts of
them; the sets then meet people of the same kind, and people of another.
"""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ai_psychiatrist.distribution.scores import strangeness, total_interval
from ai_psychiatrist.domain.belief import BeliefSource, ItemBelief
from ai_psychiatrist.evaluation.calibration_fit import threshold

LEVEL: Final = 0.9
SIZES: Final = (41, 100, 400)
ITEMS: Final = 8
_CUTS: Final = np.array([-0.3, 0.6, 1.4])
"""Where a latent severity becomes the next score."""
_TOGETHER: Final = 0.7
"""How far items share one severity."""
_OFF: Final = 0.45
"""By how much the rater is off for a person, as a standard deviation."""
_NOISE: Final = 0.5
"""And for an item."""
_DOUBT: Final = 0.75
"""How unsure the rater says that it is."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class People:
    """Those whom a rater rates."""

    shares: Floats
    """(people, items, 4): what the rater believes."""
    truth: NDArray[np.intp]
    """(people, items)."""

    @property
    def strange(self) -> Floats:
        """(people, items): how much a set holds when it takes in the truth."""
        flat = zip(self.shares.reshape(-1, 4).tolist(), self.truth.ravel().tolist(), strict=True)
        return np.array([strangeness(shares, truth) for shares, truth in flat]).reshape(
            self.truth.shape
        )


def people(count: int, *, seed: int, said: float = 0.0) -> People:
    """Make people up. `said`: by how much all of them say less than there is."""
    random = np.random.default_rng(seed)
    severity = random.normal(size=(count, 1))
    apart = random.normal(size=(count, ITEMS))
    latent = _TOGETHER * severity + np.sqrt(1 - _TOGETHER**2) * apart
    seen = latent - said + _OFF * random.normal(size=(count, 1))
    seen = seen + _NOISE * random.normal(size=(count, ITEMS))
    below = 1 / (1 + np.exp(-(_CUTS - seen[..., None]) / (_DOUBT * 0.55)))
    edges = np.ones((count, ITEMS, 1))
    shares = np.diff(np.concatenate([0 * edges, below, edges], axis=2), axis=2)
    return People(shares=shares, truth=(latent[..., None] > _CUTS).sum(axis=2))


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """What share of truths the sets of many cohorts held."""

    size: int
    coverages: Floats

    @property
    def mean(self) -> float:
        """Over the cohorts."""
        return float(self.coverages.mean())

    @property
    def spread(self) -> float:
        """Their standard deviation."""
        return float(self.coverages.std())


def held(
    size: int, fitted: Floats, met: Floats, *, cohorts: int, level: float = LEVEL, seed: int = 0
) -> Held:
    """Return the coverage over `met` of sets made from cohorts of so many people of `fitted`."""
    random, ranked = np.random.default_rng(seed), np.sort(met.ravel())
    place = int(np.ceil((size * ITEMS + 1) * level - 1e-9)) - 1
    owners = np.repeat(np.arange(size), ITEMS)
    coverages = []
    for count in _batches(cohorts, size):
        drawn = random.integers(len(fitted), size=(count, size))
        strange = fitted[drawn].reshape(count, -1)
        limits = np.partition(strange, place, axis=1)[:, place]
        # All cohorts at once; the program's own threshold is the same.
        assert limits[0] == threshold(strange[0], owners, level)
        coverages.append(np.searchsorted(ranked, limits, side="right") / len(ranked))
    return Held(size=size, coverages=np.concatenate(coverages))


def _batches(cohorts: int, size: int) -> Iterator[int]:
    most = max(1, 2_000_000 // (size * ITEMS))
    for start in range(0, cohorts, most):
        yield min(most, cohorts - start)


@cache
def cohort_of(count: int, seed: int, said: float = 0.0) -> Floats:
    """Return how strange the truths of so many people are."""
    return people(count, seed=seed, said=said).strange


def totals_held(count: int, *, together: float, level: float = LEVEL, seed: int = 5) -> float:
    """Return how often the interval by convolution holds the total.

    `together`: correlation of what the beliefs leave open of the items of a person, 0 to 1.
    """
    random = np.random.default_rng(seed)
    shares = people(count, seed=seed + 1).shares
    shared, apart = random.normal(size=(count, 1)), random.normal(size=(count, ITEMS))
    mixed = np.sqrt(together) * shared + np.sqrt(1 - together) * apart
    drawn = 0.5 * (1 + np.tanh(mixed * 0.7978845608 * (1 + 0.044715 * mixed**2)))
    scores = (drawn[..., None] > np.cumsum(shares, axis=2)[..., :3]).sum(axis=2)
    found = 0
    for own, total in zip(shares.tolist(), scores.sum(axis=1).tolist(), strict=True):
        interval = total_interval([_belief(one) for one in own], level)
        found += interval.low <= total <= interval.high
    return found / count


def _belief(shares: Sequence[float]) -> ItemBelief:
    first, second, third, fourth = shares
    return ItemBelief(
        scores=(first, second, third, fourth), not_determinable=0.0, sources=(BeliefSource.RULES,)
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables; asserts that sets hold what they say, and break where they must."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cohorts", type=int, default=10_000)
    parser.add_argument("--people", type=int, default=20_000)
    given = parser.parse_args(arguments)
    fitted, met = cohort_of(given.people, 1), cohort_of(given.people, 2)
    print(f"Sets at {LEVEL:.0%}, {given.cohorts:,} cohorts of each size:\n")
    print("| people in the cohort | truths held, mean | spread (sd) | worst cohort |")
    print("| --- | --- | --- | --- |")
    for size in SIZES:
        one = held(size, fitted, met, cohorts=given.cohorts)
        print(f"| {size} | {one.mean:.3f} | {one.spread:.3f} | {one.coverages.min():.3f} |")
        assert abs(one.mean - LEVEL) < 0.01
    print("\nThe same sets among people who say less than there is, cohorts of 100:\n")
    print("| said less by | truths held, mean |")
    print("| --- | --- |")
    for said in (0.0, 0.25, 0.5, 1.0):
        other = cohort_of(given.people, 3, said)
        one = held(100, fitted, other, cohorts=min(given.cohorts, 1_000))
        print(f"| {said} | {one.mean:.3f} |")
    assert one.mean < LEVEL - 0.1
    print("\nTotals by convolution at 90%, where what is left open of the items is correlated:\n")
    print("| correlation | totals held |")
    print("| --- | --- |")
    for together in (0.0, 0.2, 0.5):
        print(f"| {together} | {totals_held(8_000, together=together):.3f} |")


if __name__ == "__main__":
    main()
