"""What the opening of a turn says to the question before it."""

from enum import StrEnum

from ai_psychiatrist.services.risk.statement import Statement


class DangerReply(StrEnum):
    """What the opening of a turn says to a question; the values are keys of the vocabulary."""

    YES = "yes"
    NO = "no"
    OVER = "over"
    WELL = "well"
    """It praises what was asked about: "he's a lamb" after "do you feel safe with him?"."""
    UNTOLD = "untold"
    """It answers neither yes nor no."""
    NOT_UNDERSTOOD = "not_understood"


def reply_in(statement: Statement) -> DangerReply:
    """Read one clause; the first phrase that is a reply decides."""
    first = next(statement.matched.among("replies"), None)
    return DangerReply.UNTOLD if first is None else DangerReply(first.kind)
