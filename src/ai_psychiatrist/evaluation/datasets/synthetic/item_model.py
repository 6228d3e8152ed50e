"""Draws answers to the eight items that go together as people's answers do."""

import math
import random
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

from ai_psychiatrist.domain.phq8 import Item

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
