"""An interview without line breaks: the turns of both speakers stand on one line."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import pairwise
from typing import Final

from ai_psychiatrist.domain.transcript import Speaker
from ai_psychiatrist.services.transcripts.label_candidates import (
    COLONS,
    Candidate,
    LabelledLine,
)
from ai_psychiatrist.services.transcripts.label_words import LabelKind, kind_of
from ai_psychiatrist.services.transcripts.line_ends import GAP
from ai_psychiatrist.services.transcripts.persons import PERSONS
from ai_psychiatrist.services.transcripts.speaker_labels import (
    SpeakerLabels,
    decides,
    known_speaker,
    label_key,
    with_pairs,
)

_LABEL: Final = re.compile(
    rf"(?<![\w'’-])(?P<label>[^\W\d_][\w.'’-]{{0,30}}(?:{GAP}[\w.'’-]{{1,30}}){{0,2}})"
    rf"{GAP}?[{COLONS}]{GAP}+"
)
_FEWEST_LETTERS: Final = 3
"""How many labels there are where some are a letter."""
_WORDS: Final = re.compile(rf"{GAP}+")


def lines_run_on(
    text: str, start: int, at_line_starts: Sequence[Candidate], labels: SpeakerLabels
) -> list[LabelledLine]:
    """Return where the labels of both speakers open turns, within lines as well.

    Nothing where the text does not begin with one of them, and where more stand at the beginning
    of a line than within one.
    """
    first = next(iter(at_line_starts), None)
    if first is None or text[start : first.line.start].strip():
        return []
    words_start = first.line.words_start
    inside = [*_LABEL.finditer(text, words_start)]
    written = {
        one["label"].split()[-1] for one in (*_LABEL.finditer(text, start, words_start), *inside)
    }
    roles = _Roles(with_pairs(labels, written), first.line.label)
    if roles.of(first.line.label) is None:
        return []
    found = [first.line, *_inside(inside, roles)]
    starts = {one.line.words_start for one in at_line_starts if roles.of(one.line.label)}
    within = sum(1 for line in found if line.words_start not in starts)
    speakers = {roles.of(line.label) for line in found}
    is_of_both = Speaker.PARTICIPANT in speakers and len(speakers) > 1
    is_sure = len(found) >= _FEWEST_LETTERS or all(len(line.label) > 1 for line in found)
    is_said = all(text[line.words_start : after.start].strip() for line, after in pairwise(found))
    return found if is_of_both and is_sure and is_said and within >= len(starts) else []


class _Roles:
    """Whom labels name that are given, known, or that the text begins with."""

    def __init__(self, labels: SpeakerLabels, first: str) -> None:
        self._labels = labels
        self._given = {label_key(label): role for label, role in labels.given}
        is_name = kind_of(first, is_bare=False) is LabelKind.NAME
        if is_name and not any(decides(word, labels) for word in first.split()):
            self._given.setdefault(label_key(first), known_speaker(first, labels) or Speaker.OTHER)
        # A text has few labels, and each of them many times.
        self.of: Final = cache(self._of)

    def _of(self, label: str) -> Speaker | None:
        key = label_key(label)
        return (
            self._given.get(key)
            or known_speaker(label, self._labels)
            or (Speaker.OTHER if key in PERSONS else None)
        )


def _inside(found: Iterable[re.Match[str]], roles: _Roles) -> Iterator[LabelledLine]:
    for written in found:
        words = _WORDS.split(written["label"])
        for count in range(len(words)):
            label = " ".join(words[count:])
            is_written_so = label[0].isupper() or label.casefold() == label.upper()
            if is_written_so and roles.of(label) is not None:
                at = written.end("label") - len(_last(written["label"], len(words) - count))
                yield LabelledLine(start=at, words_start=written.end(), label=label, seconds=None)
                break


def _last(label: str, count: int) -> str:
    """Return the last words of a label as they stand there."""
    gaps = list(_WORDS.finditer(label))
    return label if count > len(gaps) else label[gaps[-count].end() :]
