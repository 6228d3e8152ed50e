"""Which items an interviewer asked for by name, and what was answered."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Final

from ai_psychiatrist.domain.evidence import UnreadAnswer
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.domain.transcript import Speaker, Transcript
from ai_psychiatrist.services.language.questions import question_in

_MOST_CHARACTERS: Final = 600
"""Of a question from its end, and of an answer from its beginning."""


def asked_items(transcript: Transcript) -> Mapping[Item, UnreadAnswer]:
    """Return for each item that a question names the last such question and the turn after it."""
    found: dict[Item, UnreadAnswer] = {}
    for before, turn in pairwise(transcript.turns):
        if before.speaker is Speaker.PARTICIPANT or turn.speaker is not Speaker.PARTICIPANT:
            continue
        asked, said = transcript.words(before).strip(), transcript.words(turn).strip()
        for concept in question_in(asked).named:
            found[Item(concept)] = UnreadAnswer(
                question_turn=before.index,
                question=asked[-_MOST_CHARACTERS:],
                answer_turn=turn.index,
                answer=said[:_MOST_CHARACTERS],
            )
    return found
