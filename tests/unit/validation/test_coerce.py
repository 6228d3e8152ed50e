import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai_psychiatrist.validation.checks.coercion.text_values import WholeNumber, read_whole_number


@pytest.mark.parametrize(
    ("value", "number", "coerced"),
    [
        pytest.param(0, 0, False, id="lowest"),
        pytest.param(3, 3, False, id="highest"),
        pytest.param("2", 2, True, id="string"),
        pytest.param(" 2 ", 2, True, id="string_with_space"),
        pytest.param("2.0", 2, True, id="string_of_a_float"),
        pytest.param(2.0, 2, True, id="integral_float"),
    ],
)
def test_whole_numbers_of_the_scale_are_read(value: object, number: int, coerced: bool) -> None:
    assert read_whole_number(value, low=0, high=3) == WholeNumber(value=number, coerced=coerced)


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(True, id="true"),
        pytest.param(False, id="false"),
        pytest.param(-1, id="below"),
        pytest.param(4, id="above"),
        pytest.param(2.5, id="fraction"),
        pytest.param(math.nan, id="nan"),
        pytest.param(math.inf, id="infinity"),
        pytest.param(1e300, id="huge_float"),
        pytest.param(10**400, id="huge_integer"),
        pytest.param("2.5", id="string_of_a_fraction"),
        pytest.param("-1", id="negative_string"),
        pytest.param("2/3", id="ratio"),
        pytest.param("2 or 3", id="two_numbers"),
        pytest.param("two", id="word"),
        pytest.param("2\n3", id="two_lines"),
        pytest.param("1" * 5000, id="endless_digits"),
        pytest.param("", id="empty"),
        pytest.param("N/A", id="not_available"),
        pytest.param(None, id="null"),
        pytest.param([2], id="list"),
        pytest.param({"score": 2}, id="object"),
    ],
)
def test_anything_else_is_not_read(value: object) -> None:
    assert read_whole_number(value, low=0, high=3) is None


@given(st.one_of(st.integers(), st.floats(), st.text(), st.booleans()))
def test_reading_twice_changes_nothing(value: object) -> None:
    once = read_whole_number(value, low=0, high=3)
    if once is None:
        assert isinstance(value, bool) or value not in range(4)
        return
    again = read_whole_number(once.value, low=0, high=3)
    assert again == WholeNumber(value=once.value, coerced=False)
