"""Word documents: the body as lines, after its archive has been checked."""

import io
import re
import struct
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from ai_psychiatrist.services.transcripts.utterances import FileFault, FileRefused, Form, PlainText

if TYPE_CHECKING:
    from docx.oxml.xmlchemy import BaseOxmlElement

ARCHIVE: Final = b"PK\x03\x04"
_W: Final = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_VALUE: Final = f"{_W}val"
_OFF: Final = frozenset({"0", "false", "none", "off"})
_UNSAID: Final = tuple(f"{_W}{name}" for name in ("vanish", "strike", "dstrike"))
_OF_RUN: Final = tuple(f"{_W}{name}" for name in ("b", "i", "u", "color", "highlight", "shd"))
_OF_PARAGRAPH: Final = tuple(f"{_W}{name}" for name in ("jc", "ind", "pStyle", "numPr"))
_HEADINGS: Final = ("heading", "title", "subtitle", "berschrift", "titre", "kop")
_FEWEST: Final = 2
_FEWEST_CHANGES: Final = 2
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
_TEXT: Final = f"{_W}t"
_PARAGRAPH: Final = f"{_W}p"
_RUN: Final = f"{_W}r"
_ROW: Final = f"{_W}tr"
_CELL: Final = f"{_W}tc"
_COMPATIBILITY: Final = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_LEFT_OUT: Final = frozenset(
    {
        *(f"{_W}{name}" for name in ("del", "moveFrom", "pPr", "rPr", "txbxContent")),
        f"{_COMPATIBILITY}Fallback",
    }
)
_BREAKS: Final = {
    f"{_W}tab": "\t",
    f"{_W}ptab": "\t",
    f"{_W}br": "\n",
    f"{_W}cr": "\n",
    f"{_W}noBreakHyphen": "-",
}


def read_paragraphs(content: bytes) -> PlainText:
    """Return the paragraphs and table rows of a document, a line each, in their order.

    Line breaks and tabs within a paragraph are kept, and tabs part the cells of a row. What was
    inserted is taken, what was deleted, struck out or hidden is not. Comments, text boxes, headers,
    footers and notes are no words of the interview. Raises `FileRefused` for another archive and
    one that unpacks to too much.
    """
    body = _body(content)
    # A tenth of a second of imports that other transcripts do not need.
    from docx.oxml import parse_xml  # noqa: PLC0415

    try:
        # The body alone, so that no other part of the file is ever opened.
        element = parse_xml(body).body
    except _UNREADABLE:
        raise FileRefused(FileFault.DOCUMENT_REFUSED) from None
    if element is None:
        raise FileRefused(FileFault.DOCUMENT_REFUSED)
    return PlainText(
        form=Form.DOCX,
        text="".join(_written(element, [], [])).strip("\n"),
        is_of_several=_looks_of_several(element),
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
    is_large = body.file_size > _RATIO_COUNTS_FROM_BYTES
    is_bomb = is_large and body.file_size > body.compress_size * _MOST_RATIO
    if body.file_size > _MOST_BODY_BYTES or is_bomb:
        raise FileRefused(FileFault.TOO_LARGE)
    if body.compress_type not in _METHODS or body.flag_bits & _ENCRYPTED:
        raise FileRefused(FileFault.DOCUMENT_REFUSED)


def _refuse_body(body: bytes) -> None:
    """Refuse more than a transcript has, and what could hide or expand an entity."""
    if len(body) > _MOST_BODY_BYTES or body.count(b"<") > _MOST_ELEMENTS:
        raise FileRefused(FileFault.TOO_LARGE)
    declared = _DECLARED.match(body.removeprefix(b"\xef\xbb\xbf"))
    is_plain = declared is None or declared[1].lower() in _ENCODINGS
    if not is_plain or b"\x00" in body or _NOT_IN_BODY.search(body):
        raise FileRefused(FileFault.DOCUMENT_REFUSED)


def _written(element: "BaseOxmlElement", cells: list[int], paragraphs: list[int]) -> Iterator[str]:
    """Yield the text of an element piece by piece; a cell is written on one line.

    `cells`: how many each of the rows has had that it stands in; `paragraphs`: the same of cells.
    The parser refuses what is nested more than 256 deep.
    """
    tag = element.tag
    if tag == _TEXT:
        yield " ".join((element.text or "").splitlines())
    elif tag in _BREAKS:
        yield " " if paragraphs else _BREAKS[tag]
    elif tag not in _LEFT_OUT and not (tag == _RUN and _is_unsaid(element)):
        yield from _opened(tag, cells, paragraphs)
        for child in element:
            yield from _written(child, cells, paragraphs)
        yield from _closed(tag, cells, paragraphs)


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


def _is_unsaid(run: "BaseOxmlElement") -> bool:
    """Return whether what a run holds is hidden, or struck out."""
    properties = run.find(f"{_W}rPr")
    return properties is not None and any(
        mark is not None and mark.get(_VALUE) not in _OFF for mark in map(properties.find, _UNSAID)
    )


def _looks_of_several(body: "BaseOxmlElement") -> bool:
    """Return whether paragraphs of two looks take turns, as those of two speakers may."""
    looks = [look for paragraph in body.findall(f"{_W}p") if (look := _look(paragraph))]
    times = Counter(looks)
    changes = sum(1 for one, other in pairwise(looks) if one != other)
    return sum(1 for count in times.values() if count >= _FEWEST) > 1 and changes > _FEWEST_CHANGES


def _look(paragraph: "BaseOxmlElement") -> frozenset[tuple[str, str]]:
    """Return by what a paragraph looks; nothing for a heading and for one without words."""
    runs = [run for run in paragraph.iter(f"{_W}r") if any(run.itertext())]
    if not runs:
        return frozenset()
    look = frozenset(_marks(paragraph.find(f"{_W}pPr"), _OF_PARAGRAPH))
    styles = [value.casefold() for name, value in look if name == f"{_W}pStyle"]
    if any(heading in style for style in styles for heading in _HEADINGS):
        return frozenset()
    shared = [frozenset(_marks(run.find(f"{_W}rPr"), _OF_RUN)) for run in runs]
    return look | frozenset.intersection(*shared) | {("", "")}


def _marks(
    properties: "BaseOxmlElement | None", names: tuple[str, ...]
) -> Iterator[tuple[str, str]]:
    for mark in map(properties.find, names) if properties is not None else ():
        if mark is not None and mark.get(_VALUE) not in _OFF:
            yield mark.tag, str(sorted(mark.attrib.items()))
