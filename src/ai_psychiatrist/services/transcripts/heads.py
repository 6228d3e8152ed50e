"""Tells a head that says who takes part from the turns of who speaks."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Final

from ai_psychiatrist.domain.transcript import Speaker
from ai_psychiatrist.services.transcripts.label_candidates import (
    PLAIN_SHAPES,
    LabelledLine,
    candidates,
    is_name,
    line_starts,
)
from ai_psychiatrist.services.transcripts.lines import BREAKS, END, GAP
from ai_psychiatrist.services.transcripts.speaker_labels import (
    DEFAULT_LABELS,
    SpeakerLabels,
    decides,
    known_speaker,
    label_key,
)

_LONGEST_NAME: Final = 60
_LONGEST_HEAD: Final = 2_000
_MOST_NAMES: Final = 8
_LINE: Final = re.compile(rf"[^{BREAKS}]*(?:{END}|\Z)")
_FIELD: Final = re.compile(rf"(?P<key>[^:：]{{1,40}}?){GAP}*(?<!\d)[:：]{GAP}*(?P<value>.*)")
_NUMBER_LINE: Final = re.compile(
    rf"\s{{0,200}}(?P<key>[^:：{BREAKS}]{{1,40}}?){GAP}*[:：]{GAP}*"
    rf"#?[A-Za-z]{{0,4}}[-_ ]?\d{{1,6}}{GAP}*(?=[{BREAKS}])"
)
"""A label, and the number of a person."""
_INITIAL_END: Final = re.compile(r"(?<!\w)\w\.\Z")
_LEGEND: Final = re.compile(r"(?<!\w)(\w{1,3})\s*[=:–-]\s*(?:the\s+|an?\s+)?([^\W\d_]{3,30})")


def head_end(text: str, start: int, labels: SpeakerLabels) -> int:
    """Return where a head ends that names the speakers, or where the text began.

    Such a head is a list of names and dates, with a heading or a blank line that sets it apart from
    the turns of the same speakers.
    """
    at, is_of_names, is_set_apart, is_of_speakers = start, False, False, False
    count = 0
    for line in _LINE.finditer(text, start, start + _LONGEST_HEAD):
        written = line[0].strip()
        if not written:
            is_set_apart = is_set_apart or count > 0
            continue
        found = _FIELD.fullmatch(written)
        is_speakers = found is not None and decides(found["key"], labels)
        value = found["value"] if found else written
        if (
            written[0].islower()
            or not _is_of_head(value)
            or (is_speakers and not _names_somebody(value))
        ):
            break
        if is_set_apart and is_of_speakers and is_speakers:
            break
        is_of_speakers = is_of_speakers or is_speakers
        is_of_names = is_of_names or not is_speakers
        count, at = count + 1, line.start() + len(line[0].rstrip())
    is_head = is_of_speakers and count > 1 and (is_of_names or is_set_apart)
    if is_head and _speaks_behind(text, at, labels):
        return at
    return _end_of_number(text, start, labels)


def _end_of_number(text: str, start: int, labels: SpeakerLabels) -> int:
    """Return where a first line such as `Participant: P12` ends, above labels of other names."""
    found = _NUMBER_LINE.match(text, start)
    if found is None or known_speaker(found["key"], labels) is not Speaker.PARTICIPANT:
        return start
    behind = set(_labels_behind(text, found.end()))
    is_named_again = label_key(found["key"]) in map(label_key, behind)
    speaks = any(known_speaker(label, labels) is Speaker.PARTICIPANT for label in behind)
    return found.end() if speaks and not is_named_again else start


def _is_of_head(value: str) -> bool:
    return (len(value) <= _LONGEST_NAME and not value.endswith((".", "!", "?", "…"))) or bool(
        _INITIAL_END.search(value)
    )


def _names_somebody(value: str) -> bool:
    """Return whether a value is a name of several words, or has a number."""
    words = value.split()
    is_capital = all(word[0].isupper() or word[0].isdigit() for word in words)
    return (
        is_capital
        and (len(words) > 1 or any(map(str.isdigit, value)))
        and len(words) <= _MOST_NAMES
    )


def _speaks_behind(text: str, at: int, labels: SpeakerLabels) -> bool:
    """Return whether a known label of the participant's opens a line behind a head."""
    given = {label_key(label) for label, role in labels.given if role is Speaker.PARTICIPANT}
    return any(
        label_key(label) in given if given else known_speaker(label, labels) is Speaker.PARTICIPANT
        for label in _labels_behind(text, at)
    )


def _labels_behind(text: str, at: int) -> Iterator[str]:
    for one in candidates(text, line_starts(text, at), PLAIN_SHAPES):
        if one.line.start >= at:
            yield one.line.label


def is_head(
    turns: Sequence[Sequence[str]], lines: Sequence[LabelledLine], speakers: Mapping[str, Speaker]
) -> bool:
    """Return whether the participant's first label names a person, as in `Participant: P07`.

    `turns`: the lines of each labelled line's turn. What is named is a label, or opens lines
    without one; or nothing else is the participant's, and more follows behind the head.
    """
    own = [at for at, line in enumerate(lines) if speakers[line.label] is Speaker.PARTICIPANT]
    name = turns[own[0]][0].strip()
    if len(name) > _LONGEST_NAME:
        return False
    met = {label_key(label) for label in speakers}
    is_word = sum(map(str.isalpha, name)) > 1
    if (label_key(name) in met or decides(name)) and (is_word or not decides(name)):
        return True
    is_naming = is_name(name) or any(map(str.isdigit, name))
    if len(own) > 1 or not is_naming:
        return False
    opens_with_name = re.compile(rf"\W{{0,3}}{re.escape(name)}\b")
    if any(opens_with_name.match(line) for turn in turns for line in turn[1:]):
        return True
    # No blank line ends the turns of a block.
    block = sum(1 for _ in takewhile(lambda turn: all(map(str.strip, turn[1:])), turns)) + 1
    if own[0] < block < len(turns):
        return True
    _, *body = turns[-1]
    behind = list(takewhile(lambda line: not line.strip(), body[::-1]))
    return "" in map(str.strip, body[: len(body) - len(behind)]) and any(map(str.strip, body))


def is_said_otherwise(preamble: str, speakers: Mapping[str, Speaker]) -> bool:
    """Return whether words before the labels say that one is another's: `P = psychologist`."""
    named = {
        label_key(label): known_speaker(word, DEFAULT_LABELS)
        for label, word in _LEGEND.findall(preamble)
    }
    return any(
        named.get(label_key(label), speaker) not in {speaker, None}
        for label, speaker in speakers.items()
    )


def lines_of_turns(text: str, lines: Sequence[LabelledLine]) -> list[list[str]]:
    """Return the lines of each labelled line's turn, the first without its label."""
    ends = [*(line.start for line in lines[1:]), len(text)]
    return [
        text[line.words_start : end].splitlines() or [""]
        for line, end in zip(lines, ends, strict=True)
    ]
