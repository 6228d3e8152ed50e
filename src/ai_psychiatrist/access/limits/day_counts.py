"""What each credential used today, for all processes of an installation and over restarts."""

import hashlib
import threading
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from ai_psychiatrist.access.clock import utc_now
from ai_psychiatrist.access.limits.usage import Limits, Reached, Usage
from ai_psychiatrist.domain.access import LOCAL, Principal
from ai_psychiatrist.domain.errors import AssessmentServiceError, ConfigurationError
from ai_psychiatrist.ledger.errors import LedgerUnusable
from ai_psychiatrist.ledger.store.database import Database
from ai_psychiatrist.ledger.store.private_database import open_private

FILE_NAME: Final = "limits.sqlite"

_RATERS: Final = f"{LOCAL.id}:"
"""How the ids of those begin who gave a name where no key is asked for."""
_TABLE: Final = """
    CREATE TABLE IF NOT EXISTS used (
        day TEXT NOT NULL,
        credential TEXT NOT NULL,
        requests INTEGER NOT NULL,
        calls INTEGER NOT NULL,
        tokens INTEGER NOT NULL,
        characters INTEGER NOT NULL,
        PRIMARY KEY (day, credential)
    )
"""
_ADD: Final = """
    INSERT INTO used VALUES (:day, :credential, :requests, :calls, :tokens, :characters)
    ON CONFLICT (day, credential) DO UPDATE SET
        requests = requests + excluded.requests,
        calls = calls + excluded.calls,
        tokens = tokens + excluded.tokens,
        characters = characters + excluded.characters
"""
_USED: Final = (
    "SELECT requests, calls, tokens, characters FROM used WHERE day = ? AND credential = ?"
)


class CountsUnusable(AssessmentServiceError):
    """What was used cannot be read or written."""


@dataclass(slots=True, kw_only=True)
class DayCounts:
    """Blocking; every method raises `CountsUnusable`."""

    path: Path
    limits: Limits
    now: Callable[[], datetime] = utc_now
    _database: Database | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def take(self, principal: Principal, wanted: Usage) -> Reached | None:
        """Count what is wanted, unless a limit does not allow it: then return that limit."""
        day, credential = self._day(), _credential(principal)
        try:
            database = self._opened()
            with database.transaction():
                reached = self.limits.reached(self._used(database, day, credential), wanted)
                if reached is None:
                    self._add(database, day, credential, wanted)
        except (LedgerUnusable, ConfigurationError) as error:
            raise CountsUnusable(str(error)) from None
        return reached

    def add(self, principal: Principal, used: Usage) -> None:
        """Count what was used already, whatever the limits say."""
        try:
            database = self._opened()
            with database.transaction():
                self._add(database, self._day(), _credential(principal), used)
        except (LedgerUnusable, ConfigurationError) as error:
            raise CountsUnusable(str(error)) from None

    def reached(self, principal: Principal, wanted: Usage) -> Reached | None:
        """Return the limit that does not allow what is wanted; nothing is counted."""
        try:
            used = self._used(self._opened(), self._day(), _credential(principal))
        except (LedgerUnusable, ConfigurationError) as error:
            raise CountsUnusable(str(error)) from None
        return self.limits.reached(used, wanted)

    def close(self) -> None:
        """Close the file, if it was opened."""
        with self._lock:
            if self._database is not None:
                self._database.close()
                self._database = None

    def _opened(self) -> Database:
        with self._lock:
            if self._database is None:
                self._database = open_private(self.path, kept="what was used today")
                self._database.execute(_TABLE)
            return self._database

    def _day(self) -> str:
        return self.now().astimezone(UTC).date().isoformat()

    def _used(self, database: Database, day: str, credential: str) -> Usage:
        rows = database.fetch(_USED, (day, credential))
        return Usage(**dict(zip(Usage.__slots__, rows[0], strict=True))) if rows else Usage()

    def _add(self, database: Database, day: str, credential: str, used: Usage) -> None:
        # Nobody is asked about yesterday.
        database.execute("DELETE FROM used WHERE day < ?", (day,))
        database.execute(_ADD, {"day": day, "credential": credential, **asdict(used)})


def _credential(principal: Principal) -> str:
    """Return what stands for a credential; who gave a name alone showed none, like all others."""
    holder = LOCAL.id if principal.id.startswith(_RATERS) else principal.id
    return hashlib.sha256(f"{principal.tenant}/{holder}".encode()).hexdigest()
