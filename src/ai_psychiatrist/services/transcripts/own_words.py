"""Tells within a participant's turn which words are the participant's own."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Final

from ai_psychiatrist.domain.transcript import Speaker
from ai_psychiatrist.services.transcripts.label_candidates import LabelKind, kind_of
from ai_psychiatrist.services.transcripts.label_lines import aside_of
from ai_psychiatrist.services.transcripts.lines import BREAKS, GAP, LINE_END, STAMP
from ai_psychiatrist.services.transcripts.persons import (
    PERSONS,
    is_of_document,
    opens_as_person,
    speaks_to_somebody,
)
from ai_psychiatrist.services.transcripts.several_voices import is_foreign
from ai_psychiatrist.services.transcripts.speaker_labels import (
    DEFAULT_LABELS,
    known_speaker,
    label_key,
)

_NAME: Final = r"(?P<{}>[^\W\d_][\w'’.]{{0,30}}(?:{gap}[^\W\d_][\w'’.]{{0,30}}){{0,2}}?)"
_FIRST: Final = _NAME.format("first", gap=GAP)
_SECOND: Final = _NAME.format("second", gap=GAP)
_SET_OFF: Final = re.compile(
    rf"(?:[^\w\s]|{GAP}){{0,6}}(?:[\[(<{{*_#|=^/¦~§〔《『【]{GAP}*{_FIRST}{GAP}*[\])>}}*_|=^/¦〕》』】]"
    rf"|{_SECOND}(?:{GAP}*(?:[;|=~•·।»→>]|->|--|/(?!\w)|[–—]|{STAMP})|-{GAP}|{GAP}-{GAP}|\t|{GAP}{{2,}}|{GAP}?\Z"
    rf"|{GAP}\([a-z]{{1,30}}\){GAP}(?=[^\W\d_a-z])|&#))"
)
_BY_ITS_FORM: Final = re.compile(
    r"[(\[{][^\W\d_a-z]\S*(?: [^\s()\[\]{}]+){3,}[)\]}]\Z"
    r"|#{1,6}[ ]|&\w{1,8};|\d{1,3}['’]\d|[^\W\d_a-z]{3,20}[ ][^\W\d_a-z][a-z]"
    r"|-[ ]\S|\d{1,3}[.)]?[ ][^\W\d_a-z]|Q\d{0,3}[ .:)]|[^\W\d_a-zIAO][ ][^\W\d_a-z]"
    rf"|[^\s.!?,;:]{{1,30}}(?:{GAP}*\t|{GAP}{{2,}})\S"
)
"""A remark in brackets, a heading, a time, a word in capitals, a turn behind a hyphen, a number
or a letter, a column."""
SENTENCE_ENDS: Final = (".", "!", "?", "…", "。", "！", "？", "؟", ":", ")", "]", '"', "”", "»")
SUBJECT: Final = re.compile(rf"[^\W\d_][^.!?:{BREAKS}]{{0,40}}:{GAP}+[^?]+\Z")
"""A line that says first what it is about: it is told, and hardly said to somebody."""
_LONGEST_END: Final = 80
_AT_END: Final = re.compile(
    rf"(?:[.!?…][\"”»]?{GAP}*(?:[(\[]{_NAME.format('held', gap=GAP)}[)\]]"
    rf"|[—–]{GAP}*{_NAME.format('bare', gap=GAP)})|[」』]{GAP}*{_NAME.format('quoted', gap=GAP)})\Z"
)
_ARTICLES: Final = frozenset("the der die das el la le il o a de".split())
_QUOTED: Final = re.compile(r"[\"“„«][^\"”“»]{1,300}[\"”“»]")
_WORD: Final = re.compile(r"[^\W\d_]+")
_COLUMN: Final = re.compile(r"(?<=\S) {0,8}\t[ \t]{0,40}(?=\S)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What is known of the text around a turn."""

    names: frozenset[str]
    """Labels of others, met or known, as `label_key` gives them."""
    own: frozenset[str] = frozenset()
    """Labels of the participant."""
    is_of_captions: bool = False
    is_labelled_throughout: bool = False
    """Whether nearly every line has a label."""
    is_alone: bool = False
    """Whether the participant is labelled several times, and nobody else ever is."""
    is_of_messages: bool = False
    """Whether both speakers say several sentences a turn, each on a line of its own."""


@dataclass(frozen=True, slots=True)
class SpeechSpan:
    start: int
    end: int
    is_own: bool


def speech_spans(text: str, start: int, end: int, setting: Setting) -> Iterator[SpeechSpan]:
    """Yield the stretches of a turn in order: words of the participant, and of unknown speakers.

    An aside of another person is taken out; a line that shows that it is another's ends the
    participant's words.
    """
    column = _COLUMN.search(text, start, end)
    within = column.start() if column else end
    over = end_of_own(text, start, within, partial(_is_anothers, setting))
    at = start
    while (aside := aside_of(text, at, over, setting.names, setting.own)) is not None:
        if at < aside.start():
            yield SpeechSpan(at, aside.start(), is_own=True)
        yield SpeechSpan(aside.start(), aside.end(), is_own=False)
        at = aside.end()
    if at < over or start == end:
        yield SpeechSpan(at, over, is_own=True)
    if over < end:
        yield SpeechSpan(over, end, is_own=False)


def end_of_own(
    text: str, start: int, end: int, is_anothers: Callable[[str, str, bool], bool]
) -> int:
    """Return where lines without labels stop being those of the first one's speaker.

    `is_anothers`: tells it of a line, the one before it, stripped, and whether a blank one parts
    them.
    """
    line_start, before, is_after_blank = start, "", False
    for line_end in [*LINE_END.finditer(text, start, end), None]:
        line = text[line_start : line_end.start() if line_end else end]
        if line.strip():
            if line_start > start and is_anothers(line, before, is_after_blank):
                return line_start
            before, is_after_blank = line.strip(), False
        elif line_start > start:
            is_after_blank = True
        line_start = line_end.end() if line_end else end
    return end


def _is_anothers(setting: Setting, line: str, before: str, is_after_blank: bool) -> bool:  # noqa: FBT001  as it is handed on
    seen = line.strip()
    flows = not is_after_blank and bool(before) and not before.endswith(SENTENCE_ENDS)
    goes_on = flows or seen[0].islower()
    return (
        is_foreign(line, is_of_captions=setting.is_of_captions)
        or is_of_document(seen)
        or opens_as_person(seen, setting.names, flows=flows)
        or _names_at_end(seen, setting)
        or (not goes_on and is_set_off(line))
        or _BY_ITS_FORM.match(seen) is not None
        or (
            not flows
            and not setting.is_of_messages
            and SUBJECT.match(seen) is None
            and speaks_to_somebody(seen)
        )
        or (not goes_on and (_tells_of_participant(seen) or _is_of_a_bystander(seen)))
        or (not flows and not setting.is_of_messages and seen.isupper() and " " in seen)
        or (setting.is_alone and not goes_on)
        or (setting.is_labelled_throughout and bool(before) and not goes_on and line[0].isspace())
        or (setting.is_of_captions and setting.is_labelled_throughout and not goes_on)
    )


def _tells_of_participant(line: str) -> bool:
    """Return whether a line is a note about the participant: "The patient seemed tired"."""
    first, _, rest = line.partition(" ")
    second = rest.partition(" ")[0].rstrip(",.'’s")
    return first.casefold() in _ARTICLES and (
        known_speaker(second, DEFAULT_LABELS) is Speaker.PARTICIPANT
    )


def _is_of_a_bystander(line: str) -> bool:
    """Return whether a line quotes a person whom it names: "Is this free?" (a colleague)."""
    quoted = _QUOTED.match(line)
    if quoted is None:
        return False
    return any(word.casefold() in PERSONS for word in _WORD.findall(line[quoted.end() :]))


def _names_at_end(line: str, setting: Setting) -> bool:
    found = _AT_END.search(line[-_LONGEST_END:])
    if found is None:
        return False
    name = found["bare"] or found["held"] or found["quoted"]
    is_met = label_key(name) in setting.names | PERSONS
    return is_met or (not found["quoted"] and not name[0].islower() and _is_like_name(name))


def is_set_off(line: str) -> bool:
    """Return whether a line opens with a word like a name, apart from what follows."""
    found = _SET_OFF.match(line)
    if found is None:
        return False
    name = found["first"] or found["second"]
    return not name[0].islower() and _is_like_name(name)


def _is_like_name(name: str) -> bool:
    return kind_of(name, is_bare=True) is not LabelKind.NONE
