"""How labels are written: what may be one at the beginning of a line, and how sure that is."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import islice
from typing import Final

from ai_psychiatrist.domain.transcript import MAX_TURNS
from ai_psychiatrist.services.transcripts.lines import (
    BREAKS,
    END,
    GAP,
    INVISIBLE,
    STAMP,
    seconds_of,
)
from ai_psychiatrist.services.transcripts.persons import PERSONS, WORDS
from ai_psychiatrist.services.transcripts.refusals import too_many_turns
from ai_psychiatrist.services.transcripts.speaker_labels import (
    LONGEST_LABEL,
    decides,
    label_key,
    without_note,
)

_MOST_LINES: Final = 10 * MAX_TURNS
"""How many lines with something like a label are looked at."""
LINE: Final = re.compile(rf"(?:\A|{END})")
_SOME: Final = rf"(?={GAP}*+\S{GAP}*+\S)"
"""Two characters or more: no label is shorter with its mark."""
_FIRST_OF_SOME: Final = re.compile(rf"\A{_SOME}")
# It begins with one set of characters, which the engine looks for quickly.
_NEXT_OF_SOME: Final = re.compile(rf"[{BREAKS}](?:(?<=\r)\n)?{_SOME}")
_LEAD: Final = re.compile(
    rf"[{INVISIBLE}]*{GAP}*(?:(?:[-*•#→]{{1,4}}|>+){GAP}+|>>+|[*%](?=[A-Za-z]{{3}}:))?"
    rf"(?:\d{{1,6}}[.)]?{GAP}+(?=[^\W\d]|[\[(*_]))?"
    rf"(?:(?P<before>{STAMP}){GAP}*(?:[-–—|]{GAP}*)?)?[{INVISIBLE}]*"
)
_SIGN: Final = re.compile(r"[:：﹕∶꞉︰։׃\t\[<【]|\A[QA]|\A\(speaker ")
"""Without one of these a line has no label but in the ways of writing that prose has, too."""
COLONS: Final = ":：﹕∶꞉︰։׃"
_NAME: Final = (
    rf"[^\s{COLONS}*\[\]<>|\"“„][^{COLONS}*\t{BREAKS}\[\]<>|\"“”]{{0,{LONGEST_LABEL - 1}}}?"
)
_AFTER: Final = rf"(?:{GAP}*+(?:[,|–—-]{GAP}*+)?(?P<after>{STAMP}))?"
_MARK: Final = r"(?:\*\*|__|\*|_|\")"
_TAG: Final = rf"(?:</?(?:b|i|u|p|strong|em|span|div|br|td|tr|li)\b[^<>{BREAKS}]{{0,60}}>)"
COLON: Final = re.compile(
    rf"{_TAG}{{0,4}}(?:{_MARK}|[“„(\[])?(?:(?P<label>{_NAME})|\[(?P<square>{_NAME})\]|<(?P<angle>{_NAME})>)"
    rf"(?P<note>{GAP}?(?:\[[^\[\]{BREAKS}]{{1,40}}\]|<[^<>{BREAKS}]{{1,40}}>)|:\d{{1,2}}(?=:{GAP}))?{_AFTER}(?:{_MARK}|[”)\]])?{_TAG}{{0,4}}{GAP}{{0,8}}"
    rf"(?:(?<!\d):(?!//)|(?<=\d):(?!//|\d)|[{COLONS[1:]}]){_MARK}?{_TAG}{{0,4}}{GAP}*"
)
_BRACKETS: Final = re.compile(
    rf"{_MARK}?(?:\[(?P<square>{_NAME})\]|<(?P<angle>{_NAME})>|【(?P<label>{_NAME})】"
    r"|\((?P<round>speaker (?:\d{1,2}|\?))\))"
    rf"{_MARK}?{_AFTER}{GAP}*"
)
_TAB: Final = re.compile(rf"(?P<label>{_NAME}){GAP}?\t{GAP}*(?=\S)")
_WITH_TIME: Final = re.compile(
    rf"{_MARK}?(?P<label>{_NAME}){_MARK}?{GAP}*+(?:[,|•–—-]{GAP}*+)?(?P<after>{STAMP}){GAP}*(?=[{BREAKS}]|\Z)"
)
_ORAL: Final = re.compile(rf"(?P<label>[QA]\d{{0,3}})[.)]{GAP}+(?=\S)")
ALONE: Final = re.compile(rf"{_MARK}?(?P<label>{_NAME}){_MARK}?{GAP}*(?=[{BREAKS}]|\Z)")
DASH: Final = re.compile(rf"(?P<label>{_NAME}){GAP}+[-–—]{GAP}+(?=\S)")
OTHERWISE: Final = re.compile(
    rf"(?:{_TAG}|[\"“'`*_#|({{【<\[>→{INVISIBLE}-]|{GAP}){{0,12}}"
    rf"(?P<label>[^\W\d_][\w'’]*(?:[ .]{{1,2}}[^\W_][\w'’]*){{0,3}}?)"
    rf"(?:{_TAG}|[\"”'`*_)}}】>\]]|{GAP}){{0,8}}"
    rf"(?:{GAP}*(?:[|>=→;/]|->|--|\.(?!\w)|,(?=\S|{GAP})|[)}}】`*_\]])|{GAP}{{2,}}|</|(?=[{BREAKS}]|\Z))"
    rf"{GAP}*"
)
"""A label with any other mark behind it, or around it."""
IN_CAPITALS: Final = re.compile(rf"(?P<label>[^\W\d_]{{3,20}}){GAP}+(?=\S)")
"""Of those that it matches, only the ones in capitals count."""
_HELD: Final = ("label", "square", "angle", "round")
"""The groups of which one holds a label."""
PLAIN_SHAPES: Final = (COLON, _BRACKETS, _WITH_TIME, _TAB, _ORAL)
RARE_SHAPES: Final = (DASH, ALONE)
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


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledLine:
    """A line that a label opens."""

    start: int
    """Offset of the line."""
    words_start: int
    """Offset of what is said; at the line's end where that begins on the next one."""
    label: str = field(repr=False)
    seconds: float | None
    has_lost_time: bool = False
    """Whether its time is none that a recording has."""


@dataclass(frozen=True, slots=True)
class Candidate:
    line: LabelledLine
    shape: re.Pattern[str]
    is_bare: bool
    """Whether brackets alone mark the label."""


def line_starts(text: str, start: int = 0) -> Iterator[int]:
    """Yield the offsets of the lines from one on that have room for a label."""
    if start == 0 and _FIRST_OF_SOME.match(text):
        yield 0
    for line_end in _NEXT_OF_SOME.finditer(text, start):
        yield line_end.end()


def candidates_in(
    text: str, starts: Iterable[int], shapes: tuple[re.Pattern[str], ...]
) -> list[Candidate]:
    found = list(islice(candidates(text, starts, shapes), _MOST_LINES + 1))
    if len(found) > _MOST_LINES:
        raise too_many_turns()
    return found


def candidates(
    text: str, starts: Iterable[int], shapes: tuple[re.Pattern[str], ...]
) -> Iterator[Candidate]:
    for start in starts:
        lead = _LEAD.match(text, start)
        if lead is None:
            continue
        marks = text[lead.end() : lead.end() + 2 * LONGEST_LABEL]
        if shapes is PLAIN_SHAPES and not (lead["before"] or _SIGN.search(marks)):
            continue
        for shape in shapes:
            found = shape.match(text, lead.end())
            if found and (candidate := _candidate(start, lead, found, shape)):
                yield candidate
                break
        else:
            candidate = _after_time(text, start, lead) if _WITH_TIME in shapes else None
            if candidate:
                yield candidate


def _candidate(
    start: int, lead: re.Match[str], found: re.Match[str], shape: re.Pattern[str]
) -> Candidate | None:
    groups = found.groupdict()
    label = next((groups[name] for name in _HELD if groups.get(name)), "")
    label = label.strip(" \t_*").strip()
    note = (groups.get("note") or "").strip()
    label += f" {note}" if note and not re.fullmatch(STAMP, note) else ""
    # Marks around a label are no part of it, and those behind a note are.
    label += ")" if label.count("(") > label.count(")") else ""
    stamp = lead["before"] or groups.get("after")
    is_loose_letter = len(label) == 1 and shape not in {COLON, _ORAL}
    is_ordinary_word = shape is IN_CAPITALS and not label.isupper()
    if is_loose_letter or is_ordinary_word or not 1 <= len(label) <= LONGEST_LABEL:
        return None
    seconds = seconds_of(stamp) if stamp else None
    line = LabelledLine(
        start=start,
        words_start=found.end(),
        label=label,
        seconds=seconds,
        has_lost_time=bool(stamp) and seconds is None,
    )
    # Sounds stand in brackets, too, but none is called a speaker with a number.
    is_bare = shape is _BRACKETS and groups["after"] is None and groups["round"] is None
    return Candidate(line, shape, is_bare)


def _after_time(text: str, start: int, lead: re.Match[str]) -> Candidate | None:
    """Read a line of a time and a label alone, with the words on the next one."""
    if lead["before"] is None:
        return None
    found = ALONE.match(text, lead.end())
    if found is None:
        return None
    following = LINE.match(text, found.end())
    lead_of_next = _LEAD.match(text, following.end()) if following else None
    is_alone = lead_of_next is not None and lead_of_next["before"] is None
    return _candidate(start, lead, found, ALONE) if is_alone else None


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
    is_clause = len(words) > _MOST_WORDS and any(mark in label for mark in ",.;!?")
    if words[-1] in _REPORTING or words[0] in FIRST_PERSON or is_clause:
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


def _is_name_part(token: str) -> bool:
    if token.casefold() in _PARTICLES:
        return True
    if token.endswith(".") and len(token) > 6:
        return False
    return not token[0].islower() and (token[0].isalnum() or token[0] in "#&(?")
