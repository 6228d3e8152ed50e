"""Makes a challenge: the same recipe gives the same bytes."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.domain.evidence import Polarity
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.evaluation.challenge.difficulty import Difficulty
from ai_psychiatrist.evaluation.challenge.folder import ChallengeFolder, Interview, contents_of
from ai_psychiatrist.evaluation.challenge.interview import MadeUpInterview, interviews_of
from ai_psychiatrist.evaluation.challenge.truth import (
    EvidenceSpan,
    InterviewTruth,
    ItemTruth,
    Span,
)
from ai_psychiatrist.evaluation.datasets.options import OnProgress, silent
from ai_psychiatrist.infrastructure.private_files import writing_to

MOST_PARTICIPANTS: Final = 1_000
"""Of each difficulty."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChallengeRecipe:
    """What decides about every byte of a challenge."""

    size: int
    """Participants for each difficulty."""
    seed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Made:
    interview: Interview
    truth: InterviewTruth


def make_challenge(
    out: Path, recipe: ChallengeRecipe, *, on_progress: OnProgress = silent
) -> ChallengeFolder:
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
    return ChallengeFolder(path=out)


def challenge_contents(
    recipe: ChallengeRecipe, *, on_progress: OnProgress = silent
) -> dict[str, bytes]:
    """Return the files of a challenge by their names; the order of interviews tells nothing."""
    made: list[_Made] = []
    for difficulty in Difficulty:
        made += _made(difficulty, recipe)
        on_progress(len(made), recipe.size * len(Difficulty))
    made.sort(key=lambda one: one.interview.unit_id)
    return contents_of(
        [one.interview for one in made],
        [one.truth for one in made],
        seed=recipe.seed,
        size=recipe.size,
    )


def _made(difficulty: Difficulty, recipe: ChallengeRecipe) -> Iterator[_Made]:
    for number in range(recipe.size):
        participant = f"{difficulty}-{number}"
        seed = f"challenge {recipe.seed} {participant}"
        for condition, one in enumerate(interviews_of(difficulty, seed=seed)):
            key = f"{seed} {condition}\n{one.written.text}".encode()
            unit_id = hashlib.sha256(key).hexdigest()[:12]
            yield _Made(
                interview=Interview(unit_id=unit_id, text=one.written.text),
                truth=_truth(one, unit_id, participant),
            )


def _truth(one: MadeUpInterview, unit_id: str, participant: str) -> InterviewTruth:
    spans: dict[Item | None, list[EvidenceSpan]] = {}
    for stretch in one.written.stretches:
        polarity = stretch.mark.polarity
        span = EvidenceSpan(
            start=stretch.start,
            end=stretch.end,
            polarity=Polarity.AFFIRMED if polarity is Polarity.AFFIRMED else Polarity.DENIED,
            needed=stretch.mark.is_needed,
        )
        spans.setdefault(stretch.mark.item, []).append(span)
    return InterviewTruth(
        unit_id=unit_id,
        participant=participant,
        difficulty=one.difficulty,
        noise=one.noise,
        injected=one.is_injected,
        items={
            item: ItemTruth(score=score, spans=tuple(spans.get(item, ())))
            for item, score in one.scores.items()
        },
        danger=tuple(Span(start=at.start, end=at.end) for at in spans.get(None, ())),
        is_dangerous=one.is_dangerous,
    )
