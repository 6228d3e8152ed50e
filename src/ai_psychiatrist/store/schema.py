"""The tables: of assessments, their jobs and reviews, and of the keys that open their words.

Every table names its tenant. Figures, ids and times stand in the clear, to be sorted by; what holds
words is in columns named `body` and `sealed_name`, sealed. Times are ISO 8601 in UTC, all of one
length, so that their order is that of the texts; those of keys of callers and of sessions are whole
seconds since 1970.
"""

from typing import Final

from sqlalchemy import (
    DDL,
    BigInteger,
    BindParameter,
    Boolean,
    Column,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    bindparam,
    event,
    text,
)
from sqlalchemy.sql.ddl import ExecutableDDLElement

SCHEMA_VERSION: Final = 3
KEYS: Final = "keys"
"""Schema of the keys: a file of its own beside SQLite's, left out of backups of PostgreSQL."""
OF_TENANT: Final[BindParameter[str]] = bindparam("of_tenant")
"""Whose rows a statement is about; filled in by `TenantDatabase`."""

METADATA: Final = MetaData()


def _text(name: str, *, is_key: bool = False, may_be_null: bool = False) -> Column[str]:
    return Column(name, Text, primary_key=is_key, nullable=may_be_null)


def _tenant() -> Column[str]:
    return _text("tenant", is_key=True)


def _of_record(*, deletes: bool = True) -> ForeignKeyConstraint:
    return ForeignKeyConstraint(
        ["tenant", "record_id"],
        ["records.tenant", "records.id"],
        ondelete="CASCADE" if deletes else None,
    )


meta: Final = Table("meta", METADATA, _text("key", is_key=True), Column("value", Integer))
# Each numbers its own, so that no number tells how much another tenant stores. Its row is locked by
# whoever writes. Triggers count the bytes of all that is sealed.
# `next_delivery`: when the first of its webhooks is due, so that one query finds
# whom to look at.
tenants: Final = Table(
    "tenants",
    METADATA,
    _tenant(),
    Column("last_record", Integer, nullable=False),
    Column("last_review", Integer, nullable=False),
    Column("served", Integer, nullable=False, server_default="0"),
    _text("last_sweep"),
    Column("record_bytes", BigInteger, nullable=False, server_default="0"),
    Column("interview_bytes", BigInteger, nullable=False, server_default="0"),
    _text("next_delivery", may_be_null=True),
)

records: Final = Table(
    "records",
    METADATA,
    _tenant(),
    Column("seq", Integer, primary_key=True, autoincrement=False),
    _text("id"),
    _text("subject_id"),
    _text("created_at"),
    _text("kept_from"),
    _text("swept_at", may_be_null=True),
    _text("state"),
    _text("reason", may_be_null=True),
    _text("status", may_be_null=True),
    Column("total_min", Integer),
    Column("total_max", Integer),
    Column("severity_lower", Integer),
    Column("severity_upper", Integer),
    Column("unknown_items", Integer),
    Column("width", Integer),
    Column("danger", Integer),
    _text("danger_group", may_be_null=True),
    _text("models"),
    Column("raters", Integer, nullable=False, server_default="0"),
    Index("records_by_id", "tenant", "id", unique=True),
    Index("records_by_subject", "tenant", "subject_id"),
    Index("records_by_age", "tenant", "kept_from"),
    Index(
        "records_without_end",
        "tenant",
        "state",
        sqlite_where=text("state IN ('waiting', 'running')"),
        postgresql_where=text("state IN ('waiting', 'running')"),
    ),
)
# Apart, so that a list of thousands reads no page of them.
bodies: Final = Table(
    "bodies",
    METADATA,
    _tenant(),
    _text("record_id", is_key=True),
    _text("part", is_key=True),
    Column("body", LargeBinary, nullable=False),
    _of_record(),
)
events: Final = Table(
    "events",
    METADATA,
    _tenant(),
    _text("record_id", is_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    _text("at"),
    _text("stage"),
    _text("outcome"),
    _of_record(),
)
jobs: Final = Table(
    "jobs",
    METADATA,
    _tenant(),
    _text("record_id", is_key=True),
    _text("asked_by"),
    _text("batch_id", may_be_null=True),
    Column("place", Integer),
    Column("taken", Integer, nullable=False, server_default="0"),
    _text("ended_at", may_be_null=True),
    _of_record(),
    Index("jobs_by_batch", "tenant", "batch_id", "place"),
)
# What is still to be done, of all tenants: jobs by their record, units of a run by number. A row
# goes with the end of what it stands for.
queue: Final = Table(
    "queue",
    METADATA,
    _tenant(),
    _text("id", is_key=True),
    _text("record_id", may_be_null=True),
    _text("run", may_be_null=True),
    Column("unit", Integer),
    _text("asked_by"),
    Column("turn", Integer, nullable=False),
    _text("at"),
    _text("runner", may_be_null=True),
    Column("taken", Integer, nullable=False, server_default="0"),
    _of_record(),
    Index("queue_by_turn", "tenant", "runner", "turn"),
    Index("queue_by_caller", "tenant", "asked_by", "turn"),
    Index("queue_by_runner", "runner"),
    Index("queue_by_record", "tenant", "record_id"),
    Index("queue_by_run", "tenant", "run"),
)
# Processes that make assessments, where they cannot hold a lock on a file.
runners: Final = Table(
    "runners", METADATA, _text("name", is_key=True), Column("beats", Integer, nullable=False)
)
# `body`: the sealed address, until it is delivered. `due`: the next try, or the end where none
# comes. Who tries one moves it on for as long as a try takes.
deliveries: Final = Table(
    "deliveries",
    METADATA,
    _tenant(),
    _text("record_id", is_key=True),
    _text("id"),
    _text("host"),
    Column("body", LargeBinary),
    _text("state"),
    Column("tries", Integer, nullable=False, server_default="0"),
    _text("reason", may_be_null=True),
    _text("due", may_be_null=True),
    _of_record(),
    Index("deliveries_due", "tenant", "state", "host", "due"),
)
calls: Final = Table(
    "calls",
    METADATA,
    _tenant(),
    _text("record_id", is_key=True),
    _text("digest", is_key=True),
    Column("occurrence", Integer, primary_key=True, autoincrement=False),
    Column("body", LargeBinary, nullable=False),
    _of_record(),
)
idempotency: Final = Table(
    "idempotency",
    METADATA,
    _tenant(),
    _text("asked_by", is_key=True),
    _text("key_digest", is_key=True),
    _text("fingerprint"),
    _text("at"),
    _text("runner", may_be_null=True),
    _text("record_id", may_be_null=True),
    _text("batch_id", may_be_null=True),
    _of_record(),
    Index("idempotency_by_record", "tenant", "record_id"),
)
shown: Final = Table(
    "shown",
    METADATA,
    _tenant(),
    _text("record_id", is_key=True),
    _text("rater", is_key=True),
    _of_record(),
)
begun: Final = Table(
    "begun",
    METADATA,
    _tenant(),
    _text("record_id", is_key=True),
    _text("rater", is_key=True),
    _text("phase"),
    _text("at"),
    Column("is_committed", Boolean, nullable=False),
    _of_record(),
)
reviews: Final = Table(
    "reviews",
    METADATA,
    _tenant(),
    Column("number", Integer, primary_key=True, autoincrement=False),
    _text("record_id"),
    _text("rater"),
    _text("at"),
    _text("kind"),
    _text("place"),
    Column("body", LargeBinary, nullable=False),
    _of_record(),
    Index("reviews_by_record", "tenant", "record_id"),
    Index(
        "one_commitment",
        "tenant",
        "record_id",
        "rater",
        unique=True,
        sqlite_where=text("kind = 'committed'"),
        postgresql_where=text("kind = 'committed'"),
    ),
)
# The small files of a run of `evaluate`, apart from its rows, which never change.
run_files: Final = Table(
    "run_files",
    METADATA,
    _tenant(),
    _text("run", is_key=True),
    _text("name", is_key=True),
    Column("body", LargeBinary, nullable=False),
)
erased: Final = Table(
    "erased",
    METADATA,
    _tenant(),
    _text("subject_id", is_key=True),
    _text("erased_at"),
    Column("records", Integer, nullable=False),
)

interviews: Final = Table(
    "interviews",
    METADATA,
    _tenant(),
    _text("id_hash", is_key=True),
    _text("subject_id"),
    Column("sealed_id", LargeBinary, nullable=False),
    Column("version", Integer, nullable=False),
    Column("body", LargeBinary, nullable=False),
    _text("created_at"),
    _text("updated_at"),
    _text("kept_from"),
    _text("swept_at", may_be_null=True),
    _text("protocol"),
    _text("protocol_version"),
    _text("protocol_digest"),
    _text("state"),
    Column("turns", Integer, nullable=False),
    Column("model_calls", Integer, nullable=False),
    _text("end_reason", may_be_null=True),
    Column("has_danger", Integer, nullable=False),
    Index("interviews_by_age", "tenant", "kept_from"),
)


def _of_interview() -> ForeignKeyConstraint:
    return ForeignKeyConstraint(
        ["tenant", "id_hash"], ["interviews.tenant", "interviews.id_hash"], ondelete="CASCADE"
    )


# What an interview began with never changes and may be large: it is written once.
origins: Final = Table(
    "origins",
    METADATA,
    _tenant(),
    _text("id_hash", is_key=True),
    Column("body", LargeBinary, nullable=False),
    _of_interview(),
)
answers: Final = Table(
    "answers",
    METADATA,
    _tenant(),
    _text("id_hash", is_key=True),
    _text("key_hash", is_key=True),
    Column("turn", Integer, nullable=False),
    Column("body", LargeBinary, nullable=False),
    _text("recorded_at"),
    _of_interview(),
    Index("one_answer_a_turn", "tenant", "id_hash", "turn", unique=True),
)
# What the interview was after each turn: what a repeated key is answered with.
turns: Final = Table(
    "turns",
    METADATA,
    _tenant(),
    _text("id_hash", is_key=True),
    _text("key_hash", is_key=True),
    Column("version", Integer, nullable=False),
    Column("body", LargeBinary, nullable=False),
    _text("recorded_at"),
    _of_interview(),
)

audit: Final = Table(
    "audit",
    METADATA,
    _tenant(),
    Column("n", Integer, primary_key=True, autoincrement=False),
    _text("previous"),
    _text("at"),
    _text("actor"),
    _text("action"),
    _text("object"),
    _text("outcome"),
    _text("digest"),
    _text("seal"),
    sqlite_strict=True,
)

key_meta: Final = Table(
    "meta", METADATA, _text("key", is_key=True), Column("value", Integer), schema=KEYS
)
tenant_keys: Final = Table(
    "tenants",
    METADATA,
    _tenant(),
    Column("generation", Integer, nullable=False),
    Column("is_wiping_due", Boolean, nullable=False),
    schema=KEYS,
)
# The tenant's key, once for each key of the installation that opens it.
wraps: Final = Table(
    "wraps",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("tenant", Text, nullable=False),
    Column("wrapped", LargeBinary, nullable=False),
    Index("wraps_by_tenant", "tenant"),
    schema=KEYS,
)
subjects: Final = Table(
    "subjects",
    METADATA,
    _tenant(),
    _text("id", is_key=True),
    Column("name_digest", LargeBinary),
    Column("sealed_name", LargeBinary),
    Column("wrapped", LargeBinary, nullable=False),
    _text("created_at"),
    Index("subjects_by_name", "tenant", "name_digest", unique=True),
    schema=KEYS,
)

# Keys of the installation itself, once for each key that opens them.
installation: Final = Table(
    "installation",
    METADATA,
    Column("id", Integer, primary_key=True),
    _text("purpose"),
    Column("wrapped", LargeBinary, nullable=False),
    schema=KEYS,
)
# The last row of each audit log, apart from it: what shows that rows at its end are gone.
audit_heads: Final = Table(
    "audit_heads",
    METADATA,
    _tenant(),
    Column("n", Integer, nullable=False),
    _text("digest"),
    _text("seal"),
    schema=KEYS,
    sqlite_strict=True,
)
access_keys: Final = Table(
    "access_keys",
    METADATA,
    _text("id", is_key=True),
    _text("tenant"),
    Column("secret_digest", LargeBinary, nullable=False),
    _text("principal"),
    _text("name"),
    _text("scopes"),
    Column("created_at", BigInteger, nullable=False),
    Column("expires_at", BigInteger),
    Column("used_at", BigInteger),
    Column("revoked_at", BigInteger),
    schema=KEYS,
)
# A session of a key has no rights of its own: it ends with the key.
sessions: Final = Table(
    "sessions",
    METADATA,
    Column("id", Integer, primary_key=True),
    _text("tenant"),
    Column("token_digest", LargeBinary, nullable=False),
    Column("key_id", Text, ForeignKey(access_keys.c.id)),
    _text("rater", may_be_null=True),
    Column("began_at", BigInteger, nullable=False),
    Column("used_at", BigInteger, nullable=False),
    Index("sessions_by_token", "token_digest", unique=True),
    schema=KEYS,
)

# Keys and sessions are looked for before a tenant is known, and heads show whose logs there are.
_OPEN_TO_ALL_TENANTS: Final = frozenset(
    {meta, tenants, queue, runners, key_meta, installation, audit_heads, access_keys, sessions}
)
_TENANTS_APART: Final = (
    "ALTER TABLE %(fullname)s ENABLE ROW LEVEL SECURITY",
    "ALTER TABLE %(fullname)s FORCE ROW LEVEL SECURITY",
    "CREATE POLICY own ON %(fullname)s USING (tenant = current_setting('store.tenant', true))",
)
_APPEND_ONLY: Final = (reviews, events, origins, answers, turns, audit)
_COUNTED: Final = {
    "record_bytes": (bodies, reviews),
    "interview_bytes": (interviews, origins, answers, turns),
}
"""Which tables a column of `tenants` counts the sealed bytes of."""
_CHANGES: Final = {
    "INSERT": "+ length(NEW.body) WHERE tenant = NEW.tenant",
    "DELETE": "- length(OLD.body) WHERE tenant = OLD.tenant",
    "UPDATE OF body": "+ length(NEW.body) - length(OLD.body) WHERE tenant = NEW.tenant",
}


def keep_tenants_apart(table: Table) -> None:
    """Have PostgreSQL show the rows of a table to their tenant alone, once the table is made."""
    for statement in _TENANTS_APART:
        _after_create(table, statement, dialect="postgresql")


def _after_create(table: Table, statement: str, *, dialect: str) -> None:
    event.listen(table, "after_create", _ddl(statement, dialect=dialect))


def _ddl(statement: str, *, dialect: str) -> ExecutableDDLElement:
    return DDL(statement).execute_if(dialect=dialect)  # type: ignore[no-untyped-call]


event.listen(
    METADATA,
    "before_create",
    _ddl(
        "CREATE OR REPLACE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql"
        " AS $$ BEGIN RAISE EXCEPTION 'append-only'; END $$",
        dialect="postgresql",
    ),
)
for _table in _APPEND_ONLY:
    _after_create(
        _table,
        "CREATE TRIGGER %(table)s_never_change BEFORE UPDATE ON %(table)s"
        " BEGIN SELECT RAISE(ABORT, '%(table)s are append-only'); END",
        dialect="sqlite",
    )
    _after_create(
        _table,
        "CREATE TRIGGER never_change BEFORE UPDATE ON %(table)s"
        " FOR EACH ROW EXECUTE FUNCTION refuse_change()",
        dialect="postgresql",
    )
_after_create(
    audit,
    "CREATE TRIGGER audit_is_never_deleted BEFORE DELETE ON audit"
    " BEGIN SELECT RAISE(ABORT, 'audit rows are append-only'); END",
    dialect="sqlite",
)
_after_create(
    audit,
    "CREATE TRIGGER never_deleted BEFORE DELETE OR TRUNCATE ON audit"
    " FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()",
    dialect="postgresql",
)
for _column, _tables in _COUNTED.items():
    for _number, (_event, _change) in enumerate(_CHANGES.items()):
        _counts = f"UPDATE tenants SET {_column} = {_column} {_change};"  # noqa: S608  our own words
        _function = f"count_{_column}_{_number}"
        event.listen(
            METADATA,
            "before_create",
            _ddl(
                f"CREATE OR REPLACE FUNCTION {_function}() RETURNS trigger LANGUAGE plpgsql"
                f" AS $$ BEGIN {_counts} RETURN NULL; END $$",
                dialect="postgresql",
            ),
        )
        for _table in _tables:
            _trigger = f"CREATE TRIGGER %(table)s_count_{_number} AFTER {_event} ON %(table)s"
            _after_create(_table, f"{_trigger} BEGIN {_counts} END", dialect="sqlite")
            _after_create(
                _table,
                f"{_trigger} FOR EACH ROW EXECUTE FUNCTION {_function}()",
                dialect="postgresql",
            )
for _table in METADATA.tables.values():
    if _table not in _OPEN_TO_ALL_TENANTS:
        keep_tenants_apart(_table)
