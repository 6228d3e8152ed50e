"""Where in a run something belongs: a unit, at a step, in a round; and a part in the whole."""

from collections.abc import Sequence
from dataclasses import dataclass

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.ledger.store.database import Values


def at(unit_id: str, step: str, round: int = 0) -> Values:  # noqa: A002
    """Return the names under which queries know a unit's place at a step."""
    return {"unit_id": unit_id, "step": step, "round": round}


def refuse_unknown_step(step: str, steps: Sequence[str]) -> None:
    """Raise `InputError` for a step that is none of a run's."""
    if step not in steps:
        msg = f"the run has no step {step!r}; its steps are {', '.join(steps)}"
        raise InputError(msg, field="step")


@dataclass(frozen=True, slots=True, kw_only=True)
class PartPlace:
    """Which part of a whole a ledger is, whose units were dealt out to the parts in turn."""

    number: int
    """From 1."""
    of: int
