"""Columns of rows of text: what separates them, times in seconds, and where a quote closes."""

import re
from collections.abc import Sequence
from typing import Final

from ai_psychiatrist.services.transcripts.times import MOST_SECONDS

_LINE_END: Final = re.compile(r"[\r\n]")
_SEPARATOR: Final = re.compile(r"[,\t;]")
_MOST_HEADER: Final = 400
_MOST_TIME: Final = 40
_SECONDS: Final = re.compile(r"\+?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?", re.ASCII)
_LIKE_A_TIME: Final = re.compile(
    r"[-+]?[\d.,:]*(?:\d[eE][-+]?\d+)?|[-+]?inf(?:inity)?|nan|null|none|n/?a|-|\?",
    re.ASCII | re.IGNORECASE,
)


def row_header(text: str) -> tuple[str, list[str]] | None:
    """Return what separates the columns of the first line, and their names without case.

    `None` where the line is longer than any header, or has one column.
    """
    header = _LINE_END.split(text[:_MOST_HEADER].removeprefix("\ufeff"), maxsplit=1)[0]
    separator = _SEPARATOR.search(header)
    if separator is None:
        return None
    return separator[0], [unquoted(name).casefold() for name in header.split(separator[0])]


def separator_of(text: str, headers: Sequence[Sequence[str]]) -> str | None:
    """Return what separates the columns of a file that has one of the headers."""
    found = row_header(text)
    return found[0] if found and found[1] in headers else None


def unquoted(column: str) -> str:
    """Strip a column, and the quotes around all of it."""
    plain = column.strip()
    is_quoted = len(plain) > 1 and plain[0] == plain[-1] == '"'
    return plain[1:-1].strip() if is_quoted else plain


def seconds(written: str, separator: str) -> float | None:
    """Read a time from zero on; `None` for any other. A comma may mark the decimals of it."""
    plain = unquoted(written)
    if separator != ",":
        plain = plain.replace(",", ".")
    if len(plain) > _MOST_TIME or not _SECONDS.fullmatch(plain):
        return None
    value = float(plain)
    return value if value <= MOST_SECONDS else None


def is_like_a_time(written: str) -> bool:
    """Tell a column of times, blank and unreadable ones too, from words."""
    plain = unquoted(written)
    return len(plain) <= _MOST_TIME and _LIKE_A_TIME.fullmatch(plain) is not None


def closing_quote(quoted: str) -> int | None:
    """Return where the quote closes in which a text begins; two in a row are one in the words."""
    at = quoted.find('"')
    while at >= 0 and quoted[at + 1 : at + 2] == '"':
        at = quoted.find('"', at + 2)
    return at if at >= 0 else None
