import codecs

import pytest

from ai_psychiatrist.services.transcripts.encoding import decode_text, given_text
from ai_psychiatrist.services.transcripts.utterances import FileFault, FileRefused

TALK = "Anna: schläfst du gut?\r\nJonas: ja, “sehr” gut…\r\n"
CHINESE = "问：你睡得好吗？\n答：睡得很好。\n"


@pytest.mark.parametrize(
    ("content", "text", "encoding", "is_assumed"),
    [
        pytest.param(TALK.encode(), TALK, "utf-8", False, id="utf8"),
        pytest.param(codecs.BOM_UTF8 + TALK.encode(), TALK, "utf-8", False, id="utf8_mark"),
        pytest.param(
            codecs.BOM_UTF16_LE + TALK.encode("utf-16-le"), TALK, "utf-16-le", False, id="utf16_le"
        ),
        pytest.param(
            codecs.BOM_UTF16_BE + TALK.encode("utf-16-be"), TALK, "utf-16-be", False, id="utf16_be"
        ),
        pytest.param(
            codecs.BOM_UTF32_LE + TALK.encode("utf-32-le"), TALK, "utf-32-le", False, id="utf32_le"
        ),
        pytest.param(
            codecs.BOM_UTF32_BE + TALK.encode("utf-32-be"), TALK, "utf-32-be", False, id="utf32_be"
        ),
        pytest.param(TALK.encode("utf-16-le"), TALK, "utf-16-le", True, id="le_without_mark"),
        pytest.param(TALK.encode("utf-16-be"), TALK, "utf-16-be", True, id="be_without_mark"),
        pytest.param(CHINESE.encode("utf-16-le"), CHINESE, "utf-16-le", True, id="chinese_le"),
        pytest.param(CHINESE.encode("utf-16-be"), CHINESE, "utf-16-be", True, id="chinese_be"),
        pytest.param(TALK.encode("cp1252"), TALK, "cp1252", True, id="cp1252"),
        pytest.param(b"", "", "utf-8", False, id="empty"),
        pytest.param(b"a\x00\x1b[31m b, and so on", "a\x00\x1b[31m b, and so on", "utf-8", False,
                     id="a_nul_in_utf8"),
        pytest.param("a\ufeffb".encode(), "a\ufeffb", "utf-8", False, id="mark_inside"),
    ],
)  # fmt: skip
def test_text_is_decoded_and_what_was_assumed_is_said(
    content: bytes, text: str, encoding: str, *, is_assumed: bool
) -> None:
    decoded = decode_text(content)
    assert (decoded.text, decoded.encoding, decoded.is_assumed) == (text, encoding, is_assumed)


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"\x00\x05\x16\x07\x00\x02\x00\x00Mac OS X        ", id="apple_double"),
        pytest.param(b"%PDF-1.7\n1 0 obj\n", id="pdf"),
        pytest.param(b"\x89PNG\r\n\x1a\n" + bytes(20), id="image"),
        pytest.param(b"RIFF\x24\x08\x00\x00WAVEfmt ", id="audio"),
        pytest.param(b"PK\x05\x06" + bytes(18), id="empty_zip"),
        pytest.param(bytes(range(256)), id="every_byte"),
        pytest.param(b"\x81\x8d caf\xe9", id="undefined_in_cp1252"),
        pytest.param(b"caf\xe9 \x01\x02", id="control_characters"),
        pytest.param(bytes(1_000), id="nuls"),
        pytest.param(codecs.BOM_UTF8 + b"caf\xe9", id="broken_utf8_with_mark"),
        pytest.param(codecs.BOM_UTF16_LE + b"\x00\xd8a\x00", id="lone_surrogate"),
        pytest.param(codecs.BOM_UTF16_LE + b"a\x00b", id="half_a_unit"),
    ],
)
def test_bytes_that_are_no_text_are_refused(content: bytes) -> None:
    with pytest.raises(FileRefused) as caught:
        decode_text(content)
    assert caught.value.fault is FileFault.NOT_TEXT
    assert caught.value.__cause__ is None


def test_given_text_loses_its_mark_and_nothing_else() -> None:
    assert given_text("\ufeff\ufeffa\x00\r\n").text == "\ufeffa\x00\r\n"


def test_given_text_with_half_a_character_is_refused() -> None:
    with pytest.raises(FileRefused) as caught:
        given_text("Anna: \ud83d")
    assert caught.value.fault is FileFault.NOT_TEXT


def test_decoded_text_is_not_shown() -> None:
    assert "Anna" not in repr(decode_text(TALK.encode()))
