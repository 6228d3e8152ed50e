"""Read the answer of a reply: strictly first, and only then with its syntax repaired.

The answer is the last thing that the reply offers as one. If that cannot be read, the reply is
refused: an earlier one is never taken in its place.
"""

import re
import sys
from contextlib import suppress
from typing import Final

from ai_psychiatrist.domain.errors import OutputRejected
from ai_psychiatrist.domain.failures import RejectionCode
from ai_psychiatrist.validation.reply.json_decoder import (
    NotJson,
    Parsed,
    ParsedObject,
    decode,
    decode_quickly,
)
from ai_psychiatrist.validation.reply.limits import STRICT_LIMITS, Effort, ParseLimits, rejected
from ai_psychiatrist.validation.reply.locate import offered
from ai_psychiatrist.validation.reply.repair import repaired_value
from ai_psychiatrist.validation.reply.thinking import without_thinking


def parse_object(reply: str, limits: ParseLimits = STRICT_LIMITS) -> ParsedObject:
    """Return the JSON object that a reply gives as its answer.

    Raises `OutputRejected` as `parse_value` does, and for a value that is no object.
    """
    return as_object(parse_value(reply, limits))


def parse_value(reply: str, limits: ParseLimits = STRICT_LIMITS) -> Parsed[object]:
    """Return the JSON value that a reply gives as its answer.

    Raises `OutputRejected` when there is none, when it is cut off, nested beyond the limit, holds
    a key twice or a number that is not finite, or has no one reading.
    """
    whole = reply.strip().lstrip("\ufeff")
    with suppress(NotJson):
        return _unquoted(Parsed(value=decode(whole, limits), repaired=False), limits)
    said = without_thinking(reply)
    if _is_escaped(said):
        parsed = offered(_ESCAPE.sub(_character, said), limits)
        return Parsed(value=parsed.value, repaired=True)
    return _unquoted(offered(said, limits), limits)


_ESCAPED_OPENING: Final = re.compile(r'\{\s*(?:\\n\s*)?\\"')
_PLAIN_MARK: Final = re.compile(r'(?<!\\)"')
_ESCAPE: Final = re.compile(r'\\(["\\/nrt])')


def _is_escaped(text: str) -> bool:
    """Return whether a text is JSON as it would stand in a string, without the marks around."""
    return _ESCAPED_OPENING.search(text) is not None and _PLAIN_MARK.search(text) is None


def _character(escape: re.Match[str]) -> str:
    return {"n": "\n", "r": "\r", "t": "\t"}.get(escape[1], escape[1])


def _unquoted(parsed: Parsed[object], limits: ParseLimits) -> Parsed[object]:
    """Return the object that was written once more as a text, else the value as it is."""
    text = parsed.value
    if not isinstance(text, str) or not text.lstrip().startswith("{"):
        return parsed
    read = _whole_value(text.strip(), limits, Effort(len(text)))
    return Parsed(value=read.value, repaired=True)


def parse_line(content: bytes, limits: ParseLimits) -> ParsedObject:
    """Return the one JSON object that a line is.

    The syntax is repaired where that neither adds nor loses a value. Raises `OutputRejected` when
    the line is no text, no object, more than one, or breaks the limits.
    """
    parsed = decode_quickly(content, limits)
    if parsed is not None:
        return parsed
    try:
        text = content.decode("utf-8").strip()
    except UnicodeDecodeError:
        raise OutputRejected(
            RejectionCode.UNREPAIRABLE, "The line is no UTF-8 text. Convert the file."
        ) from None
    # Lines are the caller's own data, however many values they hold.
    return as_object(_whole_value(text, limits, Effort(sys.maxsize)))


def _whole_value(text: str, limits: ParseLimits, effort: Effort) -> Parsed[object]:
    """Return the JSON value that a text is, with nothing before or after it."""
    with suppress(NotJson):
        return Parsed(value=decode(text, limits), repaired=False)
    if not text.startswith(("{", "[")):
        raise rejected(RejectionCode.NO_JSON)
    repaired = repaired_value(text, limits, end=len(text), effort=effort)
    if text[repaired.end :].strip(", \t"):
        raise rejected(RejectionCode.UNREPAIRABLE)
    return Parsed(value=repaired.value, repaired=True)


def as_object(parsed: Parsed[object]) -> ParsedObject:
    """Return a value that is an object; raises `OutputRejected` for any other."""
    if not isinstance(parsed.value, dict):
        raise rejected(RejectionCode.NOT_AN_OBJECT)
    return Parsed(value=parsed.value, repaired=parsed.repaired)
