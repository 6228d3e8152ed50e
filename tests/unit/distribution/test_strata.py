import numpy as np
import pytest

from ai_psychiatrist.distribution.scores import WHOLE, least_people
from ai_psychiatrist.evaluation.calibration_fit import stratum_of, threshold


def drawn(people: int, seed: int = 0, most: int = 4) -> tuple[np.ndarray, ...]:
    """Strangeness with ties, truths and owners of people of one to `most` interviews of 8 items."""
    random = np.random.default_rng(seed)
    owners = np.repeat(np.arange(people), 8 * random.integers(1, most + 1, size=people))
    owners = random.permutation(owners)
    strange = np.round(random.beta(2, 1, size=len(owners)), 2)
    return strange, random.integers(4, size=len(owners)), owners


@pytest.mark.parametrize(("count", "place"), [(9, 9), (19, 18), (99, 90)])
def test_the_threshold_is_the_rank_that_one_more_case_makes_fair(count: int, place: int) -> None:
    strange = np.arange(count, 0, -1) / 1000
    assert threshold(strange, np.arange(count), 0.9) == place / 1000


@pytest.mark.parametrize(("level", "people"), [(0.5, 1), (0.8, 4), (0.9, 9), (0.99, 99)])
def test_too_few_people_let_every_score_in(level: float, people: int) -> None:
    """However many items they have: those of one person may be all alike."""
    assert least_people(level) == people
    strange, truths, owners = drawn(people)
    assert threshold(strange, owners, level) < WHOLE
    few = owners < people - 1
    if few.any():
        assert threshold(strange[few], owners[few], level) == WHOLE
    found = stratum_of(strange, truths, owners, level)
    assert found.coverage == 1


def test_a_person_of_many_interviews_weighs_as_one() -> None:
    strange = np.concatenate([np.linspace(0, 0.5, 99), np.full(10_000, 0.9)])
    owners = np.concatenate([np.arange(99), np.full(10_000, 99)])
    assert threshold(strange, owners, 0.9) < 0.5


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("level", [0.5, 0.8, 0.9])
def test_the_coverage_is_of_thresholds_that_the_others_give(seed: int, level: float) -> None:
    strange, truths, owners = drawn(24, seed)
    held = np.empty(len(strange))
    for person in range(24):
        own = owners == person
        held[own] = strange[own] <= threshold(strange[~own], owners[~own], level)
    shares = [held[owners == person].mean() for person in range(24)]
    found = stratum_of(strange, truths, owners, level)
    assert found.coverage == pytest.approx(np.mean(shares))
    assert found.spread == pytest.approx(np.std(shares, ddof=1) / np.sqrt(24))
    wanted = [held[truths == score].mean() for score in range(4)]
    assert found.coverage_by_score == pytest.approx(wanted)


def test_of_a_score_that_nobody_has_nothing_is_told() -> None:
    strange, truths, owners = drawn(24)
    found = stratum_of(strange, np.minimum(truths, 2), owners, 0.9)
    assert found.coverage_by_score[3] is None


def test_many_people_are_no_heavier_than_sorting_them() -> None:
    """With a pass over all for each person this would take days."""
    strange, truths, owners = drawn(50_000, most=1)
    strange = strange + np.linspace(0, 1e-3, len(strange))
    assert stratum_of(strange, truths, owners, 0.9).coverage == pytest.approx(0.9, abs=0.01)
