"""The model calls that a run keeps; what is kept stays as it is."""

from collections.abc import Iterable

from ai_psychiatrist.domain.model_call import ModelCall
from ai_psychiatrist.ledger.keys.vault import Vault
from ai_psychiatrist.ledger.store import queries
from ai_psychiatrist.ledger.store.database import Database, Values
from ai_psychiatrist.ledger.store.records import CallUsage, KeptCall
from ai_psychiatrist.ledger.store.rows import call_values, read_call, read_usage
from ai_psychiatrist.ledger.store.unit_book import UnitBook


class CallBook:
    """The calls of one run; any thread may call it."""

    def __init__(self, database: Database, vault: Vault, units: UnitBook) -> None:
        self._database = database
        self._vault = vault
        self._units = units

    def keep(self, calls: Iterable[KeptCall]) -> None:
        """Keep finished calls in one transaction; one that is kept already stays as it is.

        They are on the disk when this returns.
        """
        with self._database.transaction():
            for kept in calls:
                context = self._units.context(kept.unit_id)
                values = call_values(kept, vault=self._vault, context=context)
                self._database.execute(queries.KEEP_CALL, values)

    def of_attempt(self, unit_id: str, attempt: int) -> list[ModelCall]:
        """Return the calls of one attempt of a unit in the order in which they were kept."""
        values: Values = {"unit_id": unit_id, "attempt": attempt}
        rows = self._database.fetch(queries.CALLS_OF_ATTEMPT, values)
        context = self._units.context(unit_id)
        return [read_call(row, vault=self._vault, context=context) for row in rows]

    def made(self) -> int:
        """Return how many calls the run keeps."""
        ((count,),) = self._database.fetch(queries.CALLS_MADE)
        return int(count)

    def usage(self) -> list[CallUsage]:
        """Return what the kept calls used, by agent, model and length of the call."""
        return list(map(read_usage, self._database.fetch(queries.USAGE)))
