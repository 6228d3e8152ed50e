"""Finds what may be a speaker's label at the beginning of a line, in whatever way it is written."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from ai_psychiatrist.domain.transcript import MAX_TURNS
from ai_psychiatrist.services.transcripts.line_ends import BREAKS, END, GAP, INVISIBLE
from ai_psychiatrist.services.transcripts.refusals import too_many_turns
from ai_psychiatrist.services.transcripts.speaker_labels import LONGEST_LABEL
from ai_psychiatrist.services.transcripts.times import STAMP, seconds_of

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
_SIGN: Final = re.compile(r"[:：﹕∶꞉︰։׃\t\[<【]|\A[QA]")
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
    rf"{_MARK}?(?:\[(?P<square>{_NAME})\]|<(?P<angle>{_NAME})>|【(?P<label>{_NAME})】)"
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

PLAIN_SHAPES: Final = (COLON, _BRACKETS, _WITH_TIME, _TAB, _ORAL)
RARE_SHAPES: Final = (DASH, ALONE)


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
    label = groups.get("label") or groups.get("square") or groups.get("angle") or ""
    label = label.strip(" \t_*").strip()
    note = (groups.get("note") or "").strip()
    label += f" {note}" if note and not re.fullmatch(STAMP, note) else ""
    # Marks around a label are no part of it, and those behind a note are.
    label += ")" if label.count("(") > label.count(")") else ""
    stamp = lead["before"] or groups.get("after")
    if not 1 <= len(label) <= LONGEST_LABEL:
        return None
    if len(label) == 1 and shape not in {COLON, _ORAL}:
        return None
    if shape is IN_CAPITALS and not label.isupper():
        return None
    seconds = seconds_of(stamp) if stamp else None
    line = LabelledLine(
        start=start,
        words_start=found.end(),
        label=label,
        seconds=seconds,
        has_lost_time=bool(stamp) and seconds is None,
    )
    return Candidate(line, shape, shape is _BRACKETS and groups.get("after") is None)


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
