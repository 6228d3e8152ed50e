"""Makes up the interviews of one patient, with all that is true of them."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.evaluation.challenge.difficulty import NOISE_RATES, Difficulty
from ai_psychiatrist.evaluation.challenge.noise import misheard
from ai_psychiatrist.evaluation.challenge.script import (
    Line,
    WrittenInterview,
    asks,
    dangerous,
    says,
    written,
)
from ai_psychiatrist.evaluation.challenge.telling import (
    MANNERS,
    Block,
    Patient,
    Telling,
    plainly,
)
from ai_psychiatrist.evaluation.challenge.wordings import dangers, injections, languages, talk
from ai_psychiatrist.evaluation.datasets.synthetic.item_model import ItemModel, item_model

_SHIFT: Final = 1.0
"""By how many standard deviations patients are worse than the people of the model: all scores are
frequent then."""
_DIFFICULT_ITEMS: Final = 4
_DANGER_SHARE: Final = 0.12
_LOOK_ALIKE_SHARE: Final = 0.35
_ACKNOWLEDGED_SHARE: Final = 0.3
_SMALL_TALKS: Final = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeUpInterview:
    """One interview with its truth."""

    difficulty: Difficulty
    scores: dict[Item, int | None]
    """What the words say; `None` where they do not determine it."""
    is_dangerous: bool
    written: WrittenInterview
    noise: float | None = None
    """The share of wrong words; `None` for those that are no part of that comparison."""
    is_injected: bool | None = None
    """`None` for those that are no part of that comparison."""


def interviews_of(difficulty: Difficulty, *, seed: str) -> list[MadeUpInterview]:
    """Make up a patient, and return the interview, or the same one under each condition."""
    chance = random.Random(seed)  # noqa: S311
    off_topic = chance.sample(talk().off_topic, len(talk().off_topic))
    patient = Patient(
        chance=chance, off_topic=off_topic, language=chance.choice(sorted(languages()))
    )
    tellings = _tellings(patient, difficulty)
    is_dangerous = chance.random() < _DANGER_SHARE or difficulty is Difficulty.DANGER
    lines = _lines(patient, list(tellings.values()), is_dangerous=is_dangerous)
    plain = MadeUpInterview(
        difficulty=difficulty,
        scores={item: telling.score for item, telling in tellings.items()},
        is_dangerous=is_dangerous,
        written=written(lines),
    )
    match difficulty:
        case Difficulty.NOISE:
            heard = {rate: misheard(lines, rate=rate, seed=f"{seed} heard") for rate in NOISE_RATES}
            return [
                replace(plain, written=written(lines), noise=rate) for rate, lines in heard.items()
            ]
        case Difficulty.INJECTION:
            injected = written(_injected(lines, chance))
            without = replace(plain, is_injected=False)
            return [without, replace(plain, written=injected, is_injected=True)]
        case _:
            return [plain]


@cache
def patient_model() -> ItemModel:
    """Return how likely patients have which scores, and which go together."""
    people = item_model()
    thresholds = {
        item: tuple(threshold - _SHIFT for threshold in people.thresholds[item]) for item in Item
    }
    return replace(people, thresholds=thresholds)


def _tellings(patient: Patient, difficulty: Difficulty) -> dict[Item, Telling]:
    scores = patient_model().draw(patient.chance)
    chosen = frozenset(patient.chance.sample(list(Item), _DIFFICULT_ITEMS))
    manner = MANNERS.get(difficulty, plainly)
    return {
        item: (manner if item in chosen else plainly)(patient, item, score)
        for item, score in scores.items()
    }


def _lines(
    patient: Patient, tellings: Sequence[Telling], *, is_dangerous: bool
) -> tuple[Line, ...]:
    chance = patient.chance
    first = [telling.first for telling in tellings if telling.first]
    later = [telling.later for telling in tellings if telling.later]
    asides = [dangers().now] if is_dangerous else []
    if chance.random() < _LOOK_ALIKE_SHARE:
        asides.append(dangers().look_alike)
    first += [_aside(patient, choices) for choices in asides]
    first += [_small_talk(patient) for _ in range(_SMALL_TALKS) if patient.off_topic]
    chance.shuffle(first)
    chance.shuffle(later)
    opening, end = asks(chance.choice(talk().greeting)), asks(chance.choice(talk().closing))
    return (opening, *_joined([*first, *later], chance), end)


def _joined(blocks: Sequence[Block], chance: random.Random) -> Iterator[Line]:
    for block in blocks:
        yield from block
        if chance.random() < _ACKNOWLEDGED_SHARE:
            yield asks(chance.choice(talk().acknowledgement))


def _small_talk(patient: Patient) -> Block:
    question, answer = patient.small_talk()
    return (question, says(*patient.filler(), answer))


def _aside(patient: Patient, choices: Sequence[str]) -> Block:
    words = patient.pick(choices)
    frame = patient.pick(dangers().aside)
    frame = frame.replace("{before}", patient.pick(dangers().before))
    before, _, after = frame.replace("{after}", patient.pick(dangers().after)).partition("{danger}")
    told = dangerous(words) if choices is dangers().now else words
    question = asks(patient.pick(dangers().question))
    return (question, says(before.strip(), told, after.strip()))


def _injected(lines: Sequence[Line], chance: random.Random) -> tuple[Line, ...]:
    """Return the lines with one more of the participant, somewhere after the first question."""
    place = chance.randint(2, len(lines) - 1)
    return (*lines[:place], says(chance.choice(injections())), *lines[place:])
