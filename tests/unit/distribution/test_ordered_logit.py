import numpy as np
import pytest

from ai_psychiatrist.statistics.ordered_logit import fit_ordered_logit

WEIGHTS = np.array([1.5, -1.0, 0.0])
CUTS = np.array([-1.0, 0.5, 2.0])


def planted(count: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    features = random.normal(size=(count, 3))
    noise = random.logistic(size=count)
    answers = (features @ WEIGHTS + noise)[:, None] > CUTS
    return features, answers.sum(axis=1)


def test_planted_weights_and_thresholds_are_found() -> None:
    features, answers = planted(20_000)
    found = fit_ordered_logit(features, answers, count=4, ridge=1.0)
    assert found.weights / found.scales == pytest.approx(WEIGHTS, abs=0.05)
    shift = (found.means / found.scales) @ found.weights
    assert found.thresholds + shift == pytest.approx(CUTS, abs=0.05)


def test_probabilities_add_up_and_match_the_frequencies() -> None:
    features, answers = planted(5_000)
    shares = fit_ordered_logit(features, answers, count=4, ridge=1.0).probabilities(features)
    assert shares.sum(axis=1) == pytest.approx(1)
    assert shares.mean(axis=0) == pytest.approx(np.bincount(answers) / 5_000, abs=0.01)


def test_an_answer_that_never_occurs_stays_possible() -> None:
    features, answers = planted(200)
    answers = np.minimum(answers, 2)
    shares = fit_ordered_logit(features, answers, count=4, ridge=1.0).probabilities(features)
    assert (shares[:, 3] > 0).all()


def test_a_feature_that_never_varies_weighs_nothing() -> None:
    features, answers = planted(500)
    features[:, 2] = 7.0
    found = fit_ordered_logit(features, answers, count=4, ridge=1.0)
    assert found.weights[2] == 0


def test_features_that_tell_all_do_not_run_away() -> None:
    answers = np.repeat(np.arange(4), 25)
    features = answers[:, None].astype(np.float64)
    found = fit_ordered_logit(features, answers, count=4, ridge=1.0)
    assert np.isfinite(found.weights).all()
    assert (np.argmax(found.probabilities(features), axis=1) == answers).all()


@pytest.mark.parametrize("count", [100, 320, 328, 1_000])
def test_a_feature_that_never_varied_weighs_nothing_when_it_does(count: int) -> None:
    """The mean of equal fractions is not quite any of them; what is left over is no spread."""
    features, answers = planted(count)
    features[:, 2] = np.log(0.111111)
    found = fit_ordered_logit(features, answers, count=4, ridge=1.0)
    seen = np.array([[0.0, 0.0, np.log(0.111111)]])
    for other in (np.log(1 / 9), np.log(0.5556)):
        unseen = np.array([[0.0, 0.0, other]])
        assert found.probabilities(unseen) == pytest.approx(found.probabilities(seen))
