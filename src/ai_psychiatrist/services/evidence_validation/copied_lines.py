"""What a model copies along with the words: labels, numbers, times and brackets at their head."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from ai_psychiatrist.domain.transcript import Speaker
from ai_psychiatrist.services.evidence_validation.tokens import SOUND_MODIFIERS, SOUNDS
from ai_psychiatrist.services.transcripts.label_candidates import PLAIN_SHAPES, candidates
from ai_psychiatrist.services.transcripts.lines import GAP, LINE_END, STAMP

_NUMBER: Final = r"#?\d{1,6}"
_NAMED: Final = rf"(?:turn|line|utterance|no)\.?{GAP}?{_NUMBER}"
_MARK: Final = re.compile(
    rf"{GAP}*(?:{_NAMED}[.):]?|[\[(<{{]{GAP}?{_NAMED}{GAP}?[\])>}}]"
    rf"|(?P<listed>[\[(<{{#|]{STAMP}[\])>}}#|]?|[\[(<{{]{GAP}?{_NUMBER}{GAP}?[\])>}}]|{_NUMBER}[.):](?!\d)|{_NUMBER}(?={GAP}+I\b))"
    rf"|(?P<bare>{STAMP}|{_NUMBER}))(?=[^\w.,:%]|\Z){GAP}*(?:[-–—|:,]{GAP}+)?",
    re.IGNORECASE,
)
"""A number or a time; `listed`: a number as in a list; `bare`: what may be a word as well."""
_OPENING: Final = re.compile(rf"{GAP}*[\"“„«'‘]?{GAP}*")
_MOST_MARKS: Final = 3
_CLOSING: Final = {"[": "]", "(": ")", "<": ">", "{": "}", '"': '"', "“": "”", "«": "»"}
_ELLIPSIS: Final = re.compile(r"[\[(<]?\s?(?:…|\.{3,}|\.(?: \.){2,})\s?[\])>]?")
_WORD: Final = re.compile(r"[^\W\d_]+")
_MOST_PARTS: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class CopiedLines:
    """A quote without what stands at the head of its lines."""

    words: str = field(repr=False)
    speakers: frozenset[Speaker]
    """Whom the labels that were taken off name."""
    marks: tuple[str, ...] = field(repr=False)
    """Numbers and times that no label followed and that the transcript has to hold itself."""
    is_listed: bool
    """Whether a number as in a list stood there without a label."""


def copied_lines(quote: str, speaker_of: Callable[[str], Speaker | None]) -> CopiedLines:
    """Take labels, numbers, times and brackets off the head of each line of a quote.

    `speaker_of`: whom a label names, `None` for what is none.
    """
    speakers: set[Speaker] = set()
    lines: list[str] = []
    marks: list[str] = []
    is_listed = False
    for line in LINE_END.split(_unwrapped(quote)):
        head = _head_of(line, speaker_of)
        lines.append(line[head.end :])
        if head.speaker is not None:
            speakers.add(head.speaker)
        elif any(map(str.strip, lines[:-1])) and (head.bare or head.is_listed):
            # A number or a time on a later line is a word unless a label follows it.
            lines[-1] = line
        else:
            marks.extend(head.bare)
            is_listed = is_listed or head.is_listed
    return CopiedLines(
        words=_unwrapped("\n".join(lines).strip()),
        speakers=frozenset(speakers),
        marks=tuple(marks),
        is_listed=is_listed,
    )


def parts_of(quote: str) -> list[str]:
    """Return what stands between the ellipses of a quote; nothing where there are too many."""
    parts = [part for part in _ELLIPSIS.split(quote) if any(map(str.isalnum, part))]
    return parts if len(parts) <= _MOST_PARTS else []


@dataclass(frozen=True, slots=True, kw_only=True)
class _Head:
    end: int
    speaker: Speaker | None = None
    bare: tuple[str, ...] = ()
    is_listed: bool = False


def _head_of(line: str, speaker_of: Callable[[str], Speaker | None]) -> _Head:
    begun = _OPENING.match(line)
    at = begun.end() if begun else 0
    labelled = _labelled(line, at, speaker_of)
    if labelled is not None:
        return labelled
    bare: list[str] = []
    is_listed, begin = False, at
    for _ in range(_MOST_MARKS):
        mark = _MARK.match(line, at)
        if mark is None:
            break
        at, is_listed = mark.end(), is_listed or mark["listed"] is not None
        bare += [mark["bare"]] if mark["bare"] else []
        labelled = _labelled(line, at, speaker_of)
        if labelled is not None:
            return labelled
    return _Head(end=at if at > begin else 0, bare=tuple(bare), is_listed=is_listed)


def _labelled(line: str, at: int, speaker_of: Callable[[str], Speaker | None]) -> _Head | None:
    for candidate in candidates(line[at:], (0,), PLAIN_SHAPES):
        speaker = speaker_of(candidate.line.label)
        if speaker is not None:
            return _Head(end=at + candidate.line.words_start, speaker=speaker)
    return None


def _unwrapped(quote: str) -> str:
    """Return a quote without the brackets, or quotation marks, around all of it."""
    closing = _CLOSING.get(quote[:1])
    inner = quote[1:-1]
    if closing is None or not quote[1:].endswith(closing):
        return quote
    is_of_one = quote[0] not in inner and closing not in inner
    words = {word.lower() for word in _WORD.findall(inner)}
    return inner.strip() if is_of_one and not words <= SOUNDS | SOUND_MODIFIERS else quote
