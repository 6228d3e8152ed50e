import io
import struct
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from ai_psychiatrist.services.transcripts.formats.known import read_content
from ai_psychiatrist.services.transcripts.utterances import (
    FileFault,
    FileRefused,
    Form,
    PlainText,
)

FILES = Path(__file__).parents[3] / "data" / "transcripts" / "docx"

OPENING = (
    '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
    ' xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"><w:body>'
)
CLOSING = "</w:body></w:document>"
HELLO = "<w:p><w:r><w:t>hello</w:t></w:r></w:p>"


def archive(parts: Mapping[str, bytes | str], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", method) as made:
        for name, content in parts.items():
            made.writestr(name, content)
    return held.getvalue()


def document(body: str, **parts: bytes | str) -> bytes:
    others = {name.replace("__", "/"): content for name, content in parts.items()}
    return archive({"word/document.xml": OPENING + body + CLOSING, **others})


def lines(content: bytes) -> list[str]:
    reading = read_content(content)
    assert isinstance(reading, PlainText)
    assert reading.form is Form.DOCX
    return reading.text.split("\n")


def fault(content: bytes) -> FileFault:
    with pytest.raises(FileRefused) as caught:
        read_content(content)
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    return caught.value.fault


@pytest.mark.parametrize(
    ("file", "first"),
    [
        ("otter.docx", ["Talk of two", "Anna Schmidt  0:00", "How have you been sleeping lately?"]),
        ("teams.docx", ["Anna Schmidt   0:00", "How have you been sleeping lately?"]),
        ("rev.docx", ["Anna Schmidt (00:00):", "How have you been sleeping lately?"]),
    ],
)
def test_export_keeps_its_lines(file: str, first: list[str]) -> None:
    assert lines((FILES / file).read_bytes())[: len(first)] == first


def test_edited_document_is_read_as_it_stands() -> None:
    assert lines((FILES / "edited.docx").read_bytes()) == [
        "Anna: How do you sleep?",
        "Jonas\tWell. Eight hours.",
        "Anna\tI lie awake.",
        "Jonas:\tfine",
        "Anna: in a control",
        "and on",
    ]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param(
            "<mc:AlternateContent><mc:Choice>" + HELLO + "</mc:Choice><mc:Fallback>" + HELLO
            + "</mc:Fallback></mc:AlternateContent>",
            ["hello"],
            id="fallback_is_a_copy",
        ),
        pytest.param(
            "<w:p><w:pPr><w:tabs><w:tab/></w:tabs></w:pPr><w:r><w:t>a\nb</w:t></w:r></w:p>",
            ["a b"],
            id="tab_stops_and_line_breaks_of_the_file",
        ),
        pytest.param(
            "<w:tbl><w:tr><w:tc><w:p><w:r><w:t>A</w:t></w:r></w:p></w:tc><w:tc><w:tbl><w:tr><w:tc>"
            "<w:p><w:r><w:t>b</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>c</w:t></w:r></w:p>"
            "</w:tc></w:tr></w:tbl></w:tc></w:tr></w:tbl>",
            ["A\tb c"],
            id="table_in_a_cell",
        ),
        pytest.param("<w:p/>" + HELLO + "<w:p/>" + HELLO, ["hello", "", "hello"], id="blank"),
    ],
)  # fmt: skip
def test_body_is_written_in_order(body: str, expected: list[str]) -> None:
    written = lines(document(body))
    assert [" ".join(line.split(" ")).rstrip(" ") for line in written] == expected


def test_nothing_but_the_body_is_opened() -> None:
    bomb = archive({"word/document.xml": "0" * 1_000_000})
    assert lines(document(HELLO, word__embeddings__a="x" * 50_000, inner=bomb)) == ["hello"]


def _zip64(content: bytes) -> bytes:
    end = content.rfind(b"PK\x05\x06")
    return content[:end] + b"PK\x06\x07" + bytes(16) + content[end:]


def _lying_about_size(content: bytes) -> bytes:
    """Declare a small part where a large one is."""
    at = content.find(b"PK\x01\x02")
    return content[: at + 24] + struct.pack("<I", 100) + content[at + 28 :]


def _encrypted(content: bytes) -> bytes:
    at = content.find(b"PK\x01\x02")
    return content[: at + 8] + b"\x01" + content[at + 9 :]


ENTITIES = (
    '<?xml version="1.0"?><!DOCTYPE d [<!ENTITY a "haha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;">'
    '<!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;">]>' + OPENING + HELLO.replace("hello", "&c;") + CLOSING
)
OUTSIDE = (
    '<?xml version="1.0"?><!DOCTYPE d [<!ENTITY x SYSTEM "file:///etc/passwd">]>'
    + OPENING + HELLO.replace("hello", "&x;") + CLOSING
)  # fmt: skip


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        pytest.param(
            archive({"word/document.xml": OPENING + CLOSING} | dict.fromkeys(map(str, range(2_001)),
                    "")),
            FileFault.DOCUMENT_REFUSED, id="entries"),
        pytest.param(archive({"word/document.xml": ENTITIES}), FileFault.DOCUMENT_REFUSED,
                     id="nested_entities"),
        pytest.param(archive({"word/document.xml": OUTSIDE}), FileFault.DOCUMENT_REFUSED,
                     id="outside_entity"),
        pytest.param(archive({"word/document.xml": ENTITIES.encode("utf-16")}),
                     FileFault.DOCUMENT_REFUSED, id="entities_in_utf16"),
        pytest.param(
            archive({"word/document.xml": '<?xml version="1.0" encoding="UTF-7"?>+ADw-'}),
            FileFault.DOCUMENT_REFUSED, id="entities_in_utf7"),
        pytest.param(document("<w:p>" * 50_000 + "</w:p>" * 50_000), FileFault.DOCUMENT_REFUSED,
                     id="deep"),
        pytest.param(document("<w:p>"), FileFault.DOCUMENT_REFUSED, id="not_closed"),
        pytest.param(archive({"word/document.xml": "<a/>"}), FileFault.DOCUMENT_REFUSED,
                     id="other_xml"),
        pytest.param(
            archive({"word/document.xml": OPENING.replace("<w:body>", "") + "</w:document>"}),
            FileFault.DOCUMENT_REFUSED, id="no_body"),
        pytest.param(document(HELLO + "<w:altChunk/>"), FileFault.DOCUMENT_REFUSED,
                     id="words_in_another_part"),
        pytest.param(document(HELLO, word__vbaProject="x"), FileFault.DOCUMENT_REFUSED,
                     id="macros"),
        pytest.param(document(HELLO, **{"word__document2.xml": OPENING + CLOSING}),
                     FileFault.DOCUMENT_REFUSED, id="two_bodies"),
        pytest.param(archive({"word/document.xml": OPENING + HELLO + CLOSING}, zipfile.ZIP_BZIP2),
                     FileFault.DOCUMENT_REFUSED, id="other_compression"),
        pytest.param(_zip64(document(HELLO)), FileFault.DOCUMENT_REFUSED, id="zip64"),
        pytest.param(_encrypted(document(HELLO)), FileFault.DOCUMENT_REFUSED, id="encrypted"),
        pytest.param(_lying_about_size(document(HELLO * 100_000)), FileFault.DOCUMENT_REFUSED,
                     id="size_is_a_lie"),
        pytest.param(document(HELLO)[:-40], FileFault.DOCUMENT_REFUSED, id="cut_off"),
        pytest.param(b"PK\x03\x04" + bytes(100), FileFault.DOCUMENT_REFUSED, id="no_directory"),
        pytest.param(archive({"xl/workbook.xml": "<a/>"}), FileFault.NOT_TEXT, id="spreadsheet"),
        pytest.param(archive({"a.txt": "Participant: hello"}), FileFault.NOT_TEXT, id="zip"),
    ],
)  # fmt: skip
def test_hostile_archive_is_refused(content: bytes, expected: FileFault) -> None:
    assert fault(content) is expected


@pytest.mark.parametrize(
    ("piece", "count"),
    [
        pytest.param("0", 20_000_000, id="ratio_of_a_bomb"),
        pytest.param("0", 40_000_000, id="size"),
        pytest.param("--><w:p/><!--", 1_000_001, id="elements"),
    ],
)
def test_document_that_unpacks_to_too_much_is_refused(piece: str, count: int) -> None:
    """Made here: to pack it takes half a second."""
    assert fault(document("<!--" + piece * count + "-->" + HELLO)) is FileFault.TOO_LARGE
