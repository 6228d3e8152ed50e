"""Find where a string of malformed JSON ends, where only one reading exists.

A mark ends its string when what follows it can follow a string there. Other marks are words of the
string, and are read as such only in pairs that open and close a quotation.
"""

import re
from enum import Enum
from typing import Final, Generic, NamedTuple, TypeVar

from ai_psychiatrist.domain.failures import RejectionCode
from ai_psychiatrist.validation.reply.limits import Effort, rejected

Value = TypeVar("Value")

SPACE: Final = r"\s\u180e\u200b-\u200f\u2060\ufeff"
"""Characters between the marks of JSON that stand for nothing, for a class of a pattern."""

OPENERS: Final = "\"'`“”„‘’«"
_CLOSERS: Final = {
    '"': re.compile(r'\\.|"', re.DOTALL),
    "'": re.compile(r"\\.|'", re.DOTALL),
    "`": re.compile(r"\\.|`", re.DOTALL),
    "«": re.compile(r"\\.|[«»]", re.DOTALL),
    **dict.fromkeys("“”„", re.compile(r"\\.|[“”]", re.DOTALL)),
    **dict.fromkeys("‘’", re.compile(r"\\.|[‘’]", re.DOTALL)),
}

COLON: Final = r"(?:[:：]|=>?)"
# Bounded, for it is read anew at each mark of a string.
_NEAR: Final = rf"(?:[{SPACE}]++|//[^\n]{{0,200}}\n|\#[^\n]{{0,200}}\n|/\*[^*]{{0,200}}\*/){{0,8}}+"
QUOTED_KEY: Final = (
    r"(?:\"[^\"\n]{1,200}\"|[“”„][^“”\n]{1,200}[“”]|'[^'\n]{1,200}'|‘[^’\n]{1,200}’|`[^`\n]{1,200}`)"
    rf"{_NEAR}{COLON}"
)
_KEY: Final = rf"(?:{QUOTED_KEY}|[A-Za-z_]\w{{0,63}}{_NEAR}{COLON})"
_VALUE: Final = rf"(?:[{OPENERS}\[{{\d-]|(?:[Tt]rue|[Ff]alse|null|None)\b)"
_CLOSED: Final = rf"(?:[\]}}]|[{SPACE},]*+\Z)"
_CUT_OFF: Final = r"[\"“][^\"”]{0,200}[\"”]?\Z"


class StringPlace(Enum):
    """Where a string stands; the value is what may follow one there."""

    KEY = re.compile(rf"{_NEAR}{COLON}")
    MEMBER = re.compile(
        rf"{_NEAR}(?:{_CLOSED}|(?:[,，]{_NEAR}){{1,2}}(?:{_KEY}|{_CLOSED}|{_CUT_OFF})|{QUOTED_KEY})"
    )
    ELEMENT = re.compile(
        rf"{_NEAR}(?:{_CLOSED}|[,，]{_NEAR}(?:{_VALUE}|{_CLOSED}))"
        rf"|(?:(?!\n)[{SPACE}])*+\n{_NEAR}[{OPENERS}\[{{]"
    )


class Read(NamedTuple, Generic[Value]):
    """What a part of malformed JSON says."""

    value: Value
    end: int
    """Offset after it."""


def string_at(text: str, start: int, end: int, place: StringPlace, *, effort: Effort) -> Read[str]:
    """Read the string whose opening mark is at `start`, of a text that goes to `end`.

    Raises `OutputRejected` when it does not end, or when more than one reading exists.
    """
    inner = 0
    for mark in _CLOSERS[text[start]].finditer(text, start + 1, end):
        if mark[0].startswith("\\"):
            continue
        effort.spend(effort.TOKEN)
        if _may_end(text, mark.end(), end, place, is_first=inner == 0):
            words = text[start + 1 : mark.start()]
            if inner % 2 or _NEXT_LINE_OF_LIST.search(words):
                break
            return Read(_unescaped(words), mark.end())
        before, after = text[mark.start() - 1], text[mark.end() : min(mark.end() + 1, end)]
        if not after:
            raise rejected(RejectionCode.TRUNCATED)
        if mark[0] in "'’" and before.isalnum() and after.isalnum():
            continue
        is_quotation = _opens(before, after) if inner % 2 == 0 else _closes(before, after)
        if not is_quotation or place is StringPlace.KEY:
            break
        inner += 1
    else:
        raise rejected(RejectionCode.TRUNCATED)
    raise rejected(RejectionCode.UNREPAIRABLE)


def _may_end(text: str, at: int, end: int, place: StringPlace, *, is_first: bool) -> bool:
    if place.value.match(text, at, end):
        return True
    # The first key after a list that was never closed.
    return (
        place is StringPlace.ELEMENT
        and is_first
        and StringPlace.KEY.value.match(text, at, end) is not None
    )


# Two texts of a list whose marks between them are lost.
_NEXT_LINE_OF_LIST: Final = re.compile(r",[ \t]*+\r?\n")
_BEFORE_QUOTATION: Final = frozenset("\"'“‘([{-–—/:")


def _opens(before: str, after: str) -> bool:
    return (before.isspace() or before in _BEFORE_QUOTATION) and not after.isspace()


def _closes(before: str, after: str) -> bool:
    return not before.isspace() and not after.isalnum() and after not in {":", "："}


_ESCAPE: Final = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_ESCAPED: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}


def _unescaped(text: str) -> str:
    if "\\" not in text:
        return text
    plain = _ESCAPE.sub(_character, text)
    # Halves that belong together become the one character that they are.
    return plain.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


def _character(escape: re.Match[str]) -> str:
    if escape[1]:
        return chr(int(escape[1], 16))
    if escape[2] in _ESCAPED:
        return _ESCAPED[escape[2]]
    if escape[2].isalnum() or escape[2].isspace():
        raise rejected(RejectionCode.UNREPAIRABLE)
    return escape[2]
