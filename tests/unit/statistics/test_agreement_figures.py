import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from ai_psychiatrist.statistics.alpha import MISSING, coincidences, ordinal_alpha
from ai_psychiatrist.statistics.arrays import Array
from ai_psychiatrist.statistics.kappa import mean_kappa, moments, quadratic_kappa


def alpha_of(values: list[list[int | None]], levels: int) -> float:
    table = np.array([[MISSING if one is None else one for one in row] for row in values], np.int8)
    sums = coincidences(table, levels=levels).sum(axis=0)[:, None]
    with np.errstate(invalid="ignore", divide="ignore"):
        return float(ordinal_alpha(levels)(sums)[0])


def naive_alpha(values: list[list[int | None]]) -> float:
    """Alpha by the definition: a table of coincidences in dictionaries, distances by summing."""
    together: dict[tuple[int, int], float] = {}
    for unit in zip(*values, strict=True):
        said = [one for one in unit if one is not None]
        for i, one in enumerate(said):
            for j, other in enumerate(said):
                if i != j:
                    cell = (one, other)
                    together[cell] = together.get(cell, 0.0) + 1 / (len(said) - 1)
    names = sorted({one for cell in together for one in cell})
    margin = {
        name: sum(count for (one, _), count in together.items() if one == name) for name in names
    }
    total = sum(margin.values())

    def distance(one: int, other: int) -> float:
        low, high = min(one, other), max(one, other)
        between = sum(margin[name] for name in names if low <= name <= high)
        return (between - (margin[low] + margin[high]) / 2) ** 2

    observed = sum(count * distance(*cell) for cell, count in together.items()) / total
    expected = sum(
        margin[one] * margin[other] * distance(one, other) for one in names for other in names
    ) / (total * (total - 1))
    return 1 - observed / expected


PUBLISHED: list[list[int | None]] = [
    [0, 1, 2, 2, 1, 0, 3, 0, 1, None, None, None],
    [0, 1, 2, 2, 1, 1, 3, 0, 1, 4, None, 2],
    [None, 2, 2, 2, 1, 2, 3, 1, 1, 4, 0, None],
    [0, 1, 2, 2, 1, 3, 3, 0, 1, 4, 0, None],
]
"""Krippendorff 2011, Computing Krippendorff's Alpha-Reliability, section D; values less one."""


def test_alpha_is_that_of_the_published_example_of_four_raters_with_missing_values() -> None:
    assert alpha_of(PUBLISHED, levels=5) == pytest.approx(0.815, abs=5e-4)


@pytest.mark.parametrize("seed", range(20))
def test_alpha_is_that_of_its_definition(seed: int) -> None:
    random = np.random.default_rng(seed)
    table = random.integers(-1, 4, size=(random.integers(2, 6), 30))
    values = [[None if one < 0 else int(one) for one in row] for row in table]
    assert alpha_of(values, levels=4) == pytest.approx(naive_alpha(values), abs=1e-12)


def test_alpha_of_one_value_or_of_one_rater_is_not_defined() -> None:
    assert np.isnan(alpha_of([[2, 2], [2, 2]], levels=4))
    assert np.isnan(alpha_of([[0, 1], [None, None]], levels=4))


def sums_of(x: Array, y: Array) -> Array:
    both = np.ones((len(x), 1), dtype=np.bool_)
    sums: Array = moments(x[:, None], y[:, None], both).sum(axis=0)[:, None]
    return sums


@pytest.mark.parametrize("seed", range(20))
def test_kappa_is_that_of_another_library(seed: int) -> None:
    random = np.random.default_rng(seed)
    x = random.integers(0, 4, size=40).astype(np.float64)
    y = np.clip(x + random.integers(-1, 2, size=40), 0, 3)
    found = quadratic_kappa(sums_of(x, y))[0]
    expected = cohen_kappa_score(x, y, weights="quadratic", labels=[0, 1, 2, 3])
    assert found == pytest.approx(expected, abs=1e-12)


def test_mean_of_kappas_weighs_pairs_of_raters_by_what_they_share_and_skips_undefined_ones() -> (
    None
):
    x, y = np.array([0.0, 1, 2, 3, 3, 1]), np.array([0.0, 1, 3, 3, 2, 1])
    halves, same = (slice(0, 4), slice(4, 6)), np.array([2.0, 2.0])
    kappas = [float(quadratic_kappa(sums_of(x[half], y[half]))[0]) for half in halves]
    together = np.concatenate(
        [*(sums_of(x[half], y[half]) for half in halves), sums_of(same, same)]
    )
    assert mean_kappa(together)[0] == pytest.approx((4 * kappas[0] + 2 * kappas[1]) / 6)
    with np.errstate(invalid="ignore"):
        assert np.isnan(mean_kappa(sums_of(same, same))[0])
