"""How a patient talks about one item, by the rule that makes the patient difficult.

The words decide about the truth: a score where they say whether and how often, and none where it
does not follow from them.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.evaluation.challenge.folder import Difficulty
from ai_psychiatrist.evaluation.challenge.wordings import (
    Line,
    OffTopic,
    Piece,
    affirmed,
    asks,
    counted,
    denied,
    says,
    wordings,
)

_UNSAID_SHARE: Final = 0.14
_EVADED_SHARE: Final = 0.06
_CLOSED_SHARE: Final = 0.3
_VOLUNTEERED_SHARE: Final = 0.2
_FILLED_SHARE: Final = 0.4
_OWN_SHARE: Final = 0.35
"""How likely a patient who tells of the past or of others tells of the own present as well."""
_RETRACTED_SHARE: Final = 0.5
_ANYTHING_ELSE: Final = "is there anything you'd like to add"

Block: TypeAlias = tuple[Line, ...]
"""Turns that follow one another."""


@dataclass(frozen=True, slots=True)
class Telling:
    """All that is said of an item."""

    score: int | None
    """What the words say, 0-3; `None` where they do not determine it."""
    first: Block = ()
    later: Block = ()
    """What is said towards the end of the interview."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Patient:
    """An invented person who draws wordings."""

    chance: random.Random
    off_topic: list[OffTopic]
    """Questions about something else that were not asked yet."""
    language: str
    """The one that the patient falls back into."""

    def pick(self, choices: Sequence[str]) -> str:
        """Draw a wording."""
        return self.chance.choice(choices)

    def frame(self, name: str) -> str:
        """Draw a wording of what frames the items."""
        return self.pick(wordings().talk.frames[name])

    def of_item(self, item: Item, name: str) -> str:
        """Draw a wording about an item."""
        return self.pick(wordings().items[item][name])

    def often(self, score: int) -> str:
        """Say how often, for 1 to 3."""
        return self.pick(wordings().talk.often[score])

    def plain(self, item: Item, score: int) -> Piece:
        """Say that it is so, and how often, or that it is not."""
        if score == 0:
            return denied(item, self.of_item(item, "denied"))
        words = self.of_item(item, "present").replace("{often}", self.often(score))
        return affirmed(item, words)

    def filler(self) -> tuple[str, ...]:
        """Begin to speak, or do not."""
        is_filled = self.chance.random() < _FILLED_SHARE
        return (f"{self.frame('filler')},",) if is_filled else ()

    def asked(self, item: Item, *answer: Piece | str) -> Block:
        """Answer an open question."""
        return (asks(self.of_item(item, "open")), says(*self.filler(), *answer))

    def small_talk(self) -> tuple[Line, str]:
        """Return a question about something else, and the answer."""
        topic = self.off_topic.pop()
        return asks(topic.question), self.pick(topic.answers)


def plainly(patient: Patient, item: Item, score: int) -> Telling:
    """Say it when asked, unasked, or not at all."""
    drawn = patient.chance.random()
    if drawn < _UNSAID_SHARE:
        return Telling(None)
    if drawn < _UNSAID_SHARE + _EVADED_SHARE:
        question = asks(patient.of_item(item, "open"))
        return Telling(None, (question, says(patient.frame("evasion"))))
    manner = patient.chance.random()
    if manner < _CLOSED_SHARE:
        return Telling(score, _asked_for_yes_or_no(patient, item, score))
    if manner < _CLOSED_SHARE + _VOLUNTEERED_SHARE and patient.off_topic:
        question, answer = patient.small_talk()
        told = says(*patient.filler(), answer, "and by the way,", patient.plain(item, score))
        return Telling(score, (question, told))
    return Telling(score, patient.asked(item, patient.plain(item, score)))


def _asked_for_yes_or_no(patient: Patient, item: Item, score: int) -> Block:
    question = asks(patient.of_item(item, "closed"))
    if score == 0:
        return (question, says(denied(item, patient.of_item(item, "no"))))
    return (
        question,
        says(affirmed(item, patient.of_item(item, "yes"))),
        asks(patient.frame("asked_how_often")),
        says(*patient.filler(), counted(item, patient.often(score))),
    )


def _minimised(patient: Patient, item: Item, score: int) -> Telling:
    if score == 0:
        return plainly(patient, item, score)
    before, after = patient.frame("minimised_before"), patient.frame("minimised_after")
    told = patient.asked(item, f"{before},", patient.plain(item, score), after)
    return Telling(score, told)


def _exaggerated(patient: Patient, item: Item, score: int) -> Telling:
    drama = patient.of_item(item, "dramatic")
    if score == 0:
        days = denied(item, patient.frame("not_at_all"))
        told = patient.asked(item, drama)
    else:
        days = counted(item, patient.often(score))
        told = patient.asked(item, affirmed(item, drama))
    question = asks(patient.frame("asked_to_count"))
    return Telling(score, (*told, question, says(*patient.filler(), days)))


def _contradicted(patient: Patient, item: Item, score: int) -> Telling:
    topic = wordings().items[item]["topic"][0]
    if patient.chance.random() < _RETRACTED_SHARE:
        untrue = patient.plain(item, 0 if score else patient.chance.randint(1, 3))
        opening = patient.frame("retracted").replace("{topic}", topic)
        first = patient.asked(item, untrue.words)
        return Telling(score, first, _later(opening, patient.plain(item, score)))
    opening = patient.frame("contradicted").replace("{topic}", topic)
    affirming = patient.plain(item, max(score, 1))
    first = patient.asked(item, patient.plain(item, 0))
    return Telling(None, first, _later(opening, affirming))


def _later(opening: str, piece: Piece) -> Block:
    return (asks(_ANYTHING_ELSE), says(f"{opening},", piece))


def _past(patient: Patient, item: Item, _score: int) -> Telling:
    story = patient.of_item(item, "past")
    if patient.chance.random() >= _OWN_SHARE:
        return Telling(None, patient.asked(item, story))
    turn = patient.frame("present_turn")
    return Telling(0, patient.asked(item, f"{story},", turn, patient.plain(item, 0)))


def _of_another(patient: Patient, item: Item, score: int) -> Telling:
    who, often = patient.frame("whose"), patient.often(patient.chance.randint(1, 3))
    words = patient.of_item(item, "another").replace("{who}", who).replace("{often}", often)
    return _perhaps_own(patient, item, score, words)


def _quoted(patient: Patient, item: Item, score: int) -> Telling:
    line = patient.plain(item, patient.chance.randint(1, 3)).words
    words = patient.frame("quoted").replace("{line}", line)
    return _perhaps_own(patient, item, score, words)


def _perhaps_own(patient: Patient, item: Item, score: int, words: str) -> Telling:
    """Talk about another person, and sometimes about oneself after it."""
    if patient.chance.random() >= _OWN_SHARE:
        return Telling(None, patient.asked(item, words))
    own = patient.frame("own_turn"), patient.plain(item, score)
    return Telling(score, patient.asked(item, f"{words},", *own))


def _ironic(patient: Patient, item: Item, score: int) -> Telling:
    mark = patient.frame("irony_mark")
    if score == 0:
        words = f"{patient.of_item(item, 'ironic_ill')} {mark}"
        told = patient.asked(item, denied(item, words))
        question = asks(patient.frame("asked_serious_denial"))
        return Telling(0, (*told, question, says(patient.plain(item, 0))))
    words = f"{patient.of_item(item, 'ironic_well')} {mark}"
    told = patient.asked(item, affirmed(item, words))
    question = asks(patient.frame("asked_seriously"))
    answer = says(counted(item, patient.often(score)))
    return Telling(score, (*told, question, answer))


def _in_another_language(patient: Patient, item: Item, score: int) -> Telling:
    language = wordings().languages[patient.language]
    if score == 0:
        return Telling(0, patient.asked(item, denied(item, language.denied[item])))
    often = patient.pick(language.often[score])
    words = language.present[item].replace("{often}", often)
    return Telling(score, patient.asked(item, affirmed(item, words)))


Tell: TypeAlias = Callable[[Patient, Item, int], Telling]

MANNERS: Final[Mapping[Difficulty, Tell]] = {
    Difficulty.MINIMISES: _minimised,
    Difficulty.EXAGGERATES: _exaggerated,
    Difficulty.CONTRADICTS: _contradicted,
    Difficulty.PAST: _past,
    Difficulty.ANOTHER: _of_another,
    Difficulty.QUOTES: _quoted,
    Difficulty.IRONY: _ironic,
    Difficulty.LANGUAGE: _in_another_language,
}
"""Of the others every item is told plainly."""
