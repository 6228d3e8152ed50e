"""Workbooks: what a spreadsheet reads is what was written, and no text is a formula."""

import io
import zipfile
from datetime import datetime

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


def test_columns_are_as_wide_as_what_they_hold_within_bounds() -> None:
    content = book_of(("P" * 20, "x" * 500), ("a", "b"))
    columns = load_workbook(io.BytesIO(content))["results"].column_dimensions
    assert [columns[name].width for name in "AB"] == [22, 62]
    narrow = load_workbook(io.BytesIO(book_of(("a", 1))))["results"].column_dimensions
    assert narrow["A"].width == 8


def test_the_header_is_bold_and_stays_in_view() -> None:
    sheet = load_workbook(io.BytesIO(book_of(("a", 1))))["results"]
    assert sheet.freeze_panes == "A2"
    assert [[cell.font.b for cell in row] for row in sheet.iter_rows()] == [[True] * 2, [False] * 2]


def test_more_rows_than_are_measured_are_all_there() -> None:
    rows = [(f"P-{number}", number) for number in range(1000)]
    with Workbook("results", ("id", "value")) as book:
        content = book.begin() + b"".join(book.add([row]) for row in rows) + book.end()
    assert read(content)[1:] == [list(row) for row in rows]


def test_moments_of_a_date_column_are_dates_in_utc_and_other_texts_are_texts() -> None:
    rows = [
        ("2026-03-01T10:20:30+02:00", "2026-03-01T10:20:30+02:00"),
        ("2026-03-01T10:20:30", "=1+1"),
        ("no date", "2026-03-01"),
        (None, None),
    ]
    with Workbook("results", ("at", "subject"), dates={"at"}) as book:
        content = book.begin() + book.add(rows) + book.end()
    sheet = load_workbook(io.BytesIO(content))["results"]
    shown = sheet["A2"]
    assert (shown.value, shown.is_date) == (datetime(2026, 3, 1, 8, 20, 30), True)  # noqa: DTZ001
    assert shown.number_format.replace("\\", "") == "yyyy-mm-dd hh:mm:ss"
    others = [cell.value for row in sheet.iter_rows(min_row=3) for cell in row]
    assert others == ["2026-03-01T10:20:30", "=1+1", "no date", "2026-03-01", None, None]
    assert [sheet[at].data_type for at in ("B2", "A3", "B3", "A4", "B4")] == ["s"] * 5


def test_a_second_sheet_says_what_each_column_means() -> None:
    meanings = {"value": "A number.", "id": "Whose it is.", "other": "Not in this table."}
    with Workbook("results", ("id", "value"), meanings=meanings) as book:
        content = book.begin() + book.end()
    found = load_workbook(io.BytesIO(content))
    assert found.sheetnames == ["results", "Columns"]
    assert [list(row) for row in found["Columns"].values] == [
        ["Column", "What it means"],
        ["id", "Whose it is."],
        ["value", "A number."],
    ]
    assert found["Columns"].freeze_panes == "A2"
