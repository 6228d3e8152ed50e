"""Rows as a workbook (.xlsx): a text is a text cell, character for character, a number a number.

Nothing of it is written to the disk, which a library for workbooks does with each sheet, and rows
are given out as they come: what is exported may be long, and hold words.
"""

import re
import zipfile
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from typing import IO, Final
from xml.sax.saxutils import escape

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.results.tables import Cell, scalar

MEDIA_TYPE: Final = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
MOST_ROWS: Final = 1_048_576
"""Of a sheet, the header included; spreadsheets open no more."""
MOST_CHARACTERS: Final = 32_767
"""Of a cell; spreadsheets cut what is longer."""

_MAIN: Final = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_PACKAGE: Final = "http://schemas.openxmlformats.org/package/2006"
_OFFICE: Final = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_KIND: Final = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_XML: Final = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_SHEET: Final = "xl/worksheets/sheet{}.xml"
_PARTS: Final = {
    "[Content_Types].xml": (
        f'<Types xmlns="{_PACKAGE}/content-types">'
        '<Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{_KIND}.sheet.main+xml"/>'
        f'<Override PartName="/xl/styles.xml" ContentType="{_KIND}.styles+xml"/>{{types}}</Types>'
    ),
    "_rels/.rels": (
        f'<Relationships xmlns="{_PACKAGE}/relationships">'
        f'<Relationship Id="rId1" Type="{_OFFICE}/officeDocument" Target="xl/workbook.xml"/>'
        "</Relationships>"
    ),
    "xl/_rels/workbook.xml.rels": (
        f'<Relationships xmlns="{_PACKAGE}/relationships">'
        f'<Relationship Id="styles" Type="{_OFFICE}/styles" Target="styles.xml"/>{{rels}}'
        "</Relationships>"
    ),
    "xl/workbook.xml": (
        f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets>{{sheets}}</sheets></workbook>'
    ),
    # The formats of cells by their number: as they are, of a header, of a date, of a long text.
    "xl/styles.xml": (
        f'<styleSheet xmlns="{_MAIN}">'
        '<numFmts count="1">'
        '<numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd\\ hh:mm:ss"/></numFmts>'
        '<fonts count="2"><font><sz val="11"/><name val="Calibri"/></font>'
        '<font><b/><sz val="11"/><name val="Calibri"/></font></fonts>'
        '<fills count="2"><fill><patternFill patternType="none"/></fill>'
        '<fill><patternFill patternType="gray125"/></fill></fills>'
        '<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>'
        '<cellStyleXfs count="1">'
        '<xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>'
        '<cellXfs count="4"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/>'
        '<xf numFmtId="0" fontId="1" fillId="0" borderId="0" xfId="0" applyFont="1"/>'
        '<xf numFmtId="164" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>'
        '<xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0" applyAlignment="1">'
        '<alignment vertical="top" wrapText="1"/></xf></cellXfs>'
        '<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles>'
        "</styleSheet>"
    ),
}
_HEADER, _DATE, _LONG = 1, 2, 3
_FROZEN: Final = (
    '<sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" '
    'activePane="bottomLeft" state="frozen"/></sheetView></sheetViews>'
)
_DAY_ZERO: Final = datetime(1899, 12, 30, tzinfo=UTC)
"""Spreadsheets count days from here."""
_MEASURED_ROWS: Final = 200
"""By which columns are as wide as they are: the widths stand before the rows, which are many."""
_NARROWEST, _WIDEST = 6, 60
"""Of a column, in characters."""
_DATE_WIDTH: Final = 19
_MEANING_WIDTHS: Final = (34, 110)
COLUMNS_SHEET: Final = "Columns"
"""The sheet that says what the columns of the other one mean."""
_NOT_IN_XML: Final = re.compile("[\x00-\x08\x0b\x0c\r\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_LIKE_AN_ESCAPE: Final = re.compile("_(?=x[0-9A-Fa-f]{4}_)")


class _Sink:
    """Takes what a zip file is made of, in its order, and gives it out."""

    def __init__(self) -> None:
        self._chunks: list[bytes] = []

    def write(self, content: bytes) -> int:
        """Take bytes."""
        self._chunks.append(bytes(content))
        return len(content)

    def flush(self) -> None:
        """Keep nothing back."""

    def close(self) -> None:
        """Leave what was written to be taken."""

    def taken(self) -> bytes:
        """Return what was written since the last time."""
        content = b"".join(self._chunks)
        self._chunks.clear()
        return content


class Workbook(AbstractContextManager["Workbook"]):
    """A workbook with a sheet of rows; the same rows give the same bytes.

    To be entered, so that what is broken off leaves nothing open.
    """

    def __init__(
        self,
        sheet: str,
        columns: Sequence[str],
        *,
        dates: Collection[str] = (),
        meanings: Mapping[str, str] | None = None,
    ) -> None:
        """`sheet`: its name, without signs that XML reads otherwise.

        `dates`: columns whose texts, moments as ISO 8601, are written as dates in UTC. `meanings`:
        what each column means, for a second sheet; `None`: there is none.
        """
        self._sink = _Sink()
        self._zip = zipfile.ZipFile(self._sink, "w")
        self._meanings = meanings
        names = [sheet] if meanings is None else [sheet, COLUMNS_SHEET]
        for path, content in _PARTS.items():
            self._zip.writestr(_part(path), _XML + _filled(content, names))
        self._sheet: IO[bytes] | None = None
        self._rows = 0
        self._header = columns
        self._is_date = [name in dates for name in columns]
        self._widths = [_NARROWEST] * len(columns)
        self._waiting: list[bytes] = []

    def begin(self) -> bytes:
        """Return the beginning of the file; the header comes with the rows."""
        self._rows += 1
        self._measure(self._header)
        self._waiting.append(_row(_cell(name, _HEADER) for name in self._header))
        return self._sink.taken()

    def add(self, rows: Iterable[Sequence[Cell]]) -> bytes:
        """Return the next bytes of the file; raises `InputError` for what does not fit a sheet."""
        for row in rows:
            self._rows += 1
            if self._rows > MOST_ROWS:
                msg = f"a sheet has at most {MOST_ROWS:,} rows: ask for csv or jsonl"
                raise InputError(msg, field="format")
            both = zip(row, self._is_date, strict=True)
            content = _row(_date(cell) if is_date else _cell(cell) for cell, is_date in both)
            if self._sheet is None:
                self._measure(row)
                self._waiting.append(content)
                if len(self._waiting) > _MEASURED_ROWS:
                    self._start()
            else:
                self._sheet.write(content)
        return self._sink.taken()

    def end(self) -> bytes:
        """Return the rest of the file."""
        self._close_sheet(self._sheet or self._start())
        if self._meanings is not None:
            sheet = self._open(2, _MEANING_WIDTHS)
            sheet.write(_row(_cell(name, _HEADER) for name in ("Column", "What it means")))
            for column in self._header:
                sheet.write(_row((_cell(column), _cell(self._meanings[column], _LONG))))
            self._close_sheet(sheet)
        self.__exit__()
        return self._sink.taken()

    def __exit__(self, *_: object) -> None:
        """Close what is open."""
        if self._sheet is not None:
            self._sheet.close()
        self._zip.close()

    def _measure(self, row: Sequence[Cell]) -> None:
        for at, (cell, is_date) in enumerate(zip(row, self._is_date, strict=True)):
            is_moment = is_date and row is not self._header
            width = _DATE_WIDTH if is_moment else _width(cell)
            self._widths[at] = min(max(self._widths[at], width), _WIDEST)

    def _start(self) -> IO[bytes]:
        """Write the widths, and the rows that waited for them."""
        self._sheet = self._open(1, self._widths)
        self._sheet.write(b"".join(self._waiting))
        self._waiting.clear()
        return self._sheet

    def _open(self, number: int, widths: Sequence[int]) -> IO[bytes]:
        sheet = self._zip.open(_part(_SHEET.format(number)), "w")
        # Room for the margins of a cell.
        columns = "".join(
            f'<col min="{at}" max="{at}" width="{width + 2}" customWidth="1"/>'
            for at, width in enumerate(widths, start=1)
        )
        head = f'{_XML}<worksheet xmlns="{_MAIN}">{_FROZEN}<cols>{columns}</cols><sheetData>'
        sheet.write(head.encode())
        return sheet

    def _close_sheet(self, sheet: IO[bytes]) -> None:
        sheet.write(b"</sheetData></worksheet>")
        sheet.close()


def _filled(content: str, sheets: Sequence[str]) -> str:
    """Return a part with the sheets that the workbook has, by their names."""
    numbered = [*enumerate(sheets, start=1)]
    types = (
        f'<Override PartName="/{_SHEET.format(at)}" ContentType="{_KIND}.worksheet+xml"/>'
        for at, _ in numbered
    )
    rels = (
        f'<Relationship Id="rId{at}" Type="{_OFFICE}/worksheet" Target="worksheets/sheet{at}.xml"/>'
        for at, _ in numbered
    )
    named = (f'<sheet name="{name}" sheetId="{at}" r:id="rId{at}"/>' for at, name in numbered)
    filled = content.replace("{types}", "".join(types)).replace("{rels}", "".join(rels))
    return filled.replace("{sheets}", "".join(named))


def _width(cell: Cell) -> int:
    """Return how many characters a cell is wide."""
    return max(map(len, str("" if cell is None else scalar(cell)).split("\n")))


def _row(cells: Iterable[str]) -> bytes:
    return f"<row>{''.join(cells)}</row>".encode()


def _date(cell: Cell) -> str:
    """Return a moment as a date; what is none stays what it is."""
    try:
        moment = datetime.fromisoformat(str(cell))
    except ValueError:
        return _cell(cell)
    if moment.tzinfo is None:
        return _cell(cell)
    return f'<c s="{_DATE}"><v>{(moment - _DAY_ZERO) / timedelta(days=1)!r}</v></c>'


def _part(path: str) -> zipfile.ZipInfo:
    # Without a date of its own: it is that of no clock.
    part = zipfile.ZipInfo(path)
    part.compress_type = zipfile.ZIP_DEFLATED
    return part


def _cell(cell: Cell, style: int = 0) -> str:
    shown = f' s="{style}"' if style else ""
    match scalar(cell):
        case None:
            return "<c/>"
        case bool(value):
            return f'<c t="b"><v>{value:d}</v></c>'
        case str(text):
            inline = f'<is><t xml:space="preserve">{_text(text)}</t></is>'
            return f'<c t="inlineStr"{shown}>{inline}</c>'
        case number:
            return f"<c><v>{number!r}</v></c>"


def _text(text: str) -> str:
    if len(text) > MOST_CHARACTERS:
        msg = f"a cell has at most {MOST_CHARACTERS:,} characters: ask for csv or jsonl"
        raise InputError(msg, field="format")
    marked = _LIKE_AN_ESCAPE.sub("_x005F_", text)
    return escape(_NOT_IN_XML.sub(lambda found: f"_x{ord(found[0]):04X}_", marked))
