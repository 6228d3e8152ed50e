"""Turns the bytes of a file into text, and says what a file is that is no transcript."""

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

_LOOKED_AT: Final = 2_000
"""Characters at the beginning of a file that tell its form."""
_AS_TEXT: Final = "save it as plain text (.txt) or as a Word document (.docx)"
_HTML: Final = f"it is an HTML page; {_AS_TEXT}"
_OF_TIERS: Final = "export it as tab-separated text with a column of speakers and one of words"
_FOREIGN: Final = tuple(
    (re.compile(pattern, re.IGNORECASE | re.DOTALL), fault, what)
    for pattern, fault, what in (
        (r"%PDF-", FileFault.NOT_TEXT, f"it is a PDF file; {_AS_TEXT}"),
        (
            r"PK\x03\x04.{26}mimetypeapplication/vnd\.oasis\.opendocument",
            FileFault.NOT_TEXT,
            f"it is an OpenDocument file (.odt); {_AS_TEXT}",
        ),
        (
            r"\xd0\xcf\x11\xe0",
            FileFault.NOT_TEXT,
            "it is a Word document of before 2007 (.doc); save it as .docx",
        ),
        (r"\{\\rtf", FileFault.UNKNOWN_FORM, f"it is an RTF file; {_AS_TEXT}"),
        (
            r"(?:<\?xml[^>]*>\s*)?(?:<!doctype html|<html|<head\b|<body\b)",
            FileFault.UNKNOWN_FORM,
            _HTML,
        ),
        (
            r"(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<ANNOTATION_DOCUMENT\b",
            FileFault.UNKNOWN_FORM,
            f"it is an ELAN file (.eaf); {_OF_TIERS}",
        ),
        (
            r"File type = \"ooTextFile",
            FileFault.UNKNOWN_FORM,
            f"it is a Praat TextGrid; {_OF_TIERS}",
        ),
        (
            r"\[Script Info\]",
            FileFault.UNKNOWN_FORM,
            "it is a subtitle file in ASS or SSA; save it as SRT or WebVTT",
        ),
        (r"<\?xml|<!doctype", FileFault.UNKNOWN_FORM, f"it is an XML file; {_AS_TEXT}"),
    )
)


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
    nuls = content.count(b"\x00")
    plain = _tried(content, "utf-8")
    if not content.startswith(_BINARY):
        if nuls and (wide := _utf16_without_mark(content, nuls, is_utf8=plain is not None)):
            return _decoded(content, wide, is_assumed=True)
        if nuls <= len(content) * _MOST_NULS_OF_UTF8:
            if plain is not None:
                return DecodedText(text=plain, encoding="utf-8", is_assumed=False)
            return _western(content)
    raise FileRefused(FileFault.NOT_TEXT)


def given_text(content: str) -> DecodedText:
    """Take a text that was decoded already; raises `FileRefused` for one that is none."""
    try:
        written = content.encode("utf-8")
    except UnicodeEncodeError:
        raise FileRefused(FileFault.NOT_TEXT) from None
    if written.startswith(_BINARY):
        raise FileRefused(FileFault.NOT_TEXT)
    return DecodedText(text=content.removeprefix("\ufeff"), encoding="utf-8", is_assumed=False)


def _tried(content: bytes, encoding: str) -> str | None:
    try:
        return content.decode(encoding)
    except UnicodeDecodeError:
        return None


def _decoded(content: bytes, encoding: str, *, is_assumed: bool) -> DecodedText:
    text = _tried(content, encoding)
    if text is None:
        raise FileRefused(FileFault.NOT_TEXT)
    return DecodedText(text=text, encoding=encoding, is_assumed=is_assumed)


def _utf16_without_mark(content: bytes, nuls: int, *, is_utf8: bool) -> str | None:
    """Name the byte order where all the NULs stand on one side of the pairs, and enough of them."""
    at_even = content[::2].count(b"\x00")
    if len(content) % 2 or (at_even and at_even < nuls):
        return None
    if nuls < len(content) * _LEAST_NULS_OF_UTF16 and is_utf8:
        return None
    return "utf-16-be" if at_even else "utf-16-le"


def _western(content: bytes) -> DecodedText:
    decoded = _decoded(content, "cp1252", is_assumed=True)
    foreign = sum(1 for byte in content if byte > _LAST_OF_ASCII)
    if _CONTROL.search(decoded.text) or foreign > len(content) * _MOST_FOREIGN:
        raise FileRefused(FileFault.NOT_TEXT)
    return decoded


def refuse_foreign(content: bytes | str, *, name: str) -> None:
    """Raise `FileRefused`, saying what it is, for a file of a form that is not read.

    `name`: of the file; one that claims to be a Word document has to be an archive, and one that
    claims to be an HTML page is one.
    """
    begun = content[:_LOOKED_AT]
    text = begun.decode("latin-1") if isinstance(begun, bytes) else begun
    # A mark of the encoding is three characters in Latin-1.
    text = text.removeprefix("\xef\xbb\xbf").lstrip("\ufeff \t\r\n")
    for pattern, fault, what in _FOREIGN:
        if pattern.match(text):
            raise FileRefused(fault, what=what)
    if name.casefold().endswith((".html", ".htm")):
        raise FileRefused(FileFault.UNKNOWN_FORM, what=_HTML)
    if name.casefold().endswith(".docx") and not text.startswith("PK"):
        what = "it is named .docx and is no Word document; open it and save it as .docx again"
        raise FileRefused(FileFault.DOCUMENT_REFUSED, what=what)
