"""The batches that a run submitted to providers: what is in each, what became of it, its results.

Nothing in it changes: what becomes of a batch is a further event.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Final

from ai_psychiatrist.domain.model_call import BatchAnswer
from ai_psychiatrist.ledger.keys.vault import Vault
from ai_psychiatrist.ledger.store import batch_queries
from ai_psychiatrist.ledger.store.database import Database, Values
from ai_psychiatrist.store.errors import refusing_damage

_PLACE: Final = "batch:{}"


class BatchEvent(StrEnum):
    """What became of a batch that was to be submitted."""

    SUBMITTED = "handed_in"
    """The provider took it, and its handle is kept."""
    SHORT = "short"
    """It had ended, and results were missing; it is looked at again."""
    ENDED = "ended"
    REFUSED = "refused"
    """The provider did not take it."""
    NOT_THERE = "not_there"
    """Its handle was not kept, and the provider has none like it."""
    GIVEN_UP = "given_up"
    """Nothing is known of it any more, and its calls may be submitted anew."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchRow:
    """A batch that is waited for."""

    number: int
    model: str
    """As in the settings."""
    group: str
    """What its calls share, so that they could be submitted together; no secret."""
    calls: int
    recorded_at: datetime
    """When it was about to be submitted."""
    handle: str | None = field(repr=False)
    """What its provider knows it by, as JSON; `None` when that was not kept."""
    short_looks: int
    """How often it had ended when it was looked at, and results were missing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchRequestRow:
    """One call of a batch."""

    custom_id: str
    unit_id: str
    attempt: int
    digest: str
    occurrence: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmittedCall:
    """One submission of a call, and what came of it by now."""

    custom_id: str
    digest: str
    occurrence: int
    counts: bool
    """Whether its batch ended, with a result for it or without."""
    answer: BatchAnswer | None


class BatchBook:
    """The batches of one run; any thread may call it."""

    def __init__(self, database: Database, vault: Vault) -> None:
        self._database = database
        self._vault = vault

    def intend(self, model: str, group: str, requests: Sequence[BatchRequestRow]) -> int:
        """Note what is about to be submitted, and return the batch's number."""
        with self._database.transaction():
            calls = len(requests)
            values: Values = {"model": model, "kin": group, "calls": calls, "recorded_at": _now()}
            self._database.execute(batch_queries.ADD_BATCH, values)
            ((number,),) = self._database.fetch(batch_queries.LAST_BATCH)
            for one in requests:
                row = {name: getattr(one, name) for name in BatchRequestRow.__slots__}
                self._database.execute(batch_queries.ADD_REQUEST, row | {"batch": number})
        return int(number)

    def note(self, number: int, event: BatchEvent, *, handle: str | None = None) -> None:
        """Note what became of a batch; on the disk when this returns."""
        sealed = self._vault.put_raw(handle, place=_PLACE.format("handle"))
        values: Values = {"batch": number, "event": event, "handle": sealed, "recorded_at": _now()}
        self._database.execute(batch_queries.ADD_EVENT, values)

    def add_results(self, results: Iterable[BatchAnswer], number: int, event: BatchEvent) -> int:
        """Keep results and what became of their batch in one transaction.

        Returns how many are new: a second result of a call is left out.
        """
        count = 0
        with self._database.transaction():
            for one in results:
                values = {
                    "custom_id": one.custom_id,
                    "status": one.status,
                    "body": self._vault.put_raw(one.body, place=_PLACE.format(one.custom_id)),
                    "recorded_at": _now(),
                }
                count += self._database.execute(batch_queries.ADD_RESULT, values)
            self.note(number, event)
        return count

    def has_any(self) -> bool:
        """Return whether any batch was ever about to be submitted."""
        return self._database.fetch(batch_queries.LAST_BATCH)[0][0] is not None

    def waited_for(self) -> list[BatchRow]:
        """Return the batches that may still give results, in the order of their making."""
        rows = self._database.fetch(batch_queries.WAITED_FOR)
        with refusing_damage():
            return [
                BatchRow(
                    number=row["seq"],
                    model=row["model"],
                    group=row["kin"],
                    calls=row["calls"],
                    recorded_at=datetime.fromisoformat(row["recorded_at"]),
                    handle=self._vault.take_text(row["handle"], place=_PLACE.format("handle")),
                    short_looks=row["short_looks"],
                )
                for row in rows
            ]

    def waiting_calls(self) -> int:
        """Return how many calls are in batches that may still give results."""
        return sum(batch.calls for batch in self.waited_for())

    def handles(self) -> list[str]:
        """Return what providers know any batch of this run by."""
        place = _PLACE.format("handle")
        rows = self._database.fetch(batch_queries.HANDLES)
        return [self._vault.take_text(row["handle"], place=place) or "" for row in rows]

    def units_of(self, number: int) -> dict[str, str]:
        """Return the custom id of each call of a batch, with the unit that it belongs to."""
        rows = self._database.fetch(batch_queries.UNITS_OF_BATCH, {"batch": number})
        return {row["custom_id"]: row["unit_id"] for row in rows}

    def waiting_units(self) -> set[str]:
        """Return the units that have a call without a result in a batch that is waited for."""
        return {row["unit_id"] for row in self._database.fetch(batch_queries.WAITING_UNITS)}

    def of_unit(self, unit_id: str, attempt: int) -> list[SubmittedCall]:
        """Return what was submitted for one attempt at a unit, in that order."""
        values: Values = {"unit_id": unit_id, "attempt": attempt}
        return [
            SubmittedCall(
                custom_id=row["custom_id"],
                digest=row["digest"],
                occurrence=row["occurrence"],
                counts=row["event"] == BatchEvent.ENDED,
                answer=None
                if row["status"] is None
                else BatchAnswer(
                    custom_id=row["custom_id"],
                    status=row["status"],
                    body=self._vault.take_text(row["body"], place=_PLACE.format(row["custom_id"])),
                ),
            )
            for row in self._database.fetch(batch_queries.OF_UNIT, values)
        ]


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
