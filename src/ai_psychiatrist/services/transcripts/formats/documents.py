"""Reads the body of a Word document as lines, after its archive has been checked."""

import io
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.services.transcripts.formats.document_looks import (
    WORD,
    is_unsaid,
    looks_of_several,
)
from ai_psychiatrist.services.transcripts.utterances import FileFault, FileRefused, Form, PlainText

if TYPE_CHECKING:
    from docx.oxml.xmlchemy import BaseOxmlElement

ARCHIVE: Final = b"PK\x03\x04"

_MOST_ENTRIES: Final = 2_000
_MOST_BYTES: Final = 256 * 1024 * 1024
_MOST_BODY_BYTES: Final = 32 * 1024 * 1024
_MOST_ELEMENTS: Final = 1_000_000
_MOST_RATIO: Final = 200
_RATIO_COUNTS_FROM_BYTES: Final = 1024 * 1024
_ENTRY: Final = b"PK\x01\x02"
_END: Final = b"PK\x05\x06"
_END_BYTES: Final = 22
_LONGEST_COMMENT: Final = 65_535
_ZIP64_LOCATOR: Final = b"PK\x06\x07"
_ZIP64_LOCATOR_BYTES: Final = 20
_BODY: Final = re.compile(r"word/document\d{0,3}\.xml")
_METHODS: Final = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ENCRYPTED: Final = 0x1
_BROKEN: Final = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    NotImplementedError,
    OSError,
    RuntimeError,
    ValueError,
)
_UNREADABLE: Final = (SyntaxError, ValueError, LookupError, AttributeError, TypeError)
"""What the library and the parser below it raise; they share no error of their own."""
_DECLARED: Final = re.compile(rb"\s*<\?xml[^>]{0,200}?encoding=[\"']([^\"']{1,40})[\"']")
_NOT_IN_BODY: Final = re.compile(rb"<!DOCTYPE|<!ENTITY|<[\w.-]{1,40}:(?:altChunk|subDoc)\b")
"""Entities, and words that stand in another part."""
_ENCODINGS: Final = frozenset({b"utf-8", b"us-ascii", b"ascii"})
_TEXT: Final = f"{WORD}t"
_PARAGRAPH: Final = f"{WORD}p"
_RUN: Final = f"{WORD}r"
_ROW: Final = f"{WORD}tr"
_CELL: Final = f"{WORD}tc"
_COMPATIBILITY: Final = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_LEFT_OUT: Final = frozenset(
    {
        *(f"{WORD}{name}" for name in ("del", "moveFrom", "pPr", "rPr", "txbxContent")),
        f"{_COMPATIBILITY}Fallback",
    }
)
_MARKS: Final = {
    f"{WORD}tab": "\t",
    f"{WORD}ptab": "\t",
    f"{WORD}br": "\n",
    f"{WORD}cr": "\n",
    f"{WORD}noBreakHyphen": "-",
}

_TYPES: Final = (
    b'<?xml version="1.0" encoding="UTF-8"?>'
    b'<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    b'<Default Extension="rels"'
    b' ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    b'<Override PartName="/word/document.xml" ContentType="application/'
    b'vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>'
)
_RELATIONS: Final = (
    b'<?xml version="1.0" encoding="UTF-8"?>'
    b'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    b'<Relationship Id="rId1" Target="word/document.xml" Type="http://schemas.openxmlformats.org/'
    b'officeDocument/2006/relationships/officeDocument"/></Relationships>'
)


def read_paragraphs(content: bytes) -> PlainText:
    """Return the paragraphs and table rows of a document, a line each, in their order.

    Line breaks and tabs within a paragraph are kept, and tabs part the cells of a row. What was
    inserted is taken, what was deleted, struck out or hidden is not. Comments, text boxes, headers,
    footers and notes are no words of the interview. Raises `FileRefused` for another archive and
    one that unpacks to too much, and `ConfigurationError` where the library is not installed.
    """
    body = _body(content)
    try:
        # Part of an extra, and needed for these files alone.
        from docx import Document  # noqa: PLC0415
    except ImportError:
        msg = "Word documents need the extra `documents`: pip install 'ai-psychiatrist[documents]'"
        raise ConfigurationError(msg) from None
    try:
        element = Document(io.BytesIO(_with_body_alone(body))).element.body
    except _UNREADABLE:
        raise FileRefused(FileFault.DOCUMENT_REFUSED) from None
    if element is None:
        raise FileRefused(FileFault.DOCUMENT_REFUSED)
    return PlainText(
        form=Form.DOCX,
        text="".join(_written(element)).strip("\n"),
        is_of_several=looks_of_several(element),
    )


def _body(content: bytes) -> bytes:
    """Return the one part with the words, unpacked; raises `FileRefused` for no such archive."""
    _refuse_directory(content)
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            entries = archive.infolist()
            bodies = [entry for entry in entries if _BODY.fullmatch(entry.filename)]
            if not bodies:
                raise FileRefused(FileFault.NOT_TEXT)
            if len(bodies) > 1 or any("vbaProject" in entry.filename for entry in entries):
                raise FileRefused(FileFault.DOCUMENT_REFUSED)
            _refuse_sizes(entries, bodies[0])
            with archive.open(bodies[0]) as part:
                body = part.read(_MOST_BODY_BYTES + 1)
    except _BROKEN:
        raise FileRefused(FileFault.DOCUMENT_REFUSED) from None
    _refuse_body(body)
    return body


def _refuse_directory(content: bytes) -> None:
    """Refuse what the library would read into memory before anybody could count it."""
    end = content.rfind(_END, max(0, len(content) - _LONGEST_COMMENT - _END_BYTES))
    if end < 0 or content.count(_ENTRY) > _MOST_ENTRIES:
        raise FileRefused(FileFault.DOCUMENT_REFUSED)
    if content[max(0, end - _ZIP64_LOCATOR_BYTES) : end].startswith(_ZIP64_LOCATOR):
        raise FileRefused(FileFault.DOCUMENT_REFUSED)


def _refuse_sizes(entries: list[zipfile.ZipInfo], body: zipfile.ZipInfo) -> None:
    if sum(entry.file_size for entry in entries) > _MOST_BYTES:
        raise FileRefused(FileFault.TOO_LARGE)
    if body.file_size > _MOST_BODY_BYTES or _is_bomb(body):
        raise FileRefused(FileFault.TOO_LARGE)
    if body.compress_type not in _METHODS or body.flag_bits & _ENCRYPTED:
        raise FileRefused(FileFault.DOCUMENT_REFUSED)


def _is_bomb(entry: zipfile.ZipInfo) -> bool:
    is_large = entry.file_size > _RATIO_COUNTS_FROM_BYTES
    return is_large and entry.file_size > entry.compress_size * _MOST_RATIO


def _refuse_body(body: bytes) -> None:
    """Refuse more than a transcript has, and what could hide or expand an entity."""
    if len(body) > _MOST_BODY_BYTES or body.count(b"<") > _MOST_ELEMENTS:
        raise FileRefused(FileFault.TOO_LARGE)
    declared = _DECLARED.match(body.removeprefix(b"\xef\xbb\xbf"))
    is_plain = declared is None or declared[1].lower() in _ENCODINGS
    if not is_plain or b"\x00" in body or _NOT_IN_BODY.search(body):
        raise FileRefused(FileFault.DOCUMENT_REFUSED)


def _with_body_alone(body: bytes) -> bytes:
    """Return a document of one part, so that no other of the file's is ever opened."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        archive.writestr("[Content_Types].xml", _TYPES)
        archive.writestr("_rels/.rels", _RELATIONS)
        archive.writestr("word/document.xml", body)
    return held.getvalue()


def _written(body: "BaseOxmlElement") -> Iterator[str]:
    """Yield the text of a body piece by piece; a cell is written on one line."""
    cells: list[int] = []
    paragraphs: list[int] = []
    pending: list[tuple[BaseOxmlElement, bool]] = [(body, False)]
    while pending:
        element, is_left = pending.pop()
        tag = element.tag
        if is_left:
            yield from _closed(tag, cells, paragraphs)
        elif tag == _TEXT:
            yield " ".join((element.text or "").splitlines())
        elif tag in _MARKS:
            yield " " if paragraphs else _MARKS[tag]
        elif tag not in _LEFT_OUT and not (tag == _RUN and is_unsaid(element)):
            yield from _opened(tag, cells, paragraphs)
            pending.append((element, True))
            pending += [(child, False) for child in reversed(element)]


def _opened(tag: str, cells: list[int], paragraphs: list[int]) -> Iterator[str]:
    if tag == _ROW:
        cells.append(0)
    elif tag == _CELL and cells:
        if cells[-1] and len(paragraphs) < len(cells):
            yield "\t" if len(cells) == 1 else " "
        cells[-1] += 1
        paragraphs.append(0)
    elif tag == _PARAGRAPH and paragraphs:
        if paragraphs[-1]:
            yield " "
        paragraphs[-1] += 1


def _closed(tag: str, cells: list[int], paragraphs: list[int]) -> Iterator[str]:
    if tag == _ROW:
        cells.pop()
        yield " " if cells else "\n"
    elif tag == _CELL and paragraphs:
        paragraphs.pop()
    elif tag == _PARAGRAPH and not paragraphs:
        yield "\n"
