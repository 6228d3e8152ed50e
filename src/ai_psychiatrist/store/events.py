"""The steps of an assessment in a job: each is published once, numbered, and without words."""

from dataclasses import dataclass
from typing import Final

from sqlalchemy import String, bindparam, func, insert, not_, select

from ai_psychiatrist.store.database import TenantDatabase, own
from ai_psychiatrist.store.records import IS_OWN, OF_RECORD
from ai_psychiatrist.store.schema import events, records

BEGUN: Final = "begun"
"""Of the whole assessment, once a worker has taken it."""
_TOLD: Final = own(events) & (events.c.record_id == OF_RECORD)
_STEP: Final = {
    "number": select(func.count() + 1).where(_TOLD).scalar_subquery(),
    "at": bindparam("of_now", type_=String),
    "stage": bindparam("of_stage", type_=String),
    "outcome": bindparam("of_outcome", type_=String),
}
_IS_TOLD: Final = (
    select(events.c.number)
    .where(_TOLD, events.c.stage == _STEP["stage"], events.c.outcome == _STEP["outcome"])
    .exists()
)
_TELL: Final = insert(events).from_select(
    ["tenant", "record_id", *_STEP],
    select(*records.c["tenant", "id"], *_STEP.values()).where(
        IS_OWN, records.c.id == OF_RECORD, not_(_IS_TOLD)
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class StageEvent:
    """One step of an assessment, without words, in the order in which they came."""

    number: int
    """From 1."""
    stage: str
    outcome: str
    at: str
    """When, in UTC, as ISO 8601."""


def tell(database: TenantDatabase, record_id: str, stage: str, outcome: str) -> None:
    """Record a step once, inside a transaction that has changed the record or locked it.

    Of a record that is deleted none is recorded.
    """
    step = {"of_record": record_id, "of_stage": stage, "of_outcome": outcome}
    database.run(_TELL, **step, of_now=database.now())


def events_of(
    database: TenantDatabase, record_id: str, *, after: int = 0
) -> tuple[StageEvent, ...]:
    """Return the steps of a record after a number."""
    query = select(events).where(_TOLD, events.c.number > after).order_by(events.c.number)
    return tuple(
        StageEvent(number=row.number, stage=row.stage, outcome=row.outcome, at=row.at)
        for row in database.all(query, of_record=record_id)
    )
