"""The tables of a run: its units, what they are asked about, what came of it, its model calls.

Every table names its tenant and its run, which are empty in the file of a run's own folder. Ids,
figures and times stand in the clear; what holds words is in `context`, `body` and `handle`, sealed
where the run has a key. A unit is known by `unit`, its number in the run, from 1; a run that was
merged without some shards has gaps.
"""

from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Executable,
    Float,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
    bindparam,
    event,
    exists,
    insert,
    select,
)
from sqlalchemy.engine import Dialect
from sqlalchemy.schema import SchemaItem

from ai_psychiatrist.store.schema_rules import keep_tenants_apart

RUN_SCHEMA_VERSION: Final = 8
"""The first of this form; the ones before it were made by earlier versions of the program."""
RUNS: Final = MetaData()

_OWN: Final = ("tenant", "run")
_REFUSED: Final = (
    "CREATE TRIGGER {table}_refuse_{action} BEFORE {action} ON {table}"
    " BEGIN SELECT RAISE(ABORT, '{table} are append-only'); END"
)
_NEVER_CHANGE: Final = (
    "CREATE TRIGGER never_change BEFORE UPDATE ON {table}"
    " FOR EACH ROW EXECUTE FUNCTION refuse_change()"
)
_ERASED_AS_A_WHOLE: Final = (
    "CREATE TRIGGER erased_as_a_whole BEFORE DELETE ON {table}"
    " FOR EACH ROW WHEN (OLD.run IS DISTINCT FROM current_setting('store.erasing', true))"
    " EXECUTE FUNCTION refuse_change()"
)


class _Bytes(LargeBinary):
    """Bytes as they lie in the file: a number in their place is not made as many bytes."""

    cache_ok = True

    def result_processor(self, dialect: Dialect, coltype: object) -> None:  # noqa: ARG002
        return None


def _table(name: str, *parts: SchemaItem) -> Table:
    return Table(f"run_{name}", RUNS, *(Column(one, Text, nullable=False) for one in _OWN), *parts)


def _text(name: str, *, may_be_null: bool = False) -> Column[str]:
    return Column(name, Text, nullable=may_be_null)


def _number(name: str, *, may_be_null: bool = False) -> Column[int]:
    return Column(name, Integer, nullable=may_be_null)


def _words(name: str, *, may_be_null: bool = False) -> Column[bytes]:
    return Column(name, _Bytes, nullable=may_be_null)


def _key(*columns: str) -> PrimaryKeyConstraint:
    return PrimaryKeyConstraint(*_OWN, *columns)


def _of_unit() -> ForeignKeyConstraint:
    return ForeignKeyConstraint([*_OWN, "unit"], [f"run_units.{one}" for one in (*_OWN, "unit")])


terms: Final = _table("terms", _text("terms"), _words("key_check", may_be_null=True), _key())
units: Final = _table(
    "units",
    _number("unit"),
    _text("unit_id"),
    _text("context_digest"),
    _words("context", may_be_null=True),
    _key("unit"),
    UniqueConstraint(*_OWN, "unit_id"),
)
# What a later step is asked about differs from what the unit began with.
inputs: Final = _table(
    "inputs",
    _number("unit"),
    _text("step"),
    _text("context_digest"),
    _words("context", may_be_null=True),
    _key("unit", "step"),
    _of_unit(),
)
requests: Final = _table(
    "requests",
    _text("step"),
    _number("unit"),
    _number("round"),
    _key("step", "unit", "round"),
    _of_unit(),
)
attempts: Final = _table(
    "attempts",
    _text("step"),
    _number("unit"),
    _number("round"),
    _number("attempt"),
    _text("origin"),
    _text("stage", may_be_null=True),
    _text("ruleset_digest"),
    _text("schema_digest"),
    _text("code_version"),
    _text("recorded_at"),
    _words("body"),
    _key("step", "unit", "round", "attempt"),
    _of_unit(),
    # Counting walks this index alone and never reads the words.
    Index("run_outcomes", *_OWN, "step", "unit", "round", "attempt", "stage", "origin"),
)
calls: Final = _table(
    "calls",
    Column("number", Integer, primary_key=True),
    _number("unit"),
    _number("attempt"),
    _text("digest"),
    _number("occurrence"),
    _text("agent"),
    _text("model"),
    _text("code", may_be_null=True),
    _number("http_status", may_be_null=True),
    _number("input_tokens", may_be_null=True),
    _number("output_tokens", may_be_null=True),
    _number("cache_read_tokens", may_be_null=True),
    _number("cache_write_tokens", may_be_null=True),
    Column("duration_ms", Float, nullable=False),
    _text("recorded_at"),
    _words("body"),
    _of_unit(),
    Index("run_calls_of_unit", *_OWN, "unit", "attempt", "digest", "occurrence"),
)
# Written before a provider is asked, so that a batch that it took is never forgotten.
batches: Final = _table(
    "batches",
    Column("number", Integer, primary_key=True),
    _text("model"),
    _text("kin"),
    _number("calls"),
    _text("recorded_at"),
    _text("event", may_be_null=True),
    Column("short_looks", Integer, nullable=False, server_default="0"),
    _words("handle", may_be_null=True),
)
batch_calls: Final = _table(
    "batch_calls",
    Column("number", Integer, primary_key=True),
    _text("custom_id"),
    _number("batch"),
    _number("unit"),
    _number("attempt"),
    _text("digest"),
    _number("occurrence"),
    _text("status", may_be_null=True),
    _words("body", may_be_null=True),
    UniqueConstraint(*_OWN, "custom_id"),
    Index("run_batch_calls_of_unit", *_OWN, "unit", "attempt"),
    Index("run_batch_calls_of_batch", "batch"),
    _of_unit(),
)

_APPEND_ONLY: Final = (terms, units, inputs, requests, attempts, calls)
TRIGGERS: Final = frozenset(
    _REFUSED.format(table=table.name, action=action)
    for table in _APPEND_ONLY
    for action in ("update", "delete")
)
"""The statements that make the triggers, as SQLite keeps them."""


@event.listens_for(RUNS, "after_create")
def _guard(
    _: object, connection: Connection, *, tables: Sequence[Table], **_options: object
) -> None:
    is_sqlite = connection.dialect.name == "sqlite"
    for statement in sorted(TRIGGERS) if is_sqlite else ():
        connection.exec_driver_sql(statement)
    for table in () if is_sqlite else tables:
        if table in _APPEND_ONLY:
            for statement in (_NEVER_CHANGE, _ERASED_AS_A_WHOLE):
                connection.exec_driver_sql(statement.format(table=table.name))


for _each in RUNS.tables.values():
    keep_tenants_apart(_each)


def adding(table: Table, *key: str, **computed: ColumnElement[Any]) -> Executable:
    """Return what adds a row, unless one is there with the same values in the columns of a key.

    Each value is bound under the name of its column with `of_` before it, but for those that are
    computed.
    """
    binds: dict[str, ColumnElement[Any]] = {
        column.name: bindparam(f"of_{column.name}", type_=column.type)
        for column in table.columns
        if column is not table.autoincrement_column
    } | computed
    row = select(*binds.values())
    if key:
        row = row.where(~exists().where(*(table.c[one] == binds[one] for one in (*_OWN, *key))))
    return insert(table).from_select([*binds], row)
