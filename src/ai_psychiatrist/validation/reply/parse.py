"""Read the answer of a reply: strictly first, and only then with its syntax repaired.

The answer is the last thing that the reply offers as one. If that cannot be read, the reply is
refused: an earlier one is never taken in its place.
"""

from contextlib import suppress
from dataclasses import dataclass

from ai_psychiatrist.domain.failures import RejectionCode
from ai_psychiatrist.validation.reply.limits import STRICT_LIMITS, ParseLimits, rejected
from ai_psychiatrist.validation.reply.locate import Parsed, offered
from ai_psychiatrist.validation.reply.repair import repaired_value
from ai_psychiatrist.validation.reply.strict import NotJson, strict_value
from ai_psychiatrist.validation.reply.thinking import without_thinking


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedObject:
    """A JSON object of a reply, and whether its syntax had to be repaired."""

    value: dict[str, object]
    repaired: bool


def parse_object(reply: str, limits: ParseLimits = STRICT_LIMITS) -> ParsedObject:
    """Return the JSON object that a reply gives as its answer.

    Raises `OutputRejected` as `parse_value` does, and for a value that is no object.
    """
    return _as_object(parse_value(reply, limits))


def parse_value(reply: str, limits: ParseLimits = STRICT_LIMITS) -> Parsed:
    """Return the JSON value that a reply gives as its answer.

    Raises `OutputRejected` when there is none, when it is cut off, nested beyond the limit, holds
    a key twice or a number that is not finite, or has no one reading.
    """
    whole = reply.strip().lstrip("\ufeff")
    with suppress(NotJson):
        return _unquoted(Parsed(value=strict_value(whole, limits), repaired=False), limits)
    return _unquoted(offered(without_thinking(reply), limits), limits)


def _unquoted(parsed: Parsed, limits: ParseLimits) -> Parsed:
    """Return the object that was written once more as a text, else the value as it is."""
    text = parsed.value
    if not isinstance(text, str) or not text.lstrip().startswith("{"):
        return parsed
    return Parsed(value=_whole_value(text.strip(), limits).value, repaired=True)


def parse_whole(text: str, limits: ParseLimits = STRICT_LIMITS) -> ParsedObject:
    """Return the JSON object that a text is, with nothing before or after it.

    Raises `OutputRejected` as `parse_object` does.
    """
    return _as_object(_whole_value(text, limits))


def _whole_value(text: str, limits: ParseLimits) -> Parsed:
    """Return the JSON value that a text is, with nothing before or after it."""
    with suppress(NotJson):
        return Parsed(value=strict_value(text, limits), repaired=False)
    if not text.startswith(("{", "[")):
        raise rejected(RejectionCode.NO_JSON)
    repaired = repaired_value(text, limits, end=len(text))
    if text[repaired.end :].strip(", \t"):
        raise rejected(RejectionCode.UNREPAIRABLE)
    return Parsed(value=repaired.value, repaired=True)


def _as_object(parsed: Parsed) -> ParsedObject:
    if not isinstance(parsed.value, dict):
        raise rejected(RejectionCode.NOT_AN_OBJECT)
    return ParsedObject(value=parsed.value, repaired=parsed.repaired)
