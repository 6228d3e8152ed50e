"""Makes up the participants of a dataset: numbers, scores, splits, and who has which quirk."""

import math
import random
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import Final

from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.evaluation.datasets.labels import CUT_OFF

ItemScores = Mapping[Item, int]

_FILE: Final = "item_model.toml"


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemModel:
    """A Gaussian copula over the items: a score is how many thresholds a normal variate passes."""

    thresholds: Mapping[Item, tuple[float, ...]]
    """Item → three standard normal quantiles, rising."""
    factor: tuple[tuple[float, ...], ...]
    """Lower triangle of the Cholesky factor of the latent correlations, in the items' order."""

    def draw(self, chance: random.Random) -> dict[Item, int]:
        """Draw one person's answers, each 0–3."""
        independent = [chance.gauss(0.0, 1.0) for _ in Item]
        latent = (
            sum(weight * variate for weight, variate in zip(row, independent, strict=False))
            for row in self.factor
        )
        return {
            item: sum(value >= threshold for threshold in self.thresholds[item])
            for item, value in zip(Item, latent, strict=True)
        }


@cache
def item_model() -> ItemModel:
    """Return the model that comes with the package; its file names the source."""
    content = files(__package__).joinpath(_FILE).read_text(encoding="utf-8")
    table = tomllib.loads(content)
    correlations = [[*table["latent_correlations"][item.value], 1.0] for item in Item]
    return ItemModel(
        thresholds={item: tuple(table["thresholds"][item.value]) for item in Item},
        factor=_cholesky(correlations),
    )


def _cholesky(lower: list[list[float]]) -> tuple[tuple[float, ...], ...]:
    """Factor a correlation matrix given by its lower triangle."""
    factor: list[list[float]] = []
    for i, row in enumerate(lower):
        entries: list[float] = []
        for j in range(i):
            known = sum(entries[k] * factor[j][k] for k in range(j))
            entries.append((row[j] - known) / factor[j][j])
        entries.append(math.sqrt(row[i] - sum(entry * entry for entry in entries)))
        factor.append(entries)
    return tuple(map(tuple, factor))


class UnitQuirk(StrEnum):
    """What is odd about a participant's files, in words for the table of quirks."""

    INTERRUPTED = "somebody interrupts the interview"
    NO_ELLIE = "no rows of the interviewer, a sync mark at the start"
    CODED_LINES = "codes before the interviewer's words"
    MIXED_CASE = "speakers in capitals and with a blank behind"
    WORDS_LIKE_BLANKS = "answers nan, null, None and a lone quote mark"
    APPLE_DOUBLE = "a Mac's stub beside the transcript"
    NO_TRANSCRIPT = "a label without a transcript"
    NO_LABEL = "a transcript without a label"
    BLANK_ITEM = "one blank item, recoverable from the total"
    TWO_BLANK_ITEMS = "two blank items, not recoverable"
    TOTAL_NOT_SUM = "a total that is not the sum of the items"
    BINARY_NOT_TOTAL = "a binary label that contradicts the total"
    ITEM_OF_FIVE = "an item of 5"


TRANSCRIPT_QUIRKS: Final = frozenset(
    {
        UnitQuirk.INTERRUPTED,
        UnitQuirk.NO_ELLIE,
        UnitQuirk.CODED_LINES,
        UnitQuirk.MIXED_CASE,
        UnitQuirk.WORDS_LIKE_BLANKS,
    }
)
"""Quirks of rows with speakers and codes; a transcript of E-DAIC has neither."""

INTERRUPTIONS: Final = {373: (396.0, 482.0), 444: (290.0, 388.0)}
"""Participant → when somebody interrupts, inside every window that a source gives, and when the
interview goes on, behind all of them; in seconds."""

_QUIRKS: Final[Mapping[int, UnitQuirk]] = {
    319: UnitQuirk.BLANK_ITEM,
    373: UnitQuirk.INTERRUPTED,
    409: UnitQuirk.BINARY_NOT_TOTAL,
    444: UnitQuirk.INTERRUPTED,
    451: UnitQuirk.NO_ELLIE,
    458: UnitQuirk.NO_ELLIE,
    480: UnitQuirk.NO_ELLIE,
    300: UnitQuirk.APPLE_DOUBLE,
    301: UnitQuirk.CODED_LINES,
    302: UnitQuirk.MIXED_CASE,
    303: UnitQuirk.WORDS_LIKE_BLANKS,
    304: UnitQuirk.TWO_BLANK_ITEMS,
    305: UnitQuirk.TOTAL_NOT_SUM,
    306: UnitQuirk.ITEM_OF_FIVE,
    307: UnitQuirk.NO_TRANSCRIPT,
    308: UnitQuirk.NO_LABEL,
}
FEWEST_UNITS: Final = len(_QUIRKS) + 4
_NEVER_GIVEN: Final = frozenset({342, 394, 398, 460})
_BEYOND: Final = 1000
"""Numbers for more participants than the corpus has begin here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeUpParticipant:
    """One participant who does not exist."""

    participant_id: int
    scores: ItemScores
    gender: int
    split: str
    quirk: UnitQuirk | None = None

    @property
    def total(self) -> int:
        """The true total."""
        return sum(self.scores.values())


def made_up_cohort(count: int, seed: int) -> list[MadeUpParticipant]:
    """Return participants in the order of their numbers; all quirks are among them.

    Each has chance of their own, so that more participants change none of them.
    """
    return [
        _participant(number, random.Random(f"participant {seed} {number}"))  # noqa: S311
        for number in _numbers(count)
    ]


def _numbers(count: int) -> Sequence[int]:
    regular = [at for at in range(300, 493) if at not in _NEVER_GIVEN and at not in _QUIRKS]
    more = range(_BEYOND, _BEYOND + max(0, count - len(regular) - len(_QUIRKS)))
    return sorted([*_QUIRKS, *[*regular, *more][: count - len(_QUIRKS)]])


def _participant(number: int, chance: random.Random) -> MadeUpParticipant:
    quirk = _QUIRKS.get(number)
    scores = item_model().draw(chance)
    while quirk is UnitQuirk.BINARY_NOT_TOTAL and sum(scores.values()) < CUT_OFF:
        scores = item_model().draw(chance)
    split = chance.choices(["train", "dev", "test"], weights=[107, 35, 47])[0]
    return MadeUpParticipant(
        participant_id=number,
        scores=scores,
        gender=chance.randrange(2),
        split="train" if quirk else split,
        quirk=quirk,
    )
