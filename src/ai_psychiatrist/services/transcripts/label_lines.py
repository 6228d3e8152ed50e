"""Finds the lines of a text that open with a speaker's label, in whatever way it is written."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import islice
from typing import Final

from ai_psychiatrist.domain.transcript import MAX_TURNS, Speaker
from ai_psychiatrist.services.transcripts.labels import (
    LONGEST_LABEL,
    SpeakerLabels,
    known_speaker,
    label_key,
    without_note,
)
from ai_psychiatrist.services.transcripts.refusals import too_many_turns
from ai_psychiatrist.services.transcripts.times import STAMP, seconds_of

_MOST_LINES: Final = 10 * MAX_TURNS
"""How many lines with something like a label are looked at."""

_GAP: Final = r"[^\S\r\n]"
_LINE: Final = re.compile(r"(?:\A\ufeff?|\r\n|\n|\r)")
_SIGN: Final = re.compile(r"[:：\t\[<]|\A[QA]")
"""Without one of these a line has no label but in the rare ways of writing."""
_MOST_BEFORE_WORDS: Final = 2 * LONGEST_LABEL
_LEAD: Final = re.compile(
    rf"{_GAP}*(?:(?:[-*•#]{{1,4}}|>+){_GAP}+|>>+)?(?:\d{{1,6}}[.)]?{_GAP}+(?=[^\W\d]|[\[(*_]))?"
    rf"(?:(?P<before>{STAMP}){_GAP}*(?:[-–—|]{_GAP}*)?)?"
)
_NAME: Final = rf"[^\s:：*\[\]<>|\"“„][^:：*\t\r\n\[\]<>|\"“”]{{0,{LONGEST_LABEL - 1}}}?"
_AFTER: Final = rf"(?:{_GAP}*,?{_GAP}*(?P<after>{STAMP}))?"
_MARK: Final = r"(?:\*\*|__|\*|_)"
_COLON: Final = re.compile(
    rf"{_MARK}?(?:(?P<label>{_NAME})|\[(?P<square>{_NAME})\]|<(?P<angle>{_NAME})>){_AFTER}"
    rf"{_MARK}?{_GAP}{{0,8}}"
    rf"(?:(?<!\d):(?!//)|(?<=\d):(?!//|\d)|：){_MARK}?{_GAP}*"
)
_BRACKETS: Final = re.compile(
    rf"{_MARK}?(?:\[(?P<square>{_NAME})\]|<(?P<angle>{_NAME})>){_MARK}?{_AFTER}{_GAP}*"
)
_TAB: Final = re.compile(rf"(?P<label>{_NAME}){_GAP}?\t{_GAP}*(?=\S)")
_WITH_TIME: Final = re.compile(
    rf"{_MARK}?(?P<label>{_NAME}){_MARK}?{_GAP}*[,|•-]?{_GAP}*(?P<after>{STAMP}){_GAP}*(?=[\r\n]|\Z)"
)
_ALONE: Final = re.compile(rf"{_MARK}?(?P<label>{_NAME}){_MARK}?{_GAP}*(?=[\r\n]|\Z)")
_DASH: Final = re.compile(rf"(?P<label>{_NAME}){_GAP}+[-–—]{_GAP}+(?=\S)")
_ORAL: Final = re.compile(rf"(?P<label>[QA])[.)]{_GAP}+(?=\S)")

_BLANK_LINE: Final = re.compile(r"(?:\r\n|\n|\r)[^\S\r\n]*(?:\r\n|\n|\r)\Z")
_WINDOW: Final = 40
"""Characters before a line in which a blank one is looked for."""
_PARTICLES: Final = frozenset(
    "de del della der den di da la le van von of the and und y e du bin".split()
)
_NO_NAMES: Final = frozenset(
    "well so and but yes no yeah nope okay ok because then now also first second third finally "
    "name note notes example sometimes today yesterday ps nb re date time title subject place "
    "city".split()
)
_REPORTING: Final = frozenset(
    "said says say told tells asked asks answered replied thought thinks think was is are were "
    "like this that following follows dice dijo sagt sagte dit disse".split()
)
_SOUNDS: Final = frozenset(
    "laugh laughs laughter laughing chuckle chuckles chuckling sigh sighs sighing cough coughs "
    "coughing cry cries crying sob sobs sobbing sniff sniffs sniffles pause pauses silence "
    "inaudible unintelligible indistinct crosstalk overlapping noise music applause redacted "
    "breath breathing whispering clears scrubbed sync synch".split()
)
_CHINESE_SAYING: Final = ("说", "說", "道")


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
    two lines on: one alone is words. Ways of writing that prose has, too (a dash, a line of its
    own), count only in a text that has no other, and only where they recur.
    """
    found = _labels_among(_all_candidates(text, start, _PLAIN_SHAPES), labels)
    return found or _recurring(_all_candidates(text, start, _RARE_SHAPES), labels, text)


def opens_like_label(line: str) -> bool:
    """Return whether a line could be taken for one that a label opens."""
    return any(_candidates(line, 0, _PLAIN_SHAPES))


def is_name(label: str) -> bool:
    """Return whether a label is written like a name or a role: `Anna`, `Dr. Smith`, `SPEAKER_0`."""
    plain = label_key(label)
    tokens = without_note(label).replace("_", " ").split()
    if not 1 <= len(tokens) <= 4 or len(plain) > 40 or plain in _NO_NAMES:
        return False
    if not any(map(str.isalpha, plain)) or any(mark in plain for mark in ';!…"'):
        return False
    if len(plain) > 1 and plain.endswith(_CHINESE_SAYING):
        return False
    return all(map(_is_name_part, tokens)) and not tokens[-1][0].islower()


_PLAIN_SHAPES: Final = (_COLON, _BRACKETS, _WITH_TIME, _TAB, _ORAL)
_RARE_SHAPES: Final = (_DASH, _ALONE)


class _Kind(StrEnum):
    """How sure it is by its writing alone that something is a label."""

    NAME = "name"
    BRACKETS = "brackets"
    """In brackets alone, as sounds are, too."""
    LOWER_CASE = "lower-case"
    NUMBER = "number"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class _Candidate:
    line: LabelledLine
    is_bare: bool
    """Whether brackets alone mark the label."""


def _all_candidates(text: str, start: int, shapes: Iterable[re.Pattern[str]]) -> list[_Candidate]:
    candidates = list(islice(_candidates(text, start, shapes), _MOST_LINES + 1))
    if len(candidates) > _MOST_LINES:
        raise too_many_turns()
    return candidates


def _candidates(text: str, start: int, shapes: Iterable[re.Pattern[str]]) -> Iterator[_Candidate]:
    for line in _LINE.finditer(text, start):
        lead = _LEAD.match(text, line.end())
        if lead is None:
            continue
        marks = text[lead.end() : lead.end() + _MOST_BEFORE_WORDS]
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
    label = label.strip(" \t_*.").strip()
    stamp = lead["before"] or groups.get("after")
    if not label or (len(label) == 1 and shape not in {_COLON, _ORAL}):
        return None
    line = LabelledLine(
        start=start,
        words_start=found.end(),
        label=label,
        seconds=seconds_of(stamp) if stamp else None,
    )
    return _Candidate(line, shape is _BRACKETS and groups.get("after") is None)


def _kind(label: str, *, is_bare: bool) -> _Kind:
    words = label_key(label).split()
    if not words or (is_bare and not _SOUNDS.isdisjoint({words[0], words[-1]})):
        return _Kind.NONE
    if label.isdecimal():
        return _Kind.NUMBER if len(label) <= 3 and not is_bare else _Kind.NONE
    if is_name(label):
        return _Kind.BRACKETS if is_bare else _Kind.NAME
    is_short = len(words) <= 3 and words[0] not in _NO_NAMES and words[-1] not in _REPORTING
    is_lower_case = is_short and not is_bare
    return _Kind.LOWER_CASE if is_lower_case and any(map(str.isalpha, label)) else _Kind.NONE


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
    kinds = {(label, is_bare): _kind(label, is_bare=is_bare) for label, is_bare in written}
    # A way of writing that is seen to be one counts for labels that stand there only once, too.
    ways = {_Kind.NAME} | {
        kind for (label, _), kind in kinds.items() if label in known or times[keys[label]] > 1
    }
    ways.discard(_Kind.NONE)
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


def _recurring(
    candidates: list[_Candidate], labels: SpeakerLabels, text: str
) -> list[LabelledLine]:
    """Return lines of labels that recur, of two speakers or more, if they are many of the lines."""
    keys = {one.line.label: label_key(one.line.label) for one in candidates}
    known = _known(keys, labels)
    names = {label for label in keys if _kind(label, is_bare=False) is _Kind.NAME}
    usable = [
        one.line
        for one in candidates
        if len(one.line.label) > 1
        and (one.line.label in known or (one.line.label in names and _opens_block(text, one.line)))
    ]
    times = Counter(keys[line.label] for line in usable)
    lines = sum(1 for line in text.splitlines() if line.strip())
    is_way_of_writing = len(times) > 1 and max(times.values()) > 1 and 3 * len(usable) >= lines
    return usable if is_way_of_writing else []


def _opens_block(text: str, line: LabelledLine) -> bool:
    """Return whether words stand behind a label, or on the next line with a blank one before it."""
    if not text.startswith(("\r", "\n"), line.words_start):
        return line.words_start < len(text)
    before = text[max(0, line.start - _WINDOW) : line.start]
    stands_apart = _BLANK_LINE.search(before) is not None or not before.strip()
    ends_sentence = text[line.start : line.words_start].rstrip().endswith((".", "!", "?", "…"))
    following = _LINE.match(text, line.words_start)
    has_words = following is not None and text[following.end() : following.end() + 1].strip() != ""
    return stands_apart and has_words and not ends_sentence


def _is_name_part(token: str) -> bool:
    if token.casefold() in _PARTICLES:
        return True
    if "." in token.strip(".,?") or (token.endswith(".") and len(token) > 6):
        return False
    return not token[0].islower() and (token[0].isalnum() or token[0] in "#&(?")
