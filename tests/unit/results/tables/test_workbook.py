"""Workbooks: what a spreadsheet reads is what was written, and no text is a formula."""

import io
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openpyxl import load_workbook  # type: ignore[import-untyped]

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.results.tables import Cell
from ai_psychiatrist.results.workbook import MOST_CHARACTERS, Workbook

IDS = ("=1+1", "-5", "+3", "@A1", "'x", "007", " =1", "1e5", "a\tb\nc", "<&>\"'", "")


def book_of(*rows: tuple[Cell, ...]) -> bytes:
    with Workbook("results", ("id", "value")) as book:
        return book.begin() + book.add(rows) + book.end()


def read(content: bytes) -> list[list[object]]:
    return [list(row) for row in load_workbook(io.BytesIO(content))["results"].values]


def sheet_of(content: bytes) -> str:
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        assert file.testzip() is None
        return file.read("xl/worksheets/sheet1.xml").decode()


@pytest.mark.parametrize("text", IDS)
def test_an_id_is_a_text_cell_as_it_is(text: str) -> None:
    content = book_of((text, 1))
    header, (cell, _) = load_workbook(io.BytesIO(content))["results"].iter_rows()
    assert [one.value for one in header] == ["id", "value"]
    assert (cell.value or "", cell.data_type) == (text, "s")
    assert "<f>" not in sheet_of(content)


@given(st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), min_size=1))
def test_any_text_is_read_back(text: str) -> None:
    if text in "\ufffe\uffff":
        return
    assert read(book_of((text, None)))[1] == [text, None]


def test_numbers_are_numbers_and_what_is_missing_is_empty() -> None:
    rows = read(book_of((-1, 0.5), (True, None), (("a", "b"), ())))
    assert rows[1:] == [[-1, 0.5], [True, None], ['["a","b"]', None]]


def test_characters_that_xml_has_no_room_for_are_escaped() -> None:
    assert "a_x0000_b_x000D_c_x005F_x0041_" in sheet_of(book_of(("a\0b\rc_x0041_", 1)))


def test_what_no_cell_holds_is_refused_and_not_cut() -> None:
    assert read(book_of(("x" * MOST_CHARACTERS, 1)))[1][0] == "x" * MOST_CHARACTERS
    with pytest.raises(InputError, match="ask for csv or jsonl") as refused:
        book_of(("x" * (MOST_CHARACTERS + 1), 1))
    assert refused.value.field == "format"


def test_the_same_rows_give_the_same_bytes() -> None:
    assert book_of(("P-1", 3)) == book_of(("P-1", 3))
