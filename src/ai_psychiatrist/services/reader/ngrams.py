"""The n-gram voice: runs of one to three words, weighed by how often they stood in talk of danger.

It sees neither order beyond three words nor what they mean, and errs elsewhere than the network.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from math import exp, sqrt
from typing import TYPE_CHECKING, BinaryIO, Final
from zlib import crc32

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

PLACES: Final = 2**20
"""How many weights there are; runs of words that share a place share its weight."""
_WORD: Final = re.compile(r"[a-z0-9']+")
_LONGEST: Final = 3


def places_of(question: str, words: str) -> list[int]:
    """Return the places of all runs of words, those of the question apart, each once."""
    runs = {*_runs(words, "a"), *_runs(question, "q")}
    return sorted({crc32(run.encode()) % PLACES for run in runs})


def _runs(text: str, side: str) -> Iterator[str]:
    words = ["^", *_WORD.findall(text.casefold().replace("’", "'")), "$"]
    for length in range(1, _LONGEST + 1):
        for first in range(len(words) - length + 1):
            yield f"{side} {' '.join(words[first : first + length])}"


@dataclass(frozen=True, slots=True, kw_only=True)
class NgramVoice:
    """Weights of a byte, their scale, and what is added to their sum."""

    weights: "npt.NDArray[np.int8]"
    scale: float
    bias: float

    @classmethod
    def load(cls, file: BinaryIO) -> "NgramVoice":
        """Read the weights; no file that holds objects is read."""
        import numpy as np  # noqa: PLC0415  an extra

        with np.load(file, allow_pickle=False) as stored:
            return cls(
                weights=stored["weights"],
                scale=float(stored["scale"]),
                bias=float(stored["bias"]),
            )

    def danger(self, question: str, words: str) -> float:
        """Return the probability of danger in an answer, 0–1."""
        places = places_of(question, words)
        total = int(self.weights[places].sum(dtype="int64"))
        return 1 / (1 + exp(-(self.bias + self.scale * total / sqrt(len(places)))))
