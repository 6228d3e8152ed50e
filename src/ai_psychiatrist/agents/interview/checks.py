"""What a schema cannot say about the texts of a reply, with feedback that never repeats them."""

import re
from typing import Final

from pydantic_core import PydanticCustomError

from ai_psychiatrist.domain.failures import RejectionCode

MAX_TEXT_CHARACTERS: Final = 8_000
"""Longest text in one field: what is kept of an interview has to stay readable."""

OURS: Final = "refused_"
"""Begins the error types of these checks; the rest is a rejection code."""

_WORD: Final = re.compile(r"\w+")
_APOSTROPHES: Final = str.maketrans("’ʼ", "''")
_NOT_KNOWING: Final = re.compile(
    r"\b(?:"
    r"(?:(?:do|did|does|could|can|would)(?: not|n't)|can't) (?:\w+ ){0,2}"
    r"(?:know|remember|recall|say|tell|think of|notice|see|follow)"
    r"|cannot (?:\w+ ){0,2}(?:know|remember|recall|say|tell)"
    r"|dunno|no idea|no clue|not (?:\w+ ){0,2}(?:sure|certain|clear|remember)"
    r"|(?:isn't|wasn't|aren't|weren't) (?:\w+ ){0,2}(?:sure|certain|clear)"
    r"|unsure|uncertain|unclear|unknown"
    r"|(?:hard|difficult|impossible|too early) to (?:say|tell|know|remember)"
    r"|forgot|forgotten|maybe|perhaps|rather not say|prefer not to"
    r")\b"
)


def violation(code: RejectionCode, rule: str) -> PydanticCustomError:
    """Return the error that a validator raises; `rule`: a fixed sentence for the model."""
    return PydanticCustomError(f"{OURS}{code}", rule)


def not_endless(text: str) -> str:
    """Refuse a text that nobody would read."""
    if len(text) > MAX_TEXT_CHARACTERS:
        raise violation(RejectionCode.TOO_LONG, "is far too long; say it in a few sentences")
    return text


def has_words(text: str) -> str:
    """Refuse a text without a letter or digit."""
    if _WORD.search(text) is None:
        raise violation(RejectionCode.EMPTY_FIELD, "must not be empty")
    return text


def same_words(text: str) -> str:
    """Return what two texts share that differ in case, spacing or punctuation alone."""
    return " ".join(_WORD.findall(text.translate(_APOSTROPHES).casefold()))


def distinct_texts(texts: tuple[str, ...]) -> tuple[str, ...]:
    """Refuse a list in which a text occurs twice, but for case, spacing and punctuation."""
    if len(set(map(same_words, texts))) < len(texts):
        raise violation(RejectionCode.NOT_DISTINCT, "holds the same text twice; each must differ")
    return texts


def is_not_knowing(text: str) -> bool:
    """Return whether an answer leaves room for somebody who is not sure."""
    return _NOT_KNOWING.search(text.translate(_APOSTROPHES).casefold()) is not None
