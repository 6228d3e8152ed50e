"""Interviews by the command: what is asked, what is read from answers, and what comes of it."""

from collections.abc import Iterator

from tests.golden import (
    interviews_agents,
    interviews_keeping,
    interviews_protocols,
    interviews_readings,
    interviews_rules,
)
from tests.golden.answer import Answer


def answers() -> Iterator[Answer]:
    """Yield what interviews with varied people, protocols and models come to."""
    yield from interviews_rules.answers()
    yield from interviews_readings.answers()
    yield from interviews_agents.answers()
    yield from interviews_protocols.answers()
    yield from interviews_keeping.answers()
