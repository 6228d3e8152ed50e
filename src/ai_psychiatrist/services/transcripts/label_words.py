"""How labels are written: like a name, a role or a number; and what is none however it stands."""

import re
from collections.abc import Sequence
from enum import StrEnum
from typing import Final

from ai_psychiatrist.services.transcripts.persons import PERSONS, WORDS
from ai_psychiatrist.services.transcripts.speaker_labels import (
    decides,
    label_key,
    without_note,
)

_PARTICLES: Final = frozenset(WORDS["label"]["particle"])
NO_LABELS: Final = frozenset(WORDS["label"]["heading"])
"""Headings of lists, letters and diaries; a number may follow them."""
_REPORTING: Final = frozenset(WORDS["label"]["reporting"])
FIRST_PERSON: Final = frozenset(WORDS["label"]["first_person"])
_SOUNDS: Final = frozenset(WORDS["label"]["sound"])
_TITLES: Final = frozenset(WORDS["title"]["all"])
_TOPIC: Final = frozenset(
    "about with on for as at what when where how from of to the a an this that in and if".split()
)
"""What a line's subject opens with, and no speaker's name."""
_NUMBERED: Final = re.compile(
    r"[#%@]?\d{1,4}|[^\W\d_]{1,3}[ _-]?\d{1,4}|(?:[^\W\d_]\.){1,4}|[#%@]\w+"
)
_MOST_OF_NAME: Final = 4
_MOST_WORDS: Final = 8
"""Of a label in which sentences may end."""
_MONTHS: Final = r"(?:jan|feb|m[aä]r|apr|may|mai|jun|jul|aug|sep|o[ck]t|nov|de[cz])[^\W\d]{0,6}\.?"
_NUMBERED_DAY: Final = r"\d{1,4}(?:st|nd|rd|th|\.)?"
_DAY: Final = re.compile(
    rf"(?:\w+ )?{_NUMBERED_DAY} (?:of )?{_MONTHS}(?:,? \d{{2,4}})?"
    rf"|(?:\w+,? )?{_MONTHS} {_NUMBERED_DAY}(?:,? \d{{2,4}})?|\d{1, 4}[./]\d{1, 2}[./](?:\d{1, 4})?"
)
_CHINESE_SAYING: Final = ("说", "說", "道")
_LAST_NUMBER: Final = re.compile(r" ?[\d.]+\Z")


class LabelKind(StrEnum):
    """How sure it is by its writing alone that something is a label."""

    NAME = "name"
    BRACKETS = "brackets"
    """In brackets alone, as sounds are, too."""
    PHRASE = "phrase"
    """A few words, a number or a sign: a label where labels are written so."""
    NONE = "none"


def kind_of(label: str, *, is_bare: bool) -> LabelKind:
    """Tell how a label is written; `is_bare`: brackets alone mark it."""
    words = label_key(label).split() or [""]
    is_sound = is_bare and not _SOUNDS.isdisjoint({words[0], words[-1]})
    if is_sound or _is_heading(label):
        return LabelKind.NONE
    if is_name(label):
        return LabelKind.BRACKETS if is_bare else LabelKind.NAME
    if words[-1] in _REPORTING or words[0] in FIRST_PERSON or _is_clause(label, words):
        return LabelKind.NONE
    if is_bare:
        return LabelKind.BRACKETS if len(words) == 1 and words[0] else LabelKind.NONE
    return LabelKind.PHRASE


def is_name(label: str) -> bool:
    """Return whether a label is written like a name or a role: `Anna`, `Dr. Smith`, `SPEAKER_0`."""
    plain = label_key(label)
    tokens = without_note(label).replace("_", " ").split()
    if not 1 <= len(tokens) <= 4 or len(plain) > 40 or _is_heading(label):
        return False
    if not any(map(str.isalpha, plain)) or any(mark in plain for mark in ';!…"'):
        return False
    if len(plain) > 1 and plain.endswith(_CHINESE_SAYING):
        return False
    return all(map(_is_name_part, tokens)) and not tokens[-1][0].islower()


def is_of_speaker(label: str) -> bool:
    """Return whether a label, seen once, can hardly be anything else.

    A word for a person, a title, a number, initials with full stops, or signs alone.
    """
    if _NUMBERED.fullmatch(label) or not any(map(str.isalnum, label)):
        return True
    tokens = [token.rstrip(".") for token in label_key(label).replace("'s", "").split()]
    if not tokens or tokens[0] in _TOPIC or not FIRST_PERSON.isdisjoint(tokens):
        return False
    if len(tokens) > _MOST_OF_NAME:
        return False
    is_person = any(len(token) > 1 and (token in PERSONS or decides(token)) for token in tokens)
    return is_person or label_key(label) in PERSONS or (len(tokens) > 1 and tokens[0] in _TITLES)


def _is_heading(label: str) -> bool:
    key = label_key(label)
    return _LAST_NUMBER.sub("", key) in NO_LABELS or _DAY.fullmatch(key) is not None


def _is_clause(label: str, words: Sequence[str]) -> bool:
    return len(words) > _MOST_WORDS and any(mark in label for mark in ",.;!?")


def _is_name_part(token: str) -> bool:
    if token.casefold() in _PARTICLES:
        return True
    if token.endswith(".") and len(token) > 6:
        return False
    return not token[0].islower() and (token[0].isalnum() or token[0] in "#&(?")
