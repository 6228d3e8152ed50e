"""Makes up one interview that says what its item scores mean, and leaves some of them unsaid."""

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Final

from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.evaluation.datasets.synthetic.item_model import ItemScores
from ai_psychiatrist.evaluation.datasets.synthetic.sayings import Topic, sayings
from ai_psychiatrist.services.transcripts.formats.daic_woz import ELLIE, PARTICIPANT

_UNSAID_SHARE: Final = 0.2
"""How likely an item is not talked about, so that its score is true and yet unknowable."""
_SPLIT_SHARE: Final = 0.4
_NONVERBAL_SHARE: Final = 0.12
_UNRECOGNISED_SHARE: Final = 0.04
_SCRUBBED_SHARE: Final = 0.03
_BLANK_SHARE: Final = 0.02


class RowQuirk(Enum):
    """What a whole transcript may have of the corpus' quirks."""

    NO_ELLIE = auto()
    CODED_LINES = auto()
    MIXED_CASE = auto()
    WORDS_LIKE_BLANKS = auto()
    """Answers such as `nan`, `null` and a lone quote mark, which are speech."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One row of a transcript."""

    start_seconds: float
    stop_seconds: float
    speaker: str
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Interruption:
    """When somebody interrupts an interview, and when it goes on."""

    start_seconds: float
    resume_seconds: float


@dataclass(slots=True, kw_only=True)
class _Tape:
    """Gives rows their times."""

    chance: random.Random
    seconds: float
    rows: list[Row] = field(default_factory=list)

    def say(self, speaker: str, words: str) -> None:
        start = self.seconds + self.chance.uniform(0.3, 1.5)
        stop = start + 0.4 + 0.3 * len(words.split())
        self.seconds = stop
        self.rows.append(
            Row(
                start_seconds=round(start, 3),
                stop_seconds=round(stop, 3),
                speaker=speaker,
                words=words,
            )
        )


def made_up_interview(
    scores: ItemScores,
    chance: random.Random,
    *,
    quirks: frozenset[RowQuirk] = frozenset(),
    interruption: Interruption | None = None,
) -> list[Row]:
    """Return the rows of an interview with talk before it, off-topic talk, and marks of sounds."""
    tape = _Tape(chance=chance, seconds=chance.uniform(1.0, 30.0))
    before = 0 if RowQuirk.NO_ELLIE in quirks else 2
    tape.say(PARTICIPANT, "<sync>")
    for words in chance.sample(sayings().researcher_talk, before):
        tape.say(PARTICIPANT, words)
        tape.say(PARTICIPANT, chance.choice(["<sync>", "[synch]", "<Syncing>."]))
    tape.say(ELLIE, chance.choice(sayings().greeting))
    topics = list(_topics(scores, chance))
    for at, (topic, score) in enumerate(topics):
        if interruption is not None and at == len(topics) // 2:
            _interrupt(tape, interruption)
        _ask(tape, topic, score, is_coded=RowQuirk.CODED_LINES in quirks)
    if RowQuirk.WORDS_LIKE_BLANKS in quirks:
        for words in ("nan", "null", '"', "None"):
            tape.say(PARTICIPANT, words)
    tape.say(ELLIE, chance.choice(sayings().closing))
    return list(_with_quirks(tape.rows, quirks))


def _topics(scores: ItemScores, chance: random.Random) -> Iterator[tuple[Topic, int]]:
    """Yield the topics talked about in some order, with the score that the answer has to fit."""
    said = [item for item in Item if chance.random() >= _UNSAID_SHARE]
    topics = [(sayings().items[item], scores[item]) for item in said]
    topics += [(topic, 0) for topic in chance.sample(sayings().off_topic, 3)]
    chance.shuffle(topics)
    yield from topics


def _ask(tape: _Tape, topic: Topic, score: int, *, is_coded: bool) -> None:
    chance = tape.chance
    question = f"{topic.code} ({topic.question})" if is_coded else topic.question
    tape.say(ELLIE, question)
    answer = chance.choice(topic.answers[score])
    if chance.random() < _SPLIT_SHARE:
        tape.say(PARTICIPANT, chance.choice(sayings().filler))
    if chance.random() < _UNRECOGNISED_SHARE:
        tape.say(PARTICIPANT, "xxx")
    if chance.random() < _NONVERBAL_SHARE:
        answer = f"{answer} {chance.choice(sayings().nonverbal)}"
    tape.say(PARTICIPANT, answer)
    if chance.random() < _SCRUBBED_SHARE:
        tape.say(PARTICIPANT, "scrubbed_entry")
    if chance.random() < _BLANK_SHARE:
        tape.say(PARTICIPANT, "")
    if chance.random() < _SPLIT_SHARE:
        tape.say(ELLIE, chance.choice(sayings().acknowledgement))


def _interrupt(tape: _Tape, interruption: Interruption) -> None:
    """Put other talk into the window, and what follows behind it."""
    tape.seconds = interruption.start_seconds
    for words in tape.chance.sample(sayings().interruption_talk, 4):
        tape.say(PARTICIPANT, words)
    tape.seconds = interruption.resume_seconds


def _with_quirks(rows: list[Row], quirks: frozenset[RowQuirk]) -> Iterator[Row]:
    for at, row in enumerate(rows):
        if row.speaker == ELLIE and RowQuirk.NO_ELLIE in quirks:
            continue
        speaker = row.speaker
        if RowQuirk.MIXED_CASE in quirks and at % 2:
            speaker = f"{speaker.upper()} "
        yield Row(
            start_seconds=row.start_seconds,
            stop_seconds=row.stop_seconds,
            speaker=speaker,
            words=row.words,
        )
