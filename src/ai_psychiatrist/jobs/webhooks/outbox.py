"""The file of the webhooks: each is stored before it is tried, and until it is long delivered.

It holds ids, addresses and codes, and no word of what a job is about.
"""

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

from ai_psychiatrist.jobs.engine import JobEnd, JobRef
from ai_psychiatrist.jobs.webhooks import tables
from ai_psychiatrist.jobs.webhooks.event import event_body
from ai_psychiatrist.jobs.webhooks.letter import Delivery, DeliveryState, Expected, GivenUp, Letter
from ai_psychiatrist.jobs.webhooks.schedule import MOST_TRIES
from ai_psychiatrist.store.private_database import Database, Value, empty_journal, open_migrated

FILE_NAME: Final = "webhooks.sqlite"
TRY_SECONDS: Final = 60.0
"""A try that has not ended after these was broken off; several times what one may take."""
UNNAMED_SECONDS: Final = 86_400.0
"""How long a webhook waits for its host to be named in the settings again."""


@dataclass(slots=True, kw_only=True)
class Outbox:
    """Blocking; several processes may use one file. Every method raises `LedgerUnusable`."""

    _database: Database

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open the file, or make one that its owner alone can read.

        Raises `ConfigurationError` when it cannot be made or others can read it.
        """
        return cls(_database=open_migrated(path, tables.VERSIONS, kept="the webhooks"))

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def expect(self, jobs: Iterable[Expected]) -> None:
        """Note who is to be told of the ends of jobs; one that is noted already stays as it is."""
        with self._database.transaction():
            for one in jobs:
                values = {
                    "id": f"msg_{uuid.uuid4().hex}",
                    "tenant": one.job.tenant,
                    "job": one.job.id,
                    "batch": one.batch,
                    "place": one.destination.place,
                    "url": one.destination.url,
                    "created": one.created,
                }
                self._database.execute(tables.EXPECT, values)

    def forget(self, jobs: Iterable[JobRef]) -> None:
        """Remove what is noted of jobs, delivered or not, so that nothing of it can be read."""
        with self._database.transaction():
            removed = [self._database.execute(tables.FORGET, (job.tenant, job.id)) for job in jobs]
        if any(removed):
            self._write_anew()

    def note_end(self, end: JobEnd, *, now: float) -> bool:
        """Make the webhook of a job due, if one is wanted and none was made; returns whether."""
        with self._database.transaction():
            rows = self._database.fetch(tables.FIND, (end.job.tenant, end.job.id))
            if not rows or rows[0]["state"] != DeliveryState.EXPECTED:
                return False
            row = rows[0]
            body = event_body(row["id"], end, batch=row["batch"])
            self._database.execute(tables.NOTE_END, {"id": row["id"], "body": body, "now": now})
        return True

    def delivery(self, job: JobRef) -> Delivery | None:
        """Return how far the webhook of a job is, `None` where nobody wants one."""
        rows = self._database.fetch(tables.FIND, (job.tenant, job.id))
        if not rows:
            return None
        return Delivery(state=DeliveryState(rows[0]["state"]), tries=rows[0]["tries"])

    def expected(self) -> tuple[tuple[JobRef, float], ...]:
        """Return the jobs whose end is waited for, and when each was asked for."""
        rows = self._database.fetch(tables.EXPECTED)
        return tuple((JobRef(tenant=tenant, id=job), created) for tenant, job, created in rows)

    def claim(self, places: Mapping[str, int], *, now: float) -> tuple[Letter, ...]:
        """Take webhooks that are due, at most so many for each place; nobody else gets them."""
        claimed: list[Letter] = []
        with self._database.transaction():
            for place, most in places.items():
                due: dict[str, Value] = {"place": place, "now": now}
                self._database.execute(tables.STOP_UNFINISHED, {**due, "most": MOST_TRIES})
                until: dict[str, Value] = {"until": now + TRY_SECONDS, "most": most}
                rows = self._database.fetch(tables.CLAIM, {**due, **until})
                claimed += [
                    Letter(
                        id=row["id"],
                        job_id=row["job"],
                        place=place,
                        url=row["url"],
                        body=row["body"],
                        tries=row["tries"],
                    )
                    for row in rows
                ]
        return tuple(claimed)

    def delivered(self, letter: Letter, *, now: float) -> None:
        """Note that a webhook was taken; its address is not needed any longer."""
        self._database.execute(tables.DELIVERED, {"id": letter.id, "now": now})

    def give_up(self, letter: Letter, reason: str | None, *, now: float) -> None:
        """Note that a webhook is tried no more."""
        values: dict[str, Value] = {
            "id": letter.id,
            "tries": letter.tries,
            "reason": reason,
            "now": now,
        }
        self._database.execute(tables.GIVE_UP, values)

    def try_again(self, letter: Letter, reason: str | None, *, due: float) -> None:
        """Note when a webhook is tried again, unless somebody else has taken it meanwhile."""
        values: dict[str, Value] = {
            "id": letter.id,
            "tries": letter.tries,
            "reason": reason,
            "due": due,
        }
        self._database.execute(tables.AGAIN, values)

    def given_up(self) -> tuple[GivenUp, ...]:
        """Return the webhooks that are tried no more and not removed yet, the oldest first."""
        return tuple(
            GivenUp(
                job=JobRef(tenant=row["tenant"], id=row["job"]),
                place=row["place"],
                tries=row["tries"],
                reason=row["reason"],
                given_up=row["due"],
            )
            for row in self._database.fetch(tables.GIVEN_UP)
        )

    def redo(self, *, now: float) -> int:
        """Try all of those anew, with their ids; returns how many they are."""
        return self._database.execute(tables.REDO, (now,))

    def tidy(self, places: Sequence[str], *, now: float, keep_seconds: float) -> None:
        """Remove what ended long ago, and give up what is due to places that are named no more."""
        self._database.execute(tables.REMOVE_OLD, (now - keep_seconds,))
        overdue = self._database.fetch(tables.OVERDUE_PLACES, (now - UNNAMED_SECONDS,))
        for (place,) in overdue:
            if place not in places:
                unnamed = {"place": place, "now": now, "before": now - UNNAMED_SECONDS}
                self._database.execute(tables.GIVE_UP_UNNAMED, unnamed)
        # Addresses of what was delivered or removed stand in what is beside the file until then.
        empty_journal(self._database)

    def _write_anew(self) -> None:
        # A page that was split keeps what has moved to another one.
        self._database.execute("VACUUM")
        empty_journal(self._database)
