"""Tells a head that says who takes part from the turns of who speaks."""

import re
from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Final

from ai_psychiatrist.domain.transcript import Speaker
from ai_psychiatrist.services.transcripts.label_candidates import LabelledLine
from ai_psychiatrist.services.transcripts.label_words import is_name
from ai_psychiatrist.services.transcripts.speaker_labels import (
    DEFAULT_LABELS,
    decides,
    known_speaker,
    label_key,
)

_LONGEST_NAME: Final = 60
_LEGEND: Final = re.compile(r"(?<!\w)(\w{1,3})\s*[=:–-]\s*(?:the\s+|an?\s+)?([^\W\d_]{3,30})")


def is_head(
    turns: Sequence[Sequence[str]], lines: Sequence[LabelledLine], speakers: Mapping[str, Speaker]
) -> bool:
    """Return whether the participant's first label names somebody, as in `Participant: P07`.

    `turns`: the lines of each labelled line's turn. What is named is a label, or opens lines
    without one; or nothing else is the participant's, and more follows behind the head.
    """
    own = [at for at, line in enumerate(lines) if speakers[line.label] is Speaker.PARTICIPANT]
    name = turns[own[0]][0].strip()
    met = {label_key(label) for label in speakers}
    is_word = sum(map(str.isalpha, name)) > 1
    if (label_key(name) in met or decides(name)) and (is_word or not decides(name)):
        return True
    is_naming = is_name(name) or any(map(str.isdigit, name))
    if len(own) > 1 or len(name) > _LONGEST_NAME or not is_naming:
        return False
    opens_with_name = re.compile(rf"\W{{0,3}}{re.escape(name)}\b")
    if any(opens_with_name.match(line) for turn in turns for line in turn[1:]):
        return True
    block = sum(1 for _ in takewhile(_ends_nowhere, turns)) + 1
    if own[0] < block < len(turns):
        return True
    _, *body = turns[-1]
    behind = list(takewhile(lambda line: not line.strip(), body[::-1]))
    return "" in map(str.strip, body[: len(body) - len(behind)]) and any(map(str.strip, body))


def _ends_nowhere(turn: Sequence[str]) -> bool:
    """Return whether no blank line ends a turn."""
    return all(line.strip() for line in turn[1:])


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
