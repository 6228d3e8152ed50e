import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai_psychiatrist.agents.prompts import quantitative
from ai_psychiatrist.domain.phq8 import (
    PHQ8_DOMAIN_KEYS,
    Item,
    Severity,
    severity_of,
    total_of,
)

UNKNOWN = None


def test_items_stand_in_the_order_of_the_instrument() -> None:
    assert PHQ8_DOMAIN_KEYS == (
        "PHQ8_NoInterest",
        "PHQ8_Depressed",
        "PHQ8_Sleep",
        "PHQ8_Tired",
        "PHQ8_Appetite",
        "PHQ8_Failure",
        "PHQ8_Concentrating",
        "PHQ8_Moving",
    )
    assert quantitative.PHQ8_DOMAIN_KEYS is PHQ8_DOMAIN_KEYS


def test_each_item_has_a_label_of_its_own() -> None:
    assert len({item.label for item in Item}) == 8


@pytest.mark.parametrize(
    ("lowest", "highest", "severity", "label", "is_mdd"),
    [
        (0, 4, Severity.MINIMAL, "minimal", False),
        (5, 9, Severity.MILD, "mild", False),
        (10, 14, Severity.MODERATE, "moderate", True),
        (15, 19, Severity.MODERATELY_SEVERE, "moderately severe", True),
        (20, 24, Severity.SEVERE, "severe", True),
    ],
)
def test_totals_fall_into_bands(
    lowest: int, highest: int, severity: Severity, label: str, is_mdd: bool
) -> None:
    assert {severity_of(total) for total in range(lowest, highest + 1)} == {severity}
    assert (severity.label, severity.is_mdd) == (label, is_mdd)


@pytest.mark.parametrize("total", [-1, 25])
def test_total_outside_the_instrument_has_no_band(total: int) -> None:
    with pytest.raises(ValueError, match="between 0 and 24"):
        severity_of(total)


def test_total_of_known_items_is_exact() -> None:
    total = total_of([3, 3, 2, 2, 1, 1, 0, 0])
    assert (total.total_score, total.severity) == (12, Severity.MODERATE)
    assert total.severity_lower_bound is total.severity_upper_bound is Severity.MODERATE


def test_total_is_a_range_when_an_item_is_unknown() -> None:
    total = total_of([3, 3, 2, UNKNOWN, 0, 0, 0, UNKNOWN])
    assert (total.total_score_min, total.total_score_max) == (8, 14)
    assert (total.total_score, total.severity) == (None, None)
    assert total.severity_lower_bound is Severity.MILD
    assert total.severity_upper_bound is Severity.MODERATE


def test_severity_stays_unknown_when_both_ends_fall_into_one_band() -> None:
    total = total_of([1, UNKNOWN, 0, 0, 0, 0, 0, 0])
    assert total.severity_lower_bound is total.severity_upper_bound is Severity.MINIMAL
    assert (total.total_score, total.severity) == (None, None)


def test_unknown_is_not_zero() -> None:
    assert total_of([UNKNOWN] * 8) != total_of([0] * 8)
    assert total_of([UNKNOWN] * 8).total_score_max == 24


@given(st.lists(st.one_of(st.none(), st.integers(0, 3)), min_size=8, max_size=8))
def test_range_holds_every_total_that_the_unknown_items_allow(scores: list[int | None]) -> None:
    total = total_of(scores)
    assert total.total_score_min == sum(score or 0 for score in scores)
    assert total.total_score_max == sum(3 if score is None else score for score in scores)
    assert total.severity_lower_bound <= total.severity_upper_bound
