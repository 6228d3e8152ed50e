"""How clearly a place in a reply is offered as the answer."""

import re
from enum import Enum, auto
from typing import Final

_MOST_BEFORE: Final = 200
_NO_WORDS: Final = " \t>*_`~#-\u200b\ufeff"
_ASSIGNS: Final = re.compile(r"^(?:const |let |var )?\w+\s*=$")
_IS_KEY: Final = re.compile(r"[\"'”’]\s*[:,]$|[\[{]$")
_ENDS_IN_TAG: Final = re.compile(r"<[\w|/]{1,40}>\s*$")


class Standing(Enum):
    """How clearly a place in a reply is offered as the answer."""

    TAGGED = auto()
    FENCED = auto()
    ALONE = auto()
    """On lines of its own."""
    IN_A_LINE = auto()
    """After or before words on its line: the answer only if nothing else is."""
    REMARK = auto()
    """Inside a sentence, or part of something else."""


def standing_of(text: str, start: int, *, region_start: int) -> Standing:
    """Tell by the words before it how clearly a bracket offers an answer."""
    before = text[max(region_start, start - _MOST_BEFORE) : start]
    head, _, line = before.rpartition("\n")
    if len(before) == _MOST_BEFORE and "\n" not in before:
        return Standing.REMARK
    is_in_tag = _ENDS_IN_TAG.search(line) is not None
    line = line.strip(_NO_WORDS)
    is_doubled = line == "{" and before.endswith("{")
    if not is_doubled and _IS_KEY.search(line or head.rstrip(_NO_WORDS + "\n\r")):
        return Standing.REMARK
    if not line or is_doubled or is_in_tag or _ASSIGNS.search(line) or line.lower() == "json":
        return Standing.ALONE
    opens_lines = text[start + 1 : start + 3].lstrip(" \r").startswith("\n")
    if line.endswith((":", "=", ".", "!", "?", "：", "。")) or opens_lines:
        return Standing.IN_A_LINE
    return Standing.REMARK
