"""How a patient tells of one item, by the rule that makes the patient difficult.

What is told decides about the truth: a score where the words say whether and how often, and none
where nobody could know it from them.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.evaluation.challenge.difficulty import Difficulty
from ai_psychiatrist.evaluation.challenge.script import (
    Line,
    Piece,
    affirmed,
    asks,
    counted,
    denied,
    says,
)
from ai_psychiatrist.evaluation.challenge.wordings import (
    ItemWording,
    OffTopic,
    item_wordings,
    languages,
    talk,
)

_UNSAID_SHARE: Final = 0.14
_EVADED_SHARE: Final = 0.06
_CLOSED_SHARE: Final = 0.3
_VOLUNTEERED_SHARE: Final = 0.2
_FILLED_SHARE: Final = 0.4
_OWN_SHARE: Final = 0.35
"""How likely somebody who tells of the past or of others tells of the own present as well."""
_RETRACTED_SHARE: Final = 0.5
_ANYTHING_ELSE: Final = "is there anything you'd like to add"

Block: TypeAlias = tuple[Line, ...]
"""Turns that follow one another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Telling:
    """All that is said of an item."""

    score: int | None
    """What the words say, 0-3; `None` where they do not determine it."""
    first: Block = ()
    later: Block = ()
    """What is said towards the end of the interview."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Patient:
    """Somebody who does not exist."""

    chance: random.Random
    off_topic: list[OffTopic] = field(default_factory=list)
    """Questions about something else that were not asked yet."""
    language: str = "es"
    """The one that is fallen back into."""

    def pick(self, choices: Sequence[str]) -> str:
        """Draw a wording."""
        return self.chance.choice(choices)

    def often(self, score: int) -> str:
        """Say how often, for 1 to 3."""
        return self.pick(talk().often[score])

    def said(self, item: Item, score: int) -> Piece:
        """Say plainly that it is so, and how often, or that it is not."""
        wording = item_wordings()[item]
        if score == 0:
            return denied(item, self.pick(wording.denied))
        words = self.pick(wording.present).replace("{often}", self.often(score))
        return affirmed(item, words)

    def filler(self) -> tuple[Piece, ...]:
        """Begin to speak, or do not."""
        is_filled = self.chance.random() < _FILLED_SHARE
        return (Piece(f"{self.pick(talk().filler)},"),) if is_filled else ()

    def small_talk(self) -> tuple[Line, Piece]:
        """Return a question about something else, and the answer."""
        topic = self.off_topic.pop()
        return asks(topic.question), Piece(self.pick(topic.answers))


def plainly(patient: Patient, item: Item, score: int) -> Telling:
    """Tell it when asked, unasked, or not at all."""
    wording, drawn = item_wordings()[item], patient.chance.random()
    if drawn < _UNSAID_SHARE:
        return Telling(score=None)
    if drawn < _UNSAID_SHARE + _EVADED_SHARE:
        question = asks(patient.pick(wording.open))
        return Telling(score=None, first=(question, says(patient.pick(talk().evasion))))
    manner = patient.chance.random()
    if manner < _CLOSED_SHARE:
        return Telling(score=score, first=_asked_for_yes_or_no(patient, item, score))
    if manner < _CLOSED_SHARE + _VOLUNTEERED_SHARE and patient.off_topic:
        question, answer = patient.small_talk()
        told = says(*patient.filler(), answer, "and by the way,", patient.said(item, score))
        return Telling(score=score, first=(question, told))
    return Telling(score=score, first=_asked(patient, item, patient.said(item, score)))


def _asked(patient: Patient, item: Item, *answer: Piece | str) -> Block:
    question = asks(patient.pick(item_wordings()[item].open))
    return (question, says(*patient.filler(), *answer))


def _asked_for_yes_or_no(patient: Patient, item: Item, score: int) -> Block:
    wording = item_wordings()[item]
    question = asks(patient.pick(wording.closed))
    if score == 0:
        return (question, says(denied(item, patient.pick(wording.no))))
    return (
        question,
        says(affirmed(item, patient.pick(wording.yes))),
        asks(patient.pick(talk().asked_how_often)),
        says(*patient.filler(), counted(item, patient.often(score))),
    )


def _minimised(patient: Patient, item: Item, score: int) -> Telling:
    if score == 0:
        return plainly(patient, item, score)
    before, after = patient.pick(talk().minimised_before), patient.pick(talk().minimised_after)
    told = _asked(patient, item, f"{before},", patient.said(item, score), after)
    return Telling(score=score, first=told)


def _exaggerated(patient: Patient, item: Item, score: int) -> Telling:
    wording: ItemWording = item_wordings()[item]
    drama = patient.pick(wording.dramatic)
    days = (
        denied(item, patient.pick(talk().not_at_all))
        if score == 0
        else counted(item, patient.often(score))
    )
    told = _asked(patient, item, Piece(drama) if score == 0 else affirmed(item, drama))
    question = asks(patient.pick(talk().asked_to_count))
    return Telling(score=score, first=(*told, question, says(*patient.filler(), days)))


def _contradicted(patient: Patient, item: Item, score: int) -> Telling:
    topic = item_wordings()[item].topic
    if patient.chance.random() < _RETRACTED_SHARE:
        untrue = patient.said(item, 0 if score else patient.chance.randint(1, 3))
        opening = patient.pick(talk().retracted).replace("{topic}", topic)
        return Telling(
            score=score,
            first=_asked(patient, item, untrue.words),
            later=(asks(_ANYTHING_ELSE), says(f"{opening},", patient.said(item, score))),
        )
    opening = patient.pick(talk().contradicted).replace("{topic}", topic)
    affirming = patient.said(item, max(score, 1))
    return Telling(
        score=None,
        first=_asked(patient, item, patient.said(item, 0)),
        later=(asks(_ANYTHING_ELSE), says(f"{opening},", affirming)),
    )


def _past(patient: Patient, item: Item, score: int) -> Telling:
    del score
    story = patient.pick(item_wordings()[item].past)
    if patient.chance.random() >= _OWN_SHARE:
        return Telling(score=None, first=_asked(patient, item, story))
    turn = patient.pick(talk().present_turn)
    return Telling(score=0, first=_asked(patient, item, f"{story},", turn, patient.said(item, 0)))


def _of_another(patient: Patient, item: Item, score: int) -> Telling:
    wording = item_wordings()[item]
    who, often = patient.pick(talk().whose), patient.often(patient.chance.randint(1, 3))
    words = patient.pick(wording.another).replace("{who}", who).replace("{often}", often)
    return _perhaps_own(patient, item, score, words)


def _quoted(patient: Patient, item: Item, score: int) -> Telling:
    line = patient.said(item, patient.chance.randint(1, 3)).words
    words = patient.pick(talk().quoted).replace("{line}", line)
    return _perhaps_own(patient, item, score, words)


def _perhaps_own(patient: Patient, item: Item, score: int, words: str) -> Telling:
    """Tell what is of somebody else, and sometimes what is one's own after it."""
    if patient.chance.random() >= _OWN_SHARE:
        return Telling(score=None, first=_asked(patient, item, words))
    own = patient.pick(talk().own_turn), patient.said(item, score)
    return Telling(score=score, first=_asked(patient, item, f"{words},", *own))


def _ironic(patient: Patient, item: Item, score: int) -> Telling:
    wording, mark = item_wordings()[item], patient.pick(talk().irony_mark)
    if score == 0:
        told = _asked(patient, item, denied(item, f"{patient.pick(wording.ironic_ill)} {mark}"))
        question = asks(patient.pick(talk().asked_serious_denial))
        return Telling(score=0, first=(*told, question, says(patient.said(item, 0))))
    told = _asked(patient, item, affirmed(item, f"{patient.pick(wording.ironic_well)} {mark}"))
    question = asks(patient.pick(talk().asked_seriously))
    answer = says(counted(item, patient.often(score)))
    return Telling(score=score, first=(*told, question, answer))


def _in_another_language(patient: Patient, item: Item, score: int) -> Telling:
    language = languages()[patient.language]
    if score == 0:
        return Telling(score=0, first=_asked(patient, item, denied(item, language.denied[item])))
    often = patient.pick(language.often[score])
    words = language.present[item].replace("{often}", often)
    return Telling(score=score, first=_asked(patient, item, affirmed(item, words)))


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
