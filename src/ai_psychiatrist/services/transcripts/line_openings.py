"""Tells that the lines of a text open or end alike, as if somebody's name stood there."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Final

from ai_psychiatrist.domain.transcript import Speaker
from ai_psychiatrist.services.transcripts.label_words import (
    FIRST_PERSON,
    NO_LABELS,
    LabelKind,
    kind_of,
)
from ai_psychiatrist.services.transcripts.speaker_labels import (
    DEFAULT_LABELS,
    known_speaker,
    label_key,
)
from ai_psychiatrist.services.transcripts.times import STAMP

_MOST_LINES: Final = 20_000
_FEWEST_LINES: Final = 4
_LEAST_SHARE: Final = 0.45
"""Of the lines that have words."""
_LONGEST: Final = 300
"""Characters at a line's beginning, and at its end, that are looked at."""
_FIRST: Final = re.compile(rf"\W{{0,3}}(?:{STAMP})?[\W\d_]{{0,40}}([^\W\d_][\w'’-]{{0,30}})")
_LAST: Final = re.compile(r"([^\W\d_][\w'’-]{0,30})[\W_]{0,6}\Z")
_FIELD: Final = re.compile(
    r"\W{0,8}(?:speaker|who|role|sender|author|said_by)\b[\"' \t]{0,4}[=:]", re.IGNORECASE
)
_WORD: Final = re.compile(r"[^\W\d_]+")
_MARKED_FIRST: Final = re.compile(r"(?:\(?\w{1,3}[.)\]/]|[#@]\w{1,30}|[^:]{1,160}:)(?=\s)")
_MARKED_LAST: Final = re.compile(r"(?:\s:[ ]?([^\s:]{1,30})|\s([^\s:]{1,30})[ ]?:)\Z")
_NAME_INSIDE: Final = re.compile(
    r"(?:\A|(?<=[.!?…\"”)/|] ))([^\W\d_][\w'’.]{0,30}(?: [^\W\d_][\w'’]{0,30}){0,2}):(?=\s)"
)
_ANY_INSIDE: Final = re.compile(r"(?<![\w-])([^\W\d_]\w{1,30})[:：](?=\s)")
_ENDS_SENTENCE: Final = re.compile(r"[.!?…。？！]\W{0,4}\Z")
_INITIALS: Final = re.compile(r"[^\W\d_]{1,3}\d{0,3}")
_NO_INITIALS: Final = frozenset({"I", "A", "OK", "O"})
_LEAST_ANSWERS: Final = 3
_LEAST_CHANGES: Final = 3


def opens_alike(lines: Sequence[str]) -> bool:
    """Return whether lines open, or end, with the same few names again and again."""
    with_words = [line for line in lines[:_MOST_LINES] if line.strip()]
    looked_at = [line.strip() for line in with_words]
    return _takes_turns(with_words) or any(shows(looked_at) for shows in _SHOWN)


def _names_fields(lines: Sequence[str]) -> bool:
    return sum(1 for line in lines if _FIELD.match(line)) > 1


def _opens_with_known(lines: Sequence[str]) -> bool:
    first = {found[1] for line in lines if (found := _FIRST.match(line))}
    return _are_both({word for word in first if len(word) > 2})


def _has_labels_inside(lines: Sequence[str]) -> bool:
    """Tell labels behind the sentences of others: two known ones, or two like names."""
    names = 0
    for line in lines:
        if ":" not in line and "：" not in line:
            continue
        known = [word for word in _ANY_INSIDE.findall(line) if _is_known(word)]
        if len(known) > 1 or (known and _are_both({*known, *_first_labels(lines)})):
            return True
        found = [name for name in _NAME_INSIDE.findall(line) if _is_like_name(name)]
        names += len(found) > 1
    return names > 0


def _first_labels(lines: Sequence[str]) -> set[str]:
    return {found[1] for line in lines for found in _ANY_INSIDE.finditer(line[:_LONGEST])}


def _are_both(words: set[str]) -> bool:
    roles = {known_speaker(word, DEFAULT_LABELS) for word in words}
    return {Speaker.PARTICIPANT, Speaker.INTERVIEWER} <= roles


def _is_known(word: str) -> bool:
    return known_speaker(word, DEFAULT_LABELS) in {Speaker.PARTICIPANT, Speaker.INTERVIEWER}


def _is_like_name(name: str) -> bool:
    return kind_of(name, is_bare=False) is LabelKind.NAME


def _recur_with_marks(lines: Sequence[str]) -> bool:
    first = [found[0] for line in lines if (found := _MARKED_FIRST.match(line[:_LONGEST]))]
    last = [
        found[1] or found[2] for line in lines if (found := _MARKED_LAST.search(line[-_LONGEST:]))
    ]
    return _alternate(first) or _alternate(last)


def _alternate(tokens: Sequence[str]) -> bool:
    labels = (token.rstrip(":") for token in tokens)
    times = Counter(label for label in labels if kind_of(label, is_bare=True) is not LabelKind.NONE)
    return len(times) > 1 and max(times.values()) > 1


def opens_with_names(lines: Sequence[str]) -> bool:
    """Tell names by the words that recur; one that stands in lower case elsewhere is none."""
    if len(lines) < _FEWEST_LINES:
        return False
    ordinary = {word for line in lines for word in _WORD.findall(line) if word.islower()}
    first = [found[1] for line in lines if (found := _FIRST.match(line))]
    last = [found[1] for line in lines if (found := _LAST.search(line[-40:]))]
    return any(_are_names(words, ordinary, len(lines)) for words in (first, last))


def _are_names(words: Sequence[str], ordinary: set[str], lines: int) -> bool:
    times = Counter(word for word in words if word[0].isupper() and _can_be_name(word, ordinary))
    recurring = {word: count for word, count in times.items() if count > 1}
    return len(recurring) > 1 and sum(recurring.values()) >= _LEAST_SHARE * lines


def _can_be_name(word: str, ordinary: set[str]) -> bool:
    key = label_key(word)
    if key in NO_LABELS or key in FIRST_PERSON:
        return False
    if word.isupper() and _INITIALS.fullmatch(word):
        return word not in _NO_INITIALS and bool(ordinary)
    return word.lower() not in ordinary and len(word) > 2


def _takes_turns(lines: Sequence[str]) -> bool:
    """Tell sentences of two kinds by turns: asked or not, indented or not, in capitals or not."""
    asked = [line.rstrip().endswith(("?", "？", "؟")) for line in lines]
    if sum(1 for one, other in pairwise(asked) if one and not other) >= _LEAST_ANSWERS:
        return True
    if not all(map(_ENDS_SENTENCE.search, lines)):
        return False
    indented = [line.startswith(("    ", "\t")) for line in lines]
    in_capitals = [line.isupper() for line in lines]
    return any(
        sum(1 for one, other in pairwise(kinds) if one is not other) >= _LEAST_CHANGES
        for kinds in (indented, in_capitals)
    )


_SHOWN: Final[tuple[Callable[[Sequence[str]], bool], ...]] = (
    _names_fields,
    _opens_with_known,
    _has_labels_inside,
    _recur_with_marks,
    opens_with_names,
)
