"""Draw at random, for each unit the same on every machine and in any order."""

import hashlib
import json
import random
from collections.abc import Mapping, Sequence
from typing import Final

from ai_psychiatrist.validation.expressions.functions import Function
from ai_psychiatrist.validation.expressions.scope import StepScope


def generator_for(*, seed: int, step: str, unit_id: str) -> random.Random:
    """Return the generator of a step for one unit.

    It starts from the SHA-256 of `[seed,"step","unit_id"]`, JSON in ASCII without blanks, read as
    one whole number with the first byte highest.
    """
    text = json.dumps([seed, step, unit_id], ensure_ascii=True, separators=(",", ":"))
    digest = hashlib.sha256(text.encode("ascii")).digest()
    return random.Random(int.from_bytes(digest, "big"))  # noqa: S311 - repeatable


def _choice(scope: StepScope, values: object) -> object:
    return scope.random.choice(_population(values))


def _sample(scope: StepScope, values: object, count: object) -> list[object]:
    """Return so many of the values, none of them twice."""
    population = _population(values)
    if type(count) is not int:
        raise TypeError
    scope.charge(len(population) + 1)
    return scope.random.sample(population, count)


def _population(values: object) -> Sequence[object]:
    if not isinstance(values, list | tuple | range | str):
        raise TypeError
    return values


RANDOM: Final[Mapping[str, Function]] = {
    "choice": Function(run=_choice),
    "sample": Function(run=_sample, least=2, most=2),
}
"""What a step may call of `random`."""
