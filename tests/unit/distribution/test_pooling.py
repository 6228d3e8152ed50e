import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai_psychiatrist.distribution.scores import normalised, pooled
from ai_psychiatrist.domain.belief import BeliefSource

RULES, RESCORING, TOKENS = BeliefSource.RULES, BeliefSource.RESCORING, BeliefSource.TOKENS

shares = st.lists(st.floats(0.001, 1), min_size=5, max_size=5).map(normalised)


@given(shares)
def test_a_source_alone_is_believed_as_it_is(one: tuple[float, ...]) -> None:
    assert pooled({RULES: one}).probabilities == pytest.approx(one)


@given(shares)
def test_sources_that_agree_are_no_surer_than_one(one: tuple[float, ...]) -> None:
    assert pooled({RULES: one, TOKENS: one}).probabilities == pytest.approx(one)


@given(shares, shares)
def test_the_pool_is_the_geometric_mean(one: tuple[float, ...], other: tuple[float, ...]) -> None:
    means = [math.sqrt(left * right) for left, right in zip(one, other, strict=True)]
    pool = pooled({RULES: one, RESCORING: other})
    assert pool.probabilities == pytest.approx(normalised(means))
    assert pool.sources == (RULES, RESCORING)


def test_a_share_near_nothing_neither_overflows_nor_vanishes() -> None:
    tiny = (1.0, 1e-300, 1e-300, 1e-300, 1e-300)
    assert pooled({RULES: tiny, TOKENS: tiny[::-1]}).probabilities == pytest.approx(
        [0.5, 0, 0, 0, 0.5], abs=1e-6
    )
