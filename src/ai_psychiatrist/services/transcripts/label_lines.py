"""Finds the lines of a text that open with a speaker's label, in whatever way it is written."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from ai_psychiatrist.domain.transcript import MAX_TURNS, Speaker
from ai_psychiatrist.services.transcripts.label_words import Kind, is_name, kind_of
from ai_psychiatrist.services.transcripts.labels import (
    LONGEST_LABEL,
    SpeakerLabels,
    known_speaker,
    label_key,
)
from ai_psychiatrist.services.transcripts.refusals import too_many_turns
from ai_psychiatrist.services.transcripts.times import STAMP, seconds_of

_MOST_LINES: Final = 10 * MAX_TURNS
"""How many lines with something like a label are looked at."""

_GAP: Final = r"[^\S\r\n]"
_UNSEEN: Final = "\u200b\u200c\u200d\u200e\u200f\u2060\ufeff\u202a-\u202e\u2066-\u2069"
_LINE: Final = re.compile(r"(?:\A|\r\n|\n|\r)")
_LEAD: Final = re.compile(
    rf"[{_UNSEEN}]*{_GAP}*(?:(?:[-*•#→]{{1,4}}|>+){_GAP}+|>>+|[*%](?=[A-Za-z]{{3}}:))?"
    rf"(?:\d{{1,6}}[.)]?{_GAP}+(?=[^\W\d]|[\[(*_]))?"
    rf"(?:(?P<before>{STAMP}){_GAP}*(?:[-–—|]{_GAP}*)?)?[{_UNSEEN}]*"
)
_SIGN: Final = re.compile(r"[:：﹕∶꞉︰։׃\t\[<【]|\A[QA]")
"""Without one of these a line has no label but in the ways of writing that prose has, too."""
_COLONS: Final = ":：﹕∶꞉︰։׃"
_NAME: Final = (
    rf"[^\s{_COLONS}*\[\]<>|\"“„][^{_COLONS}*\t\r\n\[\]<>|\"“”]{{0,{LONGEST_LABEL - 1}}}?"
)
_AFTER: Final = rf"(?:{_GAP}*+(?:[,|–—-]{_GAP}*+)?(?P<after>{STAMP}))?"
_MARK: Final = r"(?:\*\*|__|\*|_|\")"
_TAG: Final = r"(?:</?(?:b|i|u|p|strong|em|span|div|br|td|tr|li)\b[^<>\r\n]{0,60}>)"
_COLON: Final = re.compile(
    rf"{_TAG}{{0,4}}(?:{_MARK}|[“„(\[])?(?:(?P<label>{_NAME})|\[(?P<square>{_NAME})\]|<(?P<angle>{_NAME})>)"
    rf"(?:{_GAP}?\[[^\[\]\r\n]{{1,40}}\])?{_AFTER}(?:{_MARK}|[”)\]])?{_TAG}{{0,4}}{_GAP}{{0,8}}"
    rf"(?:(?<!\d):(?!//)|(?<=\d):(?!//|\d)|[{_COLONS[1:]}]){_MARK}?{_TAG}{{0,4}}{_GAP}*"
)
_BRACKETS: Final = re.compile(
    rf"{_MARK}?(?:\[(?P<square>{_NAME})\]|<(?P<angle>{_NAME})>|【(?P<label>{_NAME})】)"
    rf"{_MARK}?{_AFTER}{_GAP}*"
)
_TAB: Final = re.compile(rf"(?P<label>{_NAME}){_GAP}?\t{_GAP}*(?=\S)")
_WITH_TIME: Final = re.compile(
    rf"{_MARK}?(?P<label>{_NAME}){_MARK}?{_GAP}*+(?:[,|•–—-]{_GAP}*+)?(?P<after>{STAMP}){_GAP}*(?=[\r\n]|\Z)"
)
_ORAL: Final = re.compile(rf"(?P<label>[QA])[.)]{_GAP}+(?=\S)")
_ALONE: Final = re.compile(rf"{_MARK}?(?P<label>{_NAME}){_MARK}?{_GAP}*(?=[\r\n]|\Z)")
_DASH: Final = re.compile(rf"(?P<label>{_NAME}){_GAP}+[-–—]{_GAP}+(?=\S)")
_OTHERWISE: Final = re.compile(
    rf"(?:{_TAG}|[\"“'`*_#|({{【<\[>→{_UNSEEN}-]|{_GAP}){{0,12}}"
    rf"(?P<label>[^\W\d_][\w'’]*(?:[ .]{{1,2}}[^\W_][\w'’]*){{0,3}}?)"
    rf"(?:{_TAG}|[\"”'`*_)}}】>\]]|{_GAP}){{0,8}}"
    rf"(?:{_GAP}*(?:[|>=→;/]|->|--|\.(?!\w)|,(?=\S|{_GAP})|[)}}】`*_\]])|{_GAP}{{2,}}|</|(?=[\r\n]|\Z))"
    rf"{_GAP}*"
)
"""A label with any other mark behind it, or around it."""

_IN_CAPITALS: Final = re.compile(rf"(?P<label>[^\W\d_]{{3,20}}){_GAP}+(?=\S)")
"""Of those that it matches, only the ones in capitals count."""

_BLANK_LINE: Final = re.compile(r"(?:\r\n|\n|\r)[^\S\r\n]*(?:\r\n|\n|\r)\Z")
_WINDOW: Final = 40
"""Characters before a line in which a blank one is looked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledLine:
    """A line that a label opens."""

    start: int
    """Offset of the line."""
    words_start: int
    """Offset of what is said; at the line's end where that begins on the next one."""
    label: str = field(repr=False)
    seconds: float | None


def labelled_lines(text: str, labels: SpeakerLabels, *, start: int = 0) -> list[LabelledLine]:
    """Return the lines that open a turn, from an offset on; none for a text without labels.

    Known and given labels count wherever they stand; others once one of those is there, or from
    two lines on: one alone is words. Ways of writing that prose has, too, count for labels that
    are known in the text already, and else only where they recur.
    """
    plain = _candidates_in(text, start, _PLAIN_SHAPES)
    found = _labels_among(plain, labels)
    if found:
        return _with_those_written_otherwise(text, start, found, labels)
    rare = _candidates_in(text, start, _RARE_SHAPES)
    return _recurring(rare, labels, text) or _recurring(
        _candidates_in(text, start, (_OTHERWISE,)), labels, text
    )


def opens_like_label(line: str) -> bool:
    """Return whether a line could be taken for one that a label opens."""
    return any(_candidates(line, 0, (*_PLAIN_SHAPES, _OTHERWISE)))


_PLAIN_SHAPES: Final = (_COLON, _BRACKETS, _WITH_TIME, _TAB, _ORAL)
_RARE_SHAPES: Final = (_DASH, _ALONE)


@dataclass(frozen=True, slots=True)
class _Candidate:
    line: LabelledLine
    shape: re.Pattern[str]
    is_bare: bool
    """Whether brackets alone mark the label."""


def _candidates_in(text: str, start: int, shapes: tuple[re.Pattern[str], ...]) -> list[_Candidate]:
    candidates = list(islice(_candidates(text, start, shapes), _MOST_LINES + 1))
    if len(candidates) > _MOST_LINES:
        raise too_many_turns()
    return candidates


def _candidates(text: str, start: int, shapes: Iterable[re.Pattern[str]]) -> Iterator[_Candidate]:
    for line in _LINE.finditer(text, start):
        lead = _LEAD.match(text, line.end())
        if lead is None:
            continue
        marks = text[lead.end() : lead.end() + 2 * LONGEST_LABEL]
        if shapes is _PLAIN_SHAPES and not (lead["before"] or _SIGN.search(marks)):
            continue
        for shape in shapes:
            found = shape.match(text, lead.end())
            if found and (candidate := _candidate(line.end(), lead, found, shape)):
                yield candidate
                break
        else:
            candidate = _after_time(text, line.end(), lead)
            if candidate and _WITH_TIME in shapes:
                yield candidate


def _candidate(
    start: int, lead: re.Match[str], found: re.Match[str], shape: re.Pattern[str]
) -> _Candidate | None:
    groups = found.groupdict()
    label = groups.get("label") or groups.get("square") or groups.get("angle") or ""
    label = label.strip(" \t_*").strip()
    # Marks around a label are no part of it, and those behind a note are.
    label += ")" if label.count("(") > label.count(")") else ""
    stamp = lead["before"] or groups.get("after")
    if not 1 <= len(label) <= LONGEST_LABEL:
        return None
    if len(label) == 1 and shape not in {_COLON, _ORAL}:
        return None
    if shape is _IN_CAPITALS and not label.isupper():
        return None
    line = LabelledLine(
        start=start,
        words_start=found.end(),
        label=label,
        seconds=seconds_of(stamp) if stamp else None,
    )
    return _Candidate(line, shape, shape is _BRACKETS and groups.get("after") is None)


def _after_time(text: str, start: int, lead: re.Match[str]) -> _Candidate | None:
    """Read a line of a time and a label alone, with the words on the next one."""
    if lead["before"] is None:
        return None
    found = _ALONE.match(text, lead.end())
    if found is None:
        return None
    following = _LINE.match(text, found.end())
    lead_of_next = _LEAD.match(text, following.end()) if following else None
    is_alone = lead_of_next is not None and lead_of_next["before"] is None
    return _candidate(start, lead, found, _ALONE) if is_alone else None


def _labels_among(candidates: list[_Candidate], labels: SpeakerLabels) -> list[LabelledLine]:
    keys = {label: label_key(label) for label in {one.line.label for one in candidates}}
    known = _known(keys, labels)
    times = Counter(keys[one.line.label] for one in candidates)
    written = {(one.line.label, one.is_bare) for one in candidates}
    kinds = {(label, is_bare): kind_of(label, is_bare=is_bare) for label, is_bare in written}
    # A way of writing that is seen to be one counts for labels that stand there only once, too.
    ways = {Kind.NAME} | {
        kind for (label, _), kind in kinds.items() if label in known or times[keys[label]] > 1
    }
    if known:
        shapes = {one.shape for one in candidates if one.line.label in known}
        ways |= {Kind.BRACKETS}
        ways |= {Kind.PHRASE} if _COLON in shapes else set()
    ways.discard(Kind.NONE)
    lines = [
        one.line
        for one in candidates
        if one.line.label in known or kinds[one.line.label, one.is_bare] in ways
    ]
    is_labelled = len(lines) > 1 or any(line.label in known for line in lines)
    return lines if is_labelled else []


def _known(keys: Mapping[str, str], labels: SpeakerLabels) -> set[str]:
    """Return the labels that are given, or known to be a participant's or an interviewer's."""
    given = {label_key(label) for label, _ in labels.given}
    decide = {Speaker.PARTICIPANT, Speaker.INTERVIEWER}
    return {
        label
        for label, key in keys.items()
        if key in given or known_speaker(label, labels) in decide
    }


def _with_those_written_otherwise(
    text: str, start: int, found: list[LabelledLine], labels: SpeakerLabels
) -> list[LabelledLine]:
    """Add lines that a label opens which is known, or stands elsewhere, in another way of writing.

    A label that stands within a line, with a colon, opens a turn there.
    """
    met = {label_key(line.label) for line in found}
    at = {line.start for line in found}
    others = [
        one
        for shape in (*_RARE_SHAPES, _OTHERWISE, _IN_CAPITALS)
        for one in _candidates_in(text, start, (shape,))
        if one.line.start not in at
    ]
    keys = {label: label_key(label) for label in {one.line.label for one in others}}
    known = {label for label in _known(keys, labels) if len(label) > 1}
    usual = {one.shape for one in others if keys[one.line.label] in met}
    more = [
        one.line
        for one in others
        if len(one.line.label) > 1
        and (
            one.line.label in known
            or keys[one.line.label] in met
            or (
                one.shape in usual | {_DASH}
                and one.shape in _RARE_SHAPES
                and is_name(one.line.label)
            )
        )
    ]
    by_start = {line.start: line for line in [*more, *found]}
    lines = sorted(by_start.values(), key=lambda line: line.start)
    return list(_with_those_inside(text, lines, met, labels))


_INSIDE: Final = re.compile(
    rf"(?<=[\s(\[|/*>])(?P<label>[^\W\d_][\w'’.]{{0,30}})[*_\])]{{0,3}}{_GAP}?[{_COLONS}]\**{_GAP}*"
)
_ENDS: Final = (".", "!", "?", "…", "(", "[")
"""Behind these a name with a colon is a label, met before or not."""


def _with_those_inside(
    text: str, lines: list[LabelledLine], met: set[str], labels: SpeakerLabels
) -> Iterator[LabelledLine]:
    """Take out of the participant's lines what another label opens; nothing is put into them."""
    last_words = {key.split()[-1] for key in met if key}
    own = _own_keys(met, labels)
    ends = [*(line.start for line in lines[1:]), len(text)]
    for line, end in zip(lines, ends, strict=True):
        yield line
        if label_key(line.label) not in own:
            continue
        for inside in _INSIDE.finditer(text, line.words_start, end):
            before = text[max(line.words_start, inside.start() - 2) : inside.start()].strip()
            is_own = label_key(inside["label"]) in own
            if not is_own and _is_inside(inside["label"], before[-1:], last_words, labels):
                yield LabelledLine(
                    start=inside.start(),
                    words_start=inside.end(),
                    label=inside["label"].strip("."),
                    seconds=None,
                )


def _own_keys(met: set[str], labels: SpeakerLabels) -> set[str]:
    """Return which of the labels are the participant's."""
    given = {label_key(label) for label, role in labels.given if role is Speaker.PARTICIPANT}
    return given or {key for key in met if known_speaker(key, labels) is Speaker.PARTICIPANT}


def _is_inside(label: str, before: str, last_words: set[str], labels: SpeakerLabels) -> bool:
    is_known = label_key(label) in last_words or _decides(label, labels)
    if len(label) == 1:
        return is_known and before in {"(", "["}
    return is_known or (before in _ENDS and kind_of(label, is_bare=False) is Kind.NAME)


def _decides(label: str, labels: SpeakerLabels) -> bool:
    return known_speaker(label, labels) in {Speaker.PARTICIPANT, Speaker.INTERVIEWER}


def _recurring(
    candidates: list[_Candidate], labels: SpeakerLabels, text: str
) -> list[LabelledLine]:
    """Return lines of labels that recur, of two speakers or more, if they are many of the lines."""
    keys = {one.line.label: label_key(one.line.label) for one in candidates}
    known = _known(keys, labels)
    names = {label for label in keys if kind_of(label, is_bare=False) is Kind.NAME}
    is_way = any(one.shape is _ALONE and one.line.label in known for one in candidates)
    usable = [
        one.line
        for one in candidates
        if len(one.line.label) > 1
        and (
            one.line.label in known
            or (
                one.line.label in names
                and (one.shape is not _ALONE or is_way or _opens_block(text, one.line))
            )
        )
    ]
    times = Counter(keys[line.label] for line in usable)
    lines = sum(1 for line in text.splitlines() if line.strip())
    both = len({keys[line.label] for line in usable if line.label in known}) > 1
    recur = len(times) > 1 and max(times.values()) > 1
    return usable if (both or recur) and 3 * len(usable) >= lines else []


def _opens_block(text: str, line: LabelledLine) -> bool:
    """Return whether words stand on the next line, with a blank line before this one."""
    before = text[max(0, line.start - _WINDOW) : line.start]
    stands_apart = _BLANK_LINE.search(before) is not None or not before.strip()
    ends_sentence = text[line.start : line.words_start].rstrip().endswith((".", "!", "?", "…"))
    following = _LINE.match(text, line.words_start)
    has_words = following is not None and text[following.end() : following.end() + 1].strip() != ""
    return stands_apart and has_words and not ends_sentence
