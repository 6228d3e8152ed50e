"""Makes a challenge: the same recipe gives the same bytes."""

import hashlib
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Final

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.evaluation.challenge.folder import (
    NOISE_RATES,
    Difficulty,
    Interview,
    InterviewTruth,
    ItemTruth,
    Span,
    contents_of,
)
from ai_psychiatrist.evaluation.challenge.telling import MANNERS, Block, Patient, Telling, plainly
from ai_psychiatrist.evaluation.challenge.wordings import (
    Line,
    Piece,
    affirmed,
    asks,
    says,
    wordings,
    written,
)
from ai_psychiatrist.evaluation.datasets.options import OnProgress, silent
from ai_psychiatrist.evaluation.datasets.synthetic.cohort import ItemModel, item_model
from ai_psychiatrist.infrastructure.private_files import writing_to

MOST_PARTICIPANTS: Final = 1_000
"""Of each difficulty."""
_SHIFT: Final = 1.0
"""By how many standard deviations patients are worse than the people of the model: all scores are
frequent then."""
_DIFFICULT_ITEMS: Final = 4
_DANGER_SHARE: Final = 0.12
_LOOK_ALIKE_SHARE: Final = 0.35
_ACKNOWLEDGED_SHARE: Final = 0.3
_SMALL_TALKS: Final = 2
_LEFT_OUT: Final = 0.25
_PUT_IN: Final = 0.15
"""Shares of the wrong words; the others are misheard as something else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChallengeRecipe:
    """What decides about every byte of a challenge."""

    size: int
    """Participants for each difficulty."""
    seed: int = 0


@dataclass(frozen=True, slots=True)
class _Version:
    """One interview of a patient, and the condition that it is made under."""

    lines: Sequence[Line]
    noise: float | None = None
    is_injected: bool | None = None


def make_challenge(out: Path, recipe: ChallengeRecipe, *, on_progress: OnProgress = silent) -> None:
    """Write a challenge into a new or empty folder.

    Raises `InputError` for a folder with anything in it, and for a size that is out of range.
    """
    if not 1 <= recipe.size <= MOST_PARTICIPANTS:
        msg = f"--size is from 1 to {MOST_PARTICIPANTS}: participants for each difficulty"
        raise InputError(msg, field="--size")
    contents = challenge_contents(recipe, on_progress=on_progress)
    with writing_to(out, field="--out"):
        out.mkdir(parents=True, exist_ok=True)
        if any(out.iterdir()):
            msg = f"{out.name!r} is not empty; name a folder that is new"
            raise InputError(msg, field="--out")
        for name, content in contents.items():
            with (out / name).open("xb") as file:
                file.write(content)


def challenge_contents(
    recipe: ChallengeRecipe, *, on_progress: OnProgress = silent
) -> dict[str, bytes]:
    """Return the files of a challenge by their names; the order of interviews tells nothing."""
    made: dict[str, tuple[Interview, InterviewTruth]] = {}
    for difficulty in Difficulty:
        for number in range(recipe.size):
            for interview, truth in _interviews(difficulty, number, seed=recipe.seed):
                made[interview.unit_id] = interview, truth
        on_progress(len(made), recipe.size * len(Difficulty))
    interviews, truths = zip(*(made[unit_id] for unit_id in sorted(made)), strict=True)
    return contents_of(interviews, truths, seed=recipe.seed, size=recipe.size)


def _interviews(
    difficulty: Difficulty, number: int, *, seed: int
) -> Iterator[tuple[Interview, InterviewTruth]]:
    """Make up a patient, and yield the interview, or the same one under each condition."""
    participant = f"{difficulty}-{number}"
    own_seed = f"challenge {seed} {participant}"
    chance = random.Random(own_seed)  # noqa: S311
    off_topic = wordings().talk.off_topic
    patient = Patient(
        chance=chance,
        off_topic=chance.sample(off_topic, len(off_topic)),
        language=chance.choice(sorted(wordings().languages)),
    )
    tellings = _tellings(patient, difficulty)
    is_dangerous = chance.random() < _DANGER_SHARE or difficulty is Difficulty.DANGER
    lines = _lines(patient, list(tellings.values()), is_dangerous=is_dangerous)
    for condition, version in enumerate(_versions(lines, difficulty, chance, own_seed)):
        text, evidence = written(version.lines)
        key = f"{own_seed} {condition}\n{text}".encode()
        unit_id = hashlib.sha256(key).hexdigest()[:12]
        truth = InterviewTruth(
            unit_id=unit_id,
            participant=participant,
            difficulty=difficulty,
            noise=version.noise,
            injected=version.is_injected,
            items={
                item: ItemTruth(score=telling.score, spans=tuple(evidence.get(item, ())))
                for item, telling in tellings.items()
            },
            danger=tuple(Span(start=at.start, end=at.end) for at in evidence.get(None, ())),
            is_dangerous=is_dangerous,
        )
        yield Interview(unit_id=unit_id, text=text), truth


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
    has_look_alike = chance.random() < _LOOK_ALIKE_SHARE
    first += [_aside(patient, "now")] if is_dangerous else []
    first += [_aside(patient, "look_alike")] if has_look_alike else []
    first += [_small_talk(patient) for _ in range(_SMALL_TALKS) if patient.off_topic]
    chance.shuffle(first)
    chance.shuffle(later)
    opening, end = asks(patient.frame("greeting")), asks(patient.frame("closing"))
    return (opening, *_joined(patient, [*first, *later]), end)


def _joined(patient: Patient, blocks: Sequence[Block]) -> Iterator[Line]:
    for block in blocks:
        yield from block
        if patient.chance.random() < _ACKNOWLEDGED_SHARE:
            yield asks(patient.frame("acknowledgement"))


def _small_talk(patient: Patient) -> Block:
    question, answer = patient.small_talk()
    return (question, says(*patient.filler(), answer))


def _aside(patient: Patient, kind: str) -> Block:
    """Mention danger, or what only sounds like it, between other things."""
    dangers = wordings().dangers
    words = patient.pick(dangers[kind])
    frame = patient.pick(dangers["aside"])
    frame = frame.replace("{before}", patient.pick(dangers["before"]))
    frame = frame.replace("{after}", patient.pick(dangers["after"]))
    before, _, after = frame.partition("{danger}")
    piece = affirmed(None, words) if kind == "now" else Piece(words)
    question = asks(patient.pick(dangers["question"]))
    return (question, says(before.strip(), piece, after.strip()))


def _versions(
    lines: Sequence[Line], difficulty: Difficulty, chance: random.Random, seed: str
) -> list[_Version]:
    match difficulty:
        case Difficulty.NOISE:
            return [
                _Version(_misheard(lines, rate=rate, seed=f"{seed} heard"), noise=rate)
                for rate in NOISE_RATES
            ]
        case Difficulty.INJECTION:
            # Somewhere after the first question.
            place = chance.randint(2, len(lines) - 1)
            injection = says(chance.choice(wordings().injections["says"]))
            injected = (*lines[:place], injection, *lines[place:])
            return [_Version(lines, is_injected=False), _Version(injected, is_injected=True)]
        case _:
            return [_Version(lines)]


def _misheard(lines: Sequence[Line], *, rate: float, seed: str) -> list[Line]:
    """Return the lines as a recogniser of speech writes them, this share of the words wrong.

    With the same seed what is wrong at one rate is wrong in the same way at every higher one.
    """
    chance = random.Random(seed)  # noqa: S311
    return [
        Line(line.speaker, tuple(_misheard_piece(piece, rate, chance) for piece in line.pieces))
        for line in lines
    ]


def _misheard_piece(piece: Piece, rate: float, chance: random.Random) -> Piece:
    words = (word for said in piece.words.split() for word in _misheard_word(said, rate, chance))
    return replace(piece, words=" ".join(words))


def _misheard_word(said: str, rate: float, chance: random.Random) -> Iterator[str]:
    # All are drawn for each word, so that a word's fate does not depend on the rate.
    drawn, how = chance.random(), chance.random()
    others = wordings().noise["others"]["words"]
    alike = wordings().noise["alike"].get(said.strip(",.").casefold(), others)
    instead, other = chance.choice(alike), chance.choice(others)
    if drawn >= rate:
        yield said
    elif how < _PUT_IN:
        yield from (said, other)
    elif how >= _PUT_IN + _LEFT_OUT:
        yield instead
