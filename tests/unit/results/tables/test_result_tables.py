import csv
import io
import json
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fakes.full_results import AT, Given, example_result, result_with

from ai_psychiatrist.domain.phq8 import Item, UnknownReason
from ai_psychiatrist.results.tables import (
    ASSESSMENT_COLUMNS,
    ITEM_COLUMNS,
    ITEM_COLUMNS_WITH_WORDS,
    Row,
    TableFormat,
    assessment_row,
    csv_line,
    item_rows,
    written,
)

FORMULAS = (
    "=1+1",
    "+1",
    "-1",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "\n=1",
    "\0=1",
    "＝1",
    "'=1",
    " =1",
    "\xa0=1",
    "\u3000＝1",
    "\u200b+1",
    "\ufeff@A1",
    "\u202e-1",
    "\x1b=1",
    " \t \u2028=1",
)
NO_NUL = st.characters(exclude_characters="\0", codec="utf-8")


def read(content: bytes) -> list[list[str]]:
    """Return what any reader of CSV finds."""
    return list(csv.reader(io.StringIO(content.decode(), newline="")))


@pytest.mark.parametrize("text", FORMULAS)
def test_no_cell_of_text_begins_a_formula(text: str) -> None:
    line = csv_line([text])
    (cell,) = read(line)[0]
    assert cell == f"'{text}"


def test_numbers_stay_numbers_also_below_zero() -> None:
    assert csv_line([-1, -0.5, 3, None, True]) == b"-1,-0.5,3,,true\r\n"


@given(cells=st.lists(st.text(NO_NUL), min_size=2, max_size=5))
def test_every_text_comes_back_once_its_apostrophe_is_taken_away(cells: list[str]) -> None:
    (found,) = read(csv_line(cells))
    assert [cell.removeprefix("'") for cell in found] == cells
    assert not [cell for cell in found if cell.startswith(("=", "+", "-", "@", "\t", "\r", "\n"))]


def test_a_record_ends_as_rfc_4180_says_and_quotes_what_has_to_be_quoted() -> None:
    assert csv_line(['a,"b"', "two\nlines", "é"]) == '"a,""b""","two\nlines",é\r\n'.encode()


def test_an_assessment_is_one_row_with_its_eight_scores() -> None:
    items: list[Given] = [UnknownReason.NO_MENTION, 1, 2, 3, 0, 1, 2, 3]
    row = assessment_row(result_with(items), made_at=AT)
    assert tuple(row) == ASSESSMENT_COLUMNS
    assert (row["total"], row["total_min"], row["total_max"]) == (None, 12, 15)
    assert [row[item.value] for item in Item] == [None, 1, 2, 3, 0, 1, 2, 3]
    assert row["made_at"] == "2026-03-04T05:06:07+00:00"


def test_a_failed_scoring_has_no_total_and_eight_rows_that_say_so() -> None:
    result = result_with(None)
    row = assessment_row(result)
    assert {row[name] for name in ("total", "total_min", "total_max", "unknown_items")} == {None}
    rows = list(item_rows(result))
    assert [found["unknown_reason"] for found in rows] == ["scoring_failed"] * 8


def test_items_have_the_same_columns_whatever_became_of_them() -> None:
    for result in (example_result(), result_with(None)):
        assert {tuple(row) for row in item_rows(result)} == {ITEM_COLUMNS}
        with_words = item_rows(result, with_words=True)
        assert {tuple(row) for row in with_words} == {ITEM_COLUMNS_WITH_WORDS}


def test_words_are_in_rows_only_on_request() -> None:
    result = example_result()
    assert result.quantitative is not None
    quotes = [one.text for item in result.quantitative.items.values() for one in item.evidence]
    without = b"".join(written(item_rows(result), ITEM_COLUMNS, TableFormat.CSV)).decode()
    assert not [quote for quote in quotes if quote in without]
    rows = item_rows(result, with_words=True)
    found = read(b"".join(written(rows, ITEM_COLUMNS_WITH_WORDS, TableFormat.CSV)))[1:]
    assert [quote for row in found if row[-1] for quote in json.loads(row[-1])] == quotes


def test_rows_are_made_one_at_a_time() -> None:
    made = 0

    def rows() -> Iterator[Row]:
        nonlocal made
        for made in range(1, 1_001):
            yield {"number": made}

    lines = written(rows(), ["number"], TableFormat.CSV)
    assert next(lines) == b"number\r\n1\r\n"
    assert made == 1


def test_a_table_without_rows_has_its_header() -> None:
    assert b"".join(written([], ["a", "b"], TableFormat.CSV)) == b"a,b\r\n"
    assert b"".join(written([], ["a", "b"], TableFormat.JSONL)) == b""
