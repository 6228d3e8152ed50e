"""Tells that the lines of a text open as if somebody's name stood there, in a way nobody knows."""

import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

from ai_psychiatrist.domain.transcript import Speaker
from ai_psychiatrist.services.transcripts.label_words import NO_LABELS
from ai_psychiatrist.services.transcripts.labels import DEFAULT_LABELS, known_speaker, label_key
from ai_psychiatrist.services.transcripts.times import STAMP

_MOST_LINES: Final = 20_000
_FEWEST_LINES: Final = 4
_LEAST_SHARE: Final = 0.45
"""Of the lines that have words."""
_FIRST: Final = re.compile(rf"\W{{0,3}}(?:{STAMP})?[\W\d_]{{0,40}}([^\W\d_][\w'’-]{{0,30}})")
_LAST: Final = re.compile(r"([^\W\d_][\w'’-]{0,30})[\W_]{0,6}\Z")
_FIELD: Final = re.compile(
    r"\W{0,8}(?:speaker|who|role|sender|author|said_by)\b[\"' \t]{0,4}[=:]", re.IGNORECASE
)
_WORD: Final = re.compile(r"[^\W\d_]+")


def opens_alike(text: str) -> bool:
    """Return whether lines open, or end, with the same few names again and again.

    A word that stands in lower case elsewhere is no name; neither is the heading of a list.
    """
    lines = [line.strip() for line in text.splitlines()[:_MOST_LINES] if line.strip()]
    if sum(1 for line in lines if _FIELD.match(line)) > 1:
        return True
    first = [found[1] for line in lines if (found := _FIRST.match(line))]
    roles = {known_speaker(word, DEFAULT_LABELS) for word in set(first) if len(word) > 2}
    if {Speaker.PARTICIPANT, Speaker.INTERVIEWER} <= roles:
        return True
    if len(lines) < _FEWEST_LINES:
        return False
    ordinary = {word for word in _WORD.findall(text) if word.islower()}
    last = [found[1] for line in lines if (found := _LAST.search(line[-40:]))]
    return any(_are_names(words, ordinary, len(lines)) for words in (first, last))


def _are_names(words: Sequence[str], ordinary: set[str], lines: int) -> bool:
    times = Counter(word for word in words if word[0].isupper() and _can_be_name(word, ordinary))
    recurring = {word: count for word, count in times.items() if count > 1}
    return len(recurring) > 1 and sum(recurring.values()) >= _LEAST_SHARE * lines


def _can_be_name(word: str, ordinary: set[str]) -> bool:
    key = label_key(word)
    is_ordinary = word.lower() in ordinary or key in NO_LABELS
    return not is_ordinary and (len(word) > 2 or word in {"Q", "A"})
