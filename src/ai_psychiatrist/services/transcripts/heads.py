"""Tells a head that says who takes part from the turns of who speaks."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from ai_psychiatrist.domain.transcript import Speaker
from ai_psychiatrist.services.transcripts.label_candidates import LabelledLine
from ai_psychiatrist.services.transcripts.label_words import is_name
from ai_psychiatrist.services.transcripts.labels import decides, label_key

_LONGEST_NAME: Final = 60
_FEWEST_WORDS: Final = 2
"""Lines with words behind a head."""


def is_head(
    turns: Sequence[Sequence[str]], lines: Sequence[LabelledLine], speakers: Mapping[str, Speaker]
) -> bool:
    """Return whether the participant's first label names somebody, as in `Participant: P07`.

    `turns`: the lines of each labelled line's turn. What is named is a label, or opens lines
    without one; or nothing else is the participant's, and a text without labels follows.
    """
    own = [at for at, line in enumerate(lines) if speakers[line.label] is Speaker.PARTICIPANT]
    name = turns[own[0]][0].strip()
    met = {label_key(label) for label in speakers}
    is_word = sum(map(str.isalpha, name)) > 1
    if (label_key(name) in met or decides(name)) and (is_word or not decides(name)):
        return True
    if len(own) > 1 or len(name) > _LONGEST_NAME or not is_name(name):
        return False
    opens_with_name = re.compile(rf"\W{{0,3}}{re.escape(name)}\b")
    if any(opens_with_name.match(line) for turn in turns for line in turn[1:]):
        return True
    _, *body = turns[-1]
    return bool(body) and not body[0].strip() and sum(map(bool, body)) >= _FEWEST_WORDS


def lines_of_turns(text: str, lines: Sequence[LabelledLine]) -> list[list[str]]:
    """Return the lines of each labelled line's turn, the first without its label."""
    ends = [*(line.start for line in lines[1:]), len(text)]
    return [
        text[line.words_start : end].splitlines() or [""]
        for line, end in zip(lines, ends, strict=True)
    ]
