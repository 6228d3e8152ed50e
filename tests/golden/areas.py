"""The areas: modules of this package with a function `answers()`."""

import time
from importlib import import_module
from typing import Final

from tests.golden.answer import Frozen, frozen

AREAS: Final = (
    "evaluations",
    "http",
    "interviews",
    "assessments",
    "validations",
    "exports",
)
"""The longest first."""


def made(area: str) -> tuple[dict[str, Frozen], float]:
    """Return the answers of an area by name, and how many seconds they took."""
    started = time.monotonic()
    answers = map(frozen, import_module(f"tests.golden.{area}").answers())
    by_name = {one.name: one for one in answers}
    return by_name, time.monotonic() - started
