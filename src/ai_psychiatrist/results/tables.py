"""Results as rows, and rows as JSON lines or CSV, one at a time."""

import csv
import io
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Final, Literal, TypeAlias

import orjson

from ai_psychiatrist.domain.assessment import Assessment
from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.domain.items import ItemAssessment
from ai_psychiatrist.domain.phq8 import Item, ScoreTotals, UnknownReason
from ai_psychiatrist.domain.risk import is_to_be_read

Cell: TypeAlias = str | int | float | bool | Sequence[str] | None
Row: TypeAlias = Mapping[str, Cell]

_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "\0", "＝", "＋", "－", "＠")
"""What a spreadsheet takes for the beginning of a formula, or skips before one."""
_SKIPPED: Final = frozenset({"Zs", "Zl", "Zp", "Cc", "Cf"})
"""Blanks and characters that are not seen: some programs take them away when they read."""
_QUOTED: Final = "'"


class TableFormat(StrEnum):
    """How rows are written."""

    JSONL = "jsonl"
    CSV = "csv"

    @property
    def media_type(self) -> str:
        """What the bytes are, for HTTP."""
        if self is TableFormat.JSONL:
            return "application/jsonl"
        return "text/csv; charset=utf-8; header=present"


def written(
    rows: Iterable[Row], columns: Sequence[str], table_format: TableFormat
) -> Iterator[bytes]:
    """Yield the lines of a table; a CSV has its header also without rows."""
    if table_format is TableFormat.JSONL:
        for row in rows:
            yield jsonl_line(row)
        return
    lines = (csv_line([row[column] for column in columns]) for row in rows)
    # Read before the header is written: where the first row fails there is no file to be misled by.
    first = next(lines, b"")
    yield csv_line(columns) + first
    yield from lines


def jsonl_line(row: Row) -> bytes:
    """Return a row as one line of JSON."""
    return orjson.dumps(dict(row), option=orjson.OPT_APPEND_NEWLINE)


def csv_line(cells: Sequence[Cell]) -> bytes:
    """Return cells as one record of RFC 4180 in UTF-8.

    Texts are inert, and numbers stay numbers.
    """
    line = io.StringIO(newline="")
    csv.writer(line, lineterminator="\r\n").writerow([_cell(cell) for cell in cells])
    return line.getvalue().encode()


def inert(text: str) -> str:
    """Return a text that no spreadsheet takes for a formula.

    One that could be taken for it gets an apostrophe before it, and one that begins with an
    apostrophe another, so that taking one away gives back what was there.
    """
    return f"{_QUOTED}{text}" if _could_begin_a_formula(text) else text


def scalar(cell: Cell) -> str | int | float | bool | None:
    """Return what stands in a cell of a table; a list is JSON, an empty one nothing."""
    if cell is None or isinstance(cell, str | int | float):
        return cell
    return orjson.dumps(list(cell)).decode() if cell else None


def _cell(cell: Cell) -> str | int | float:
    match scalar(cell):
        case None:
            return ""
        case bool(value):
            return "true" if value else "false"
        case str(text):
            return inert(text)
        case number:
            return number


def _could_begin_a_formula(text: str) -> bool:
    if text.startswith((*_FORMULA, _QUOTED)):
        return True
    seen = next((at for at in text if unicodedata.category(at) not in _SKIPPED), "")
    return seen != "" and seen in _FORMULA


ASSESSMENT_COLUMNS: Final = (
    *("assessment_id", "made_at", "status", "mode"),
    *("total", "total_min", "total_max"),
    # Empty `severity`: between the other two, as the total is between its bounds.
    *("severity", "severity_min", "severity_max", "unknown_items"),
    # `danger_read_now`: how many signs are affirmed, hypothetical or unclear, from moderate on.
    *("danger", "danger_read_now", "turns_not_examined", "models"),
    *(item.value for item in Item),
)
"""Of a row for each assessment; its eight scores stand in columns of their own."""
_PROBABILITIES: Final = ("p0", "p1", "p2", "p3", "p_not_determinable")
ITEM_COLUMNS: Final = (
    *("assessment_id", "item", "score", "unknown_reason", "not_examined_cause"),
    # `unread_turn`: that of the question, from 0, whose answer was not read.
    "unread_turn",
    *("proposed_score", "confidence", "frequency"),
    # `evidence`: how many quotes are grounded.
    *("evidence", "evidence_rejected"),
    *(*_PROBABILITIES, "calibrated", "warnings"),
)
"""Of a row for each item of an assessment."""
ITEM_COLUMNS_WITH_WORDS: Final = (
    *ITEM_COLUMNS,
    *("unread_question", "unread_answer", "reason", "quotes"),
)
NOT_SCORED: Final[Row] = {
    "unknown_reason": UnknownReason.SCORING_FAILED,
    "warnings": (),
    "quotes": (),
}
"""The cells of an item whose scoring failed."""


def as_row(columns: Sequence[str], **cells: Cell) -> Row:
    """Return the cells of these columns in their order; cells of other columns are left out.

    A column without a cell is empty.
    """
    found = ((name, cells.get(name)) for name in columns)
    return {name: cell.value if isinstance(cell, StrEnum) else cell for name, cell in found}


def score_cells(total: ScoreTotals, scores: Mapping[Item, int | None]) -> Row:
    """Return the cells of eight item scores and their total."""
    return {
        "total": total.total_score,
        "total_min": total.total_score_min,
        "total_max": total.total_score_max,
        "severity": total.severity_label,
        "severity_min": total.severity_lower_bound.label,
        "severity_max": total.severity_upper_bound.label,
        "unknown_items": total.na_count,
        **{item.value: score for item, score in scores.items()},
    }


def probability_cells(probabilities: Sequence[float], *, calibrated: bool) -> Row:
    """Return the cells of the probabilities of 0, 1, 2, 3 and not determinable."""
    return {**dict(zip(_PROBABILITIES, probabilities, strict=True)), "calibrated": calibrated}


def table(
    results: Iterable[Assessment],
    rows: Literal["results", "items"] = "results",
    *,
    with_words: bool = False,
) -> list[dict[str, Cell]]:
    """Return results as rows with the columns of `export`, as `pandas.DataFrame` takes them.

    `rows`: one for each assessment, or eight, one for each item of it. `with_words`: also what was
    said, in rows of items. `made_at` is empty: a result does not tell. Raises `InputError` for
    other rows, and for words in rows of assessments.
    """
    if rows not in {"results", "items"}:
        raise InputError("rows has to be results or items", field="rows")
    if rows == "items":
        return [dict(row) for one in results for row in item_rows(one, with_words=with_words)]
    if with_words:
        raise InputError("with_words needs rows='items'", field="with_words")
    return [dict(assessment_row(one)) for one in results]


def assessment_row(result: Assessment, *, made_at: datetime | None = None) -> Row:
    """Return the row of a whole assessment."""
    scores = result.quantitative
    answered = {name for model in result.models.values() for name in model.answered_by}
    given = {} if scores is None else {key: item.score for key, item in scores.items.items()}
    return as_row(
        ASSESSMENT_COLUMNS,
        assessment_id=result.assessment_id,
        made_at=None if made_at is None else made_at.isoformat(),
        status=result.status,
        mode=result.mode,
        danger=result.risk.level,
        danger_read_now=sum(map(is_to_be_read, result.risk.signals)),
        turns_not_examined=result.risk.examined.count_not_examined,
        models=tuple(sorted(answered)),
        **({} if scores is None else score_cells(scores, given)),
    )


def item_rows(result: Assessment, *, with_words: bool = False) -> Iterator[Row]:
    """Yield the eight rows of a whole assessment."""
    columns = ITEM_COLUMNS_WITH_WORDS if with_words else ITEM_COLUMNS
    items = {} if result.quantitative is None else result.quantitative.items
    for item in Item:
        found = items.get(item)
        cells = NOT_SCORED if found is None else _cells(found)
        yield as_row(columns, assessment_id=result.assessment_id, item=item, **cells)


def _cells(found: ItemAssessment) -> Row:
    unread, belief = found.unread_answer, found.belief
    return {
        "score": found.score,
        "unknown_reason": found.unknown_reason,
        "not_examined_cause": found.not_examined_cause,
        "unread_turn": None if unread is None else unread.question_turn,
        "proposed_score": found.proposed_score,
        "confidence": found.confidence,
        "frequency": found.frequency,
        "evidence": found.llm_evidence_count,
        "evidence_rejected": found.llm_evidence_rejected_count,
        **(probability_cells(belief.probabilities, calibrated=belief.calibrated) if belief else {}),
        "warnings": found.warnings,
        "unread_question": None if unread is None else unread.question,
        "unread_answer": None if unread is None else unread.answer,
        "reason": found.reason,
        "quotes": tuple(quote.text for quote in found.evidence),
    }
