"""Read malformed JSON where only one reading exists; a bracket can be taken in two ways."""

from dataclasses import dataclass

from ai_psychiatrist.domain.errors import OutputRejected
from ai_psychiatrist.domain.failures import RejectionCode
from ai_psychiatrist.validation.reply.limits import Effort, ParseLimits, rejected
from ai_psychiatrist.validation.reply.malformed_json import MalformedJson, OddBrackets


@dataclass(frozen=True, slots=True, kw_only=True)
class Repaired:
    """What malformed JSON says."""

    value: object
    end: int
    """Offset after the value."""


def repaired_value(
    text: str, limits: ParseLimits, *, start: int = 0, end: int, effort: Effort
) -> Repaired:
    """Read the object or list that begins at `start`, of a text that goes to `end`.

    Raises `OutputRejected` when it ends too early, breaks a limit, or has no one reading.
    """
    if text[start] not in "{[":
        raise rejected(RejectionCode.TRUNCATED)
    readings: list[MalformedJson] = []
    refusal = rejected(RejectionCode.UNREPAIRABLE)
    for odd_brackets in OddBrackets:
        reader = MalformedJson(
            text, start, end, limits=limits, effort=effort, odd_brackets=odd_brackets
        )
        try:
            reader.read()
        except OutputRejected as error:
            refusal = error.detached()
        except RecursionError:
            raise rejected(RejectionCode.TOO_DEEP) from None
        else:
            readings.append(reader)
        if not reader.met_odd_bracket:
            break
    readings.sort(key=lambda reader: len(reader.moved))
    if not readings:
        raise refusal.detached()
    best, *others = readings
    rivals = [other for other in others if len(other.moved) == len(best.moved)]
    is_clear = all(repr(rival.value) == repr(best.value) for rival in rivals)
    # Where brackets went wrong in two ways, one of them was moved from here to there.
    if not is_clear or len(set(best.moved)) > 1:
        raise rejected(RejectionCode.UNREPAIRABLE)
    return Repaired(value=best.value, end=best.at)
