"""A transcript as a recogniser of speech might have written it."""

import random
from collections.abc import Iterator, Sequence
from typing import Final

from ai_psychiatrist.evaluation.challenge.script import Line, Piece
from ai_psychiatrist.evaluation.challenge.wordings import noise

_LEFT_OUT: Final = 0.25
_PUT_IN: Final = 0.15
"""Shares of the wrong words; the others are heard as something else."""


def misheard(lines: Sequence[Line], *, rate: float, seed: str) -> tuple[Line, ...]:
    """Return the lines with this share of their words wrong.

    With the same seed what is wrong at one rate is wrong in the same way at every higher one.
    """
    chance = random.Random(seed)  # noqa: S311
    return tuple(
        Line(line.speaker, tuple(_piece(piece, rate, chance) for piece in line.pieces))
        for line in lines
    )


def _piece(piece: Piece, rate: float, chance: random.Random) -> Piece:
    heard = (word for said in piece.words.split() for word in _heard(said, rate, chance))
    return Piece(" ".join(heard), piece.mark)


def _heard(said: str, rate: float, chance: random.Random) -> Iterator[str]:
    # All are drawn for each word, so that a word's fate does not depend on the rate.
    drawn, how = chance.random(), chance.random()
    alike = noise().alike.get(said.strip(",.").casefold(), noise().others["words"])
    instead, other = chance.choice(alike), chance.choice(noise().others["words"])
    if drawn >= rate:
        yield said
    elif how < _PUT_IN:
        yield from (said, other)
    elif how >= _PUT_IN + _LEFT_OUT:
        yield instead
