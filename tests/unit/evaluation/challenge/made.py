"""A small challenge, and a system that knows its truth."""

from functools import cache
from pathlib import Path

from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.evaluation.challenge.folder import InterviewTruth, read_challenge
from ai_psychiatrist.evaluation.challenge.make import ChallengeRecipe, challenge_contents
from ai_psychiatrist.evaluation.challenge.prediction import (
    ChallengePrediction,
    GivenQuote,
    ItemAnswer,
)

SMALL = ChallengeRecipe(size=3, seed=5)


@cache
def small_contents() -> dict[str, bytes]:
    """Return the files of the small challenge."""
    return challenge_contents(SMALL)


def written(folder: Path) -> Path:
    """Write it down, and return where."""
    folder.mkdir(exist_ok=True)
    for name, content in small_contents().items():
        (folder / name).write_bytes(content)
    return folder


def read(folder: Path) -> tuple[dict[str, str], dict[str, InterviewTruth]]:
    """Return its texts and its truth by interview."""
    return read_challenge(written(folder))


def knowing(truth: InterviewTruth, text: str) -> ChallengePrediction:
    """Return what is true, as a prediction."""
    return ChallengePrediction(
        unit_id=truth.unit_id,
        items={item: _known(truth, item, text) for item in Item},
        danger=truth.is_dangerous,
    )


def _known(truth: InterviewTruth, item: Item, text: str) -> ItemAnswer:
    known = truth.items[item]
    quotes = tuple(
        GivenQuote(
            text=text[span.start : span.end],
            start=span.start,
            end=span.end,
            polarity=span.polarity,
        )
        for span in known.spans
    )
    return ItemAnswer(score=known.score, quotes=quotes)
