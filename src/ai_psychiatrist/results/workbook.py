"""Rows as a workbook (.xlsx): a text is a text cell, character for character, a number a number.

Nothing of it is written to the disk, which a library for workbooks does with each sheet, and rows
are given out as they come: what is exported may be long, and hold words.
"""

import re
import zipfile
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Final
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
_SHEET: Final = "xl/worksheets/sheet1.xml"
_PARTS: Final = {
    "[Content_Types].xml": (
        f'<Types xmlns="{_PACKAGE}/content-types">'
        '<Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{_KIND}.sheet.main+xml"/>'
        f'<Override PartName="/{_SHEET}" ContentType="{_KIND}.worksheet+xml"/></Types>'
    ),
    "_rels/.rels": (
        f'<Relationships xmlns="{_PACKAGE}/relationships">'
        f'<Relationship Id="rId1" Type="{_OFFICE}/officeDocument" Target="xl/workbook.xml"/>'
        "</Relationships>"
    ),
    "xl/_rels/workbook.xml.rels": (
        f'<Relationships xmlns="{_PACKAGE}/relationships">'
        f'<Relationship Id="rId1" Type="{_OFFICE}/worksheet" Target="worksheets/sheet1.xml"/>'
        "</Relationships>"
    ),
    "xl/workbook.xml": (
        f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets>'
        '<sheet name="{name}" sheetId="1" r:id="rId1"/></sheets></workbook>'
    ),
}
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
    """A workbook of one sheet; the same rows give the same bytes.

    To be entered, so that what is broken off leaves nothing open.
    """

    def __init__(self, sheet: str, columns: Sequence[str]) -> None:
        """`sheet`: its name, without signs that XML reads otherwise."""
        self._sink = _Sink()
        self._zip = zipfile.ZipFile(self._sink, "w")
        for path, content in _PARTS.items():
            self._zip.writestr(_part(path), _XML + content.replace("{name}", sheet))
        self._sheet = self._zip.open(_part(_SHEET), "w")
        self._sheet.write(f'{_XML}<worksheet xmlns="{_MAIN}"><sheetData>'.encode())
        self._rows = 0
        self._header = columns

    def begin(self) -> bytes:
        """Return the file as far as the header."""
        return self.add([self._header])

    def add(self, rows: Iterable[Sequence[Cell]]) -> bytes:
        """Return the next bytes of the file; raises `InputError` for what does not fit a sheet."""
        for row in rows:
            self._rows += 1
            if self._rows > MOST_ROWS:
                msg = f"a sheet has at most {MOST_ROWS:,} rows: ask for csv or jsonl"
                raise InputError(msg, field="format")
            self._sheet.write(f"<row>{''.join(map(_cell, row))}</row>".encode())
        return self._sink.taken()

    def end(self) -> bytes:
        """Return the rest of the file."""
        self._sheet.write(b"</sheetData></worksheet>")
        self.__exit__()
        return self._sink.taken()

    def __exit__(self, *_: object) -> None:
        """Close what is open."""
        self._sheet.close()
        self._zip.close()


def _part(path: str) -> zipfile.ZipInfo:
    # Without a date of its own: it is that of no clock.
    part = zipfile.ZipInfo(path)
    part.compress_type = zipfile.ZIP_DEFLATED
    return part


def _cell(cell: Cell) -> str:
    match scalar(cell):
        case None:
            return "<c/>"
        case bool(value):
            return f'<c t="b"><v>{value:d}</v></c>'
        case str(text):
            return f'<c t="inlineStr"><is><t xml:space="preserve">{_text(text)}</t></is></c>'
        case number:
            return f"<c><v>{number!r}</v></c>"


def _text(text: str) -> str:
    if len(text) > MOST_CHARACTERS:
        msg = f"a cell has at most {MOST_CHARACTERS:,} characters: ask for csv or jsonl"
        raise InputError(msg, field="format")
    marked = _LIKE_AN_ESCAPE.sub("_x005F_", text)
    return escape(_NOT_IN_XML.sub(lambda found: f"_x{ord(found[0]):04X}_", marked))
