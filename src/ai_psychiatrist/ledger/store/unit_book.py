"""The units of one run, and what each of them is asked about; nothing of it changes."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.ledger.keys.vault import Vault
from ai_psychiatrist.ledger.store import queries
from ai_psychiatrist.ledger.store.database import Database, Row, Values
from ai_psychiatrist.ledger.store.places import at, refuse_unknown_step
from ai_psychiatrist.ledger.store.rows import context_digest

_REMEMBERED: Final = 16
"""Units whose contexts are kept at hand, about as many as are worked on at a time."""


class UnitBook:
    """The units of one run; any thread may call it."""

    def __init__(self, database: Database, vault: Vault, *, steps: Sequence[str]) -> None:
        self._database = database
        self._vault = vault
        self._steps = steps
        # Every call of a unit asks for it, and it never changes.
        self._remembered = lru_cache(maxsize=_REMEMBERED)(self._read_context)

    def add(self, unit_id: str, *, context_digest: str, context: bytes | None = None) -> None:
        """Add a unit after those there are; one that is there already is left as it is.

        `context`: what the unit's steps are asked about, in the run's own encoding. Raises
        `InputError` when the id is there with another context.
        """
        values: Values = {
            "unit_id": unit_id,
            "context_digest": context_digest,
            "context": self._vault.put_raw(context, place=f"context:{unit_id}"),
        }
        is_new = self._database.execute(queries.ADD_UNIT, values)
        if is_new:
            # One that is added again after its transaction was broken off may have another context.
            self._remembered.cache_clear()
        elif self.require(unit_id)["context_digest"] != context_digest:
            raise _other_input(unit_id)

    def ids(self) -> list[str]:
        """Return the ids of all units in the order in which they came."""
        return [row["unit_id"] for row in self._database.fetch(queries.UNIT_IDS)]

    def each_id(self) -> Iterator[str]:
        """Yield the ids as `ids` does, of more units than are to be in memory."""
        return (row["unit_id"] for row in self._database.stream(queries.UNIT_IDS))

    def add_input(self, unit_id: str, step: str, context: bytes) -> None:
        """Add what a step is asked about, where that is more than what the unit began with.

        Raises `InputError` when the unit is unknown or has another input there.
        """
        refuse_unknown_step(step, self._steps)
        digest = context_digest(context)
        place = f"input:{unit_id}"
        values = {
            "unit_id": unit_id,
            "step": step,
            "context_digest": digest,
            "context": self._vault.put_raw(context, place=place),
        }
        if self._database.execute(queries.ADD_INPUT, values):
            return
        self.require(unit_id)
        (there,) = self._database.fetch(queries.INPUT, at(unit_id, step))
        is_same = there["context_digest"] == digest
        if not is_same and self._vault.take_raw(there["context"], place=place) != context:
            raise _other_input(unit_id)

    def step_context(self, unit_id: str, step: str, *, round: int = 0) -> bytes | None:  # noqa: A002
        """Return what a step was asked about: its own input, else the unit's context.

        `None` when there is neither or the run keeps none.
        """
        rows = self._database.fetch(queries.INPUT, at(unit_id, step, round))
        if rows:
            return self._vault.take_raw(rows[0]["context"], place=f"input:{unit_id}")
        return self.context(unit_id)

    def context(self, unit_id: str) -> bytes | None:
        """Return what a unit began with; `None` when the run keeps none."""
        return self._remembered(unit_id)

    def require(self, unit_id: str) -> Row:
        """Return what is kept of a unit; raises `InputError` when there is none."""
        rows = self._database.fetch(queries.UNIT, {"unit_id": unit_id})
        if not rows:
            raise InputError(f"the run has no unit {unit_id!r}", field="unit_id")
        return rows[0]

    def _read_context(self, unit_id: str) -> bytes | None:
        return self._vault.take_raw(self.require(unit_id)["context"], place=f"context:{unit_id}")


def _other_input(unit_id: str) -> InputError:
    msg = f"unit {unit_id!r} is in the run with another input; start a new run"
    return InputError(msg, field="unit_id")
