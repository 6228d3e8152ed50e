"""Makes up one interview that says what its item scores mean, and leaves some of them unsaid."""

import random
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Final, NamedTuple

from pydantic import BaseModel, ConfigDict

from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.evaluation.datasets.synthetic.cohort import (
    INTERRUPTIONS,
    ItemScores,
    MadeUpParticipant,
    UnitQuirk,
)
from ai_psychiatrist.services.transcripts.formats.daic_woz import ELLIE, PARTICIPANT

_FILE: Final = "sayings.toml"
_SLOT: Final = "{often}"


class Topic(BaseModel):
    """A question, the code that some releases write before it, and what may be answered."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    code: str
    question: str
    answers: tuple[str, ...]
    """Denials of an item, or what is said of something else."""
    present: tuple[str, ...] = ()
    """Answers with a slot for how often."""


class Sayings(BaseModel):
    """All sentences by their use."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    items: dict[Item, Topic]
    off_topic: tuple[Topic, ...]
    how_often: dict[int, tuple[str, ...]]
    """Score → how often."""
    greeting: tuple[str, ...]
    closing: tuple[str, ...]
    acknowledgement: tuple[str, ...]
    filler: tuple[str, ...]
    nonverbal: tuple[str, ...]
    researcher_talk: tuple[str, ...]
    interruption_talk: tuple[str, ...]

    def answers(self, topic: Topic, score: int) -> list[str]:
        """Spell out every answer that says a score: a denial 0, the others what their slot does."""
        if not score:
            return [*topic.answers]
        return [
            sentence.replace(_SLOT, often)
            for sentence in topic.present
            for often in self.how_often[score]
        ]


@cache
def sayings() -> Sayings:
    """Return the sentences that come with the package."""
    content = files(__package__).joinpath(_FILE).read_text(encoding="utf-8")
    return Sayings.model_validate(tomllib.loads(content))


_UNSAID_SHARE: Final = 0.2
"""How likely an item is not talked about, so that its score is true and yet unknowable."""
_SPLIT_SHARE: Final = 0.4
_NONVERBAL_SHARE: Final = 0.12
_UNRECOGNISED_SHARE: Final = 0.04
_SCRUBBED_SHARE: Final = 0.03
_BLANK_SHARE: Final = 0.02


class SpokenRow(NamedTuple):
    """One row of a transcript."""

    start_seconds: float
    stop_seconds: float
    speaker: str
    words: str


@dataclass(slots=True, kw_only=True)
class _Tape:
    """Gives rows their times."""

    chance: random.Random
    seconds: float
    rows: list[SpokenRow] = field(default_factory=list)

    def say(self, speaker: str, words: str) -> None:
        start = self.seconds + self.chance.uniform(0.3, 1.5)
        self.seconds = start + 0.4 + 0.3 * len(words.split())
        self.rows.append(SpokenRow(round(start, 3), round(self.seconds, 3), speaker, words))


def made_up_interview(unit: MadeUpParticipant, chance: random.Random) -> list[SpokenRow]:
    """Return the rows of an interview with talk before it, off-topic talk, and marks of sounds."""
    quirk = unit.quirk
    tape = _Tape(chance=chance, seconds=chance.uniform(1.0, 30.0))
    before = 0 if quirk is UnitQuirk.NO_ELLIE else 2
    tape.say(PARTICIPANT, "<sync>")
    for words in chance.sample(sayings().researcher_talk, before):
        tape.say(PARTICIPANT, words)
        tape.say(PARTICIPANT, chance.choice(["<sync>", "[synch]", "<Syncing>."]))
    tape.say(ELLIE, chance.choice(sayings().greeting))
    topics = list(_topics(unit.scores, chance))
    for at, (topic, score) in enumerate(topics):
        if quirk is UnitQuirk.INTERRUPTED and at == len(topics) // 2:
            _interrupt(tape, INTERRUPTIONS[unit.participant_id])
        _ask(tape, topic, score, is_coded=quirk is UnitQuirk.CODED_LINES)
    if quirk is UnitQuirk.WORDS_LIKE_BLANKS:
        for words in ("nan", "null", '"', "None"):
            tape.say(PARTICIPANT, words)
    tape.say(ELLIE, chance.choice(sayings().closing))
    if quirk is UnitQuirk.NO_ELLIE:
        return [row for row in tape.rows if row.speaker != ELLIE]
    if quirk is UnitQuirk.MIXED_CASE:
        tape.rows[1::2] = [
            row._replace(speaker=f"{row.speaker.upper()} ") for row in tape.rows[1::2]
        ]
    return tape.rows


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
    answer = chance.choice(sayings().answers(topic, score))
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


def _interrupt(tape: _Tape, window: tuple[float, float]) -> None:
    """Put other talk into the window, and what follows behind it."""
    tape.seconds, resumed = window
    for words in tape.chance.sample(sayings().interruption_talk, 4):
        tape.say(PARTICIPANT, words)
    tape.seconds = resumed
