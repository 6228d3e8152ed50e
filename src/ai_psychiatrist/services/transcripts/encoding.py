"""Turns the bytes of a file into text, and tells how."""

import codecs
import re
from dataclasses import dataclass, field
from typing import Final

from ai_psychiatrist.services.transcripts.utterances import FileFault, FileRefused

# The marks of UTF-32 come first: that of its little-endian form begins as that of UTF-16 does.
_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_BINARY: Final = (
    b"\x00\x05\x16\x07",
    b"\x00\x05\x16\x00",
    b"PK\x03\x04",
    b"PK\x05\x06",
    b"%PDF-",
    b"\x89PNG",
    b"\xff\xd8\xff",
    b"GIF8",
    b"RIFF",
    b"OggS",
    b"fLaC",
    b"ID3",
    b"\x1f\x8b",
    b"\xd0\xcf\x11\xe0",
    b"SQLite format 3\x00",
)
_CONTROL: Final = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f]")
_LEAST_NULS_OF_UTF16: Final = 0.1
"""Share of the bytes: a text in Latin letters has about a half, one in Chinese some line ends."""
_MOST_NULS_OF_UTF8: Final = 0.1
_LAST_OF_ASCII: Final = 0x7F
_MOST_FOREIGN: Final = 0.25
"""Share of the bytes: no Western language has so many letters with accents."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodedText:
    """A text without its byte order mark; line ends are as they were."""

    text: str = field(repr=False)
    encoding: str
    """As Python names it, such as `utf-16-le`."""
    is_assumed: bool
    """Whether the bytes would make another text in another encoding as well."""


def decode_text(content: bytes) -> DecodedText:
    """Decode a file; raises `FileRefused` for bytes that are no text."""
    for mark, encoding in _MARKS:
        if content.startswith(mark):
            return _decoded(content[len(mark) :], encoding, is_assumed=False)
    if content.startswith(_BINARY):
        raise FileRefused(FileFault.NOT_TEXT)
    nuls = content.count(b"\x00")
    if nuls and (wide := _utf16_without_mark(content, nuls)):
        return _decoded(content, wide, is_assumed=True)
    if nuls > len(content) * _MOST_NULS_OF_UTF8:
        raise FileRefused(FileFault.NOT_TEXT)
    try:
        return DecodedText(text=content.decode("utf-8"), encoding="utf-8", is_assumed=False)
    except UnicodeDecodeError:
        return _western(content)


def given_text(content: str) -> DecodedText:
    """Take a text that somebody else decoded; raises `FileRefused` for one that is none."""
    try:
        written = content.encode("utf-8")
    except UnicodeEncodeError:
        raise FileRefused(FileFault.NOT_TEXT) from None
    if written.startswith(_BINARY):
        raise FileRefused(FileFault.NOT_TEXT)
    return DecodedText(text=content.removeprefix("\ufeff"), encoding="utf-8", is_assumed=False)


def _decoded(content: bytes, encoding: str, *, is_assumed: bool) -> DecodedText:
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError:
        raise FileRefused(FileFault.NOT_TEXT) from None
    return DecodedText(text=text, encoding=encoding, is_assumed=is_assumed)


def _utf16_without_mark(content: bytes, nuls: int) -> str | None:
    """Name the byte order where all the NULs stand on one side of the pairs, and enough of them."""
    at_even = content[::2].count(b"\x00")
    if len(content) % 2 or (at_even and at_even < nuls):
        return None
    if nuls < len(content) * _LEAST_NULS_OF_UTF16 and _is_utf8(content):
        return None
    return "utf-16-be" if at_even else "utf-16-le"


def _is_utf8(content: bytes) -> bool:
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _western(content: bytes) -> DecodedText:
    decoded = _decoded(content, "cp1252", is_assumed=True)
    foreign = sum(1 for byte in content if byte > _LAST_OF_ASCII)
    if _CONTROL.search(decoded.text) or foreign > len(content) * _MOST_FOREIGN:
        raise FileRefused(FileFault.NOT_TEXT)
    return decoded
