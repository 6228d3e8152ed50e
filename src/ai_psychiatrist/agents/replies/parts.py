"""What replies of several agents hold: tagged texts, lists of quotes, numbers with their words."""

import math
import re
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Final, TypeVar

from ai_psychiatrist.domain.errors import OutputRejected
from ai_psychiatrist.domain.failures import RejectionCode
from ai_psychiatrist.validation.reply.limits import HALF_CHARACTER
from ai_psychiatrist.validation.reply.tags import has_unclosed_tag, tagged_block

PartT = TypeVar("PartT")

MAX_QUOTES: Final = 100
"""Most quotes in one list of a reply."""
_A_WORD: Final = re.compile(r"\w")
"""What a placeholder such as … lacks."""
_NUMBER_AND_WORDS: Final = re.compile(r"(\d)\s?[-–=:(]\s?([a-z -]{3,40}?)\)?\.?", re.IGNORECASE)


def required_block(reply: str, tag: str) -> str:
    """Return the words between two tags; raises `OutputRejected` where there are none."""
    return required(reply, tag, tagged_block(reply, tag))


def required(reply: str, tag: str, block: str | None) -> str:
    """Return a block that was looked for; raises `OutputRejected` where it says nothing."""
    if has_unclosed_tag(reply, tag):
        raise cut_off(tag)
    if block is None:
        raise OutputRejected(
            RejectionCode.MISSING_TAG,
            f"The tag <{tag}>…</{tag}> is missing. Reply with all the tags of the task.",
        )
    if not _A_WORD.search(block):
        raise OutputRejected(
            RejectionCode.EMPTY_FIELD,
            f"The tag <{tag}> is empty. Write its content, or: not assessed in interview.",
        )
    return block


def cut_off(tag: str) -> OutputRejected:
    """Return the rejection of a reply that ends inside a tag."""
    return OutputRejected(
        RejectionCode.TRUNCATED,
        f"The reply ends inside <{tag}>. Reply with all the tags of the task, briefer.",
    )


def refuse_too_many(quotes: Sequence[object], place: str) -> None:
    """Refuse lists that nobody reads: checking each quote takes time, and none may be dropped."""
    if len(quotes) > MAX_QUOTES:
        raise OutputRejected(
            RejectionCode.TOO_MANY_QUOTES,
            f"{place} lists far too many quotes. Give the most telling ones.",
        )


def number_of_words(value: object, words: Sequence[Sequence[str]]) -> object:
    """Return the number of a text such as "2 (moderate)", if its words say the same."""
    found = _NUMBER_AND_WORDS.fullmatch(value.strip()) if isinstance(value, str) else None
    if found is None or int(found[1]) >= len(words):
        return value
    return found[1] if found[2].lower() in words[int(found[1])] else value


def valid_part(read: Callable[[str], PartT | None]) -> Callable[[str], PartT | None]:
    """Let a reading of what is valid of a refused reply find nothing where it finds no answer."""

    @wraps(read)
    def reader(text: str) -> PartT | None:
        try:
            return read(text)
        except (OutputRejected, ValueError, RecursionError):
            return None

    return reader


def is_unread_text(value: object) -> bool:
    """Return whether a value that has to be a text was given twice, or holds half a character."""
    if isinstance(value, float):
        return math.isnan(value)
    return isinstance(value, str) and HALF_CHARACTER in value
