"""Finds labels that stand within what somebody says."""

import re
from collections.abc import Collection, Iterable, Iterator
from typing import Final

from ai_psychiatrist.services.transcripts.label_candidates import COLONS, GAP
from ai_psychiatrist.services.transcripts.label_words import Kind, kind_of
from ai_psychiatrist.services.transcripts.labels import SpeakerLabels, decides, label_key

_INSIDE: Final = re.compile(
    rf"(?<=[\s(\[|/*>])(?P<label>[^\W\d_][\w'’.]{{0,30}})[*_\])]{{0,3}}{GAP}?[{COLONS}]\**{GAP}*"
)
_ENDS: Final = (".", "!", "?", "…", "(", "[")
"""Behind these a name with a colon is a label, met before or not."""


def labels_inside(
    text: str, start: int, end: int, last_words: Collection[str], labels: SpeakerLabels
) -> Iterator[re.Match[str]]:
    """Yield where labels stand within what somebody says; `last_words`: of the text's labels."""
    for inside in _INSIDE.finditer(text, start, end):
        before = text[max(start, inside.start() - 2) : inside.start()].strip()
        if _is_inside(inside["label"], before[-1:], last_words, labels):
            yield inside


def last_words_of(labels: Iterable[str]) -> set[str]:
    """Return by what alone labels are known within a line: `Smith` for `Dr. Smith`."""
    return {key.split()[-1] for key in map(label_key, labels) if key}


def _is_inside(label: str, before: str, last_words: Collection[str], labels: SpeakerLabels) -> bool:
    is_known = label_key(label) in last_words or decides(label, labels)
    if len(label) == 1:
        return is_known and before in {"(", "["}
    return is_known or (before in _ENDS and kind_of(label, is_bare=False) is Kind.NAME)
