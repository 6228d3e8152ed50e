"""Read a line as a JSON object: by the fast parser where it gives what is written, else by ours."""

import re
from typing import Final

import orjson

from ai_psychiatrist.domain.errors import OutputRejected
from ai_psychiatrist.domain.failures import RejectionCode
from ai_psychiatrist.validation.reply.limits import ParseLimits, rejected
from ai_psychiatrist.validation.reply.parse import ParsedObject, parse_whole

_AS_ZERO: Final = bytes(48 if 48 <= code <= 57 else code for code in range(256))
_LONG_NUMBER: Final = b"0" * 19
"""From 19 digits on a whole number may be beyond 64 bits."""


def decode_object(content: bytes, limits: ParseLimits) -> ParsedObject:
    """Return the one JSON object that a line is.

    The syntax is repaired where that neither adds nor loses a value. Raises `OutputRejected` when
    the line is no text, no object, more than one, or breaks the limits.
    """
    value = decode_leniently(content)
    if value and holds_all(value, content, keeps_last_key=limits.keeps_last_key):
        _refuse_depth(content, value, limits.max_depth)
        return ParsedObject(value=value, repaired=False)
    try:
        text = content.decode("utf-8").strip()
    except UnicodeDecodeError:
        raise OutputRejected(
            RejectionCode.UNREPAIRABLE, "The line is no UTF-8 text. Convert the file."
        ) from None
    return parse_whole(text, limits)


def decode_leniently(content: bytes) -> dict[str, object]:
    """Return what the fast parser makes of a line, empty when that is no object.

    For telling which unit a refused line is of.
    """
    try:
        value = orjson.loads(content)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def holds_all(value: dict[str, object], content: bytes, *, keeps_last_key: bool) -> bool:
    """Return whether the fast parser gave all that a line writes; `True` is certain.

    It rounds whole numbers beyond 64 bits and drops all but the last of equal keys. Written anew,
    an object has one colon for each key beside those inside its strings. The line has at least as
    many of both, so an equal count means that no key was dropped.
    """
    try:
        written = orjson.dumps(value)
    except orjson.JSONEncodeError:
        return False
    if written == content:
        return True
    if _LONG_NUMBER in content.translate(_AS_ZERO):
        return False
    if keeps_last_key:
        return True
    return content.count(b":") == written.count(b":") and not _ESCAPED_COLON.search(content)


_ESCAPED_COLON: Final = re.compile(rb"\\u003[aA]")


def _refuse_depth(content: bytes, value: object, max_depth: int) -> None:
    if content.count(b"{") + content.count(b"[") <= max_depth:
        return
    layer = [value]
    for _ in range(max_depth):
        layer = [inner for outer in layer for inner in _parts(outer)]
        if not layer:
            return
    raise rejected(RejectionCode.TOO_DEEP)


def _parts(value: object) -> list[object]:
    """Return the objects and lists directly inside a value."""
    inside: list[object] = []
    if isinstance(value, dict):
        inside = list(value.values())
    elif isinstance(value, list):
        inside = value
    return [part for part in inside if isinstance(part, dict | list)]
