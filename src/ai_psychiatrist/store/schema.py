"""The tables of what is stored: assessments, their jobs and reviews, interviews, the audit log.

Every table names its tenant. Figures, ids and times stand in the clear, to be sorted by; what holds
words is in columns named `body` and `sealed_name`, sealed. Times are ISO 8601 in UTC, all of one
length, so that their order is that of the texts.
"""

from typing import Final

from sqlalchemy import (
    BigInteger,
    BindParameter,
    Boolean,
    Column,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    bindparam,
    text,
)

SCHEMA_VERSION: Final = 7
KEYS: Final = "keys"
"""Schema of the keys: a file of its own beside SQLite's, left out of backups of PostgreSQL."""
OF_TENANT: Final[BindParameter[str]] = bindparam("of_tenant")
"""Whose rows a statement is about; filled in by `TenantDatabase`."""

OF_ANY_TENANT: Final = "*"
"""No tenant's name: under it PostgreSQL shows the audit rows of all, to be checked."""

METADATA: Final = MetaData()


def text_column(name: str, *, is_key: bool = False, may_be_null: bool = False) -> Column[str]:
    """Return a column of texts."""
    return Column(name, Text, primary_key=is_key, nullable=may_be_null)


def tenant_column() -> Column[str]:
    """Return the column that each key begins with."""
    return text_column("tenant", is_key=True)


def _of_record() -> ForeignKeyConstraint:
    return ForeignKeyConstraint(
        ["tenant", "record_id"], ["records.tenant", "records.id"], ondelete="CASCADE"
    )


def _of_interview() -> ForeignKeyConstraint:
    return ForeignKeyConstraint(
        ["tenant", "id_hash"], ["interviews.tenant", "interviews.id_hash"], ondelete="CASCADE"
    )


meta: Final = Table("meta", METADATA, text_column("key", is_key=True), Column("value", Integer))
# Each numbers its own, so that no number tells how much another tenant stores. Its row is locked by
# whoever writes. Triggers count the bytes of all that is sealed.
# `next_delivery`: when the first of its webhooks is due, so that one query finds
# whom to look at.
tenants: Final = Table(
    "tenants",
    METADATA,
    tenant_column(),
    Column("last_record", Integer, nullable=False),
    Column("last_review", Integer, nullable=False),
    Column("served", Integer, nullable=False, server_default="0"),
    text_column("last_sweep"),
    Column("record_bytes", BigInteger, nullable=False, server_default="0"),
    Column("interview_bytes", BigInteger, nullable=False, server_default="0"),
    text_column("next_delivery", may_be_null=True),
)

records: Final = Table(
    "records",
    METADATA,
    tenant_column(),
    Column("seq", Integer, primary_key=True, autoincrement=False),
    text_column("id"),
    text_column("subject_id"),
    text_column("created_at"),
    text_column("kept_from"),
    text_column("swept_at", may_be_null=True),
    text_column("state"),
    text_column("reason", may_be_null=True),
    text_column("status", may_be_null=True),
    Column("total_min", Integer),
    Column("total_max", Integer),
    Column("severity_lower", Integer),
    Column("severity_upper", Integer),
    Column("unknown_items", Integer),
    Column("width", Integer),
    Column("danger", Integer),
    text_column("danger_group", may_be_null=True),
    Column("to_read", Integer),
    Column("unread", Integer),
    text_column("models"),
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
    tenant_column(),
    text_column("record_id", is_key=True),
    text_column("part", is_key=True),
    Column("body", LargeBinary, nullable=False),
    _of_record(),
)
events: Final = Table(
    "events",
    METADATA,
    tenant_column(),
    text_column("record_id", is_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    text_column("at"),
    text_column("stage"),
    text_column("outcome"),
    _of_record(),
)
jobs: Final = Table(
    "jobs",
    METADATA,
    tenant_column(),
    text_column("record_id", is_key=True),
    text_column("asked_by"),
    text_column("batch_id", may_be_null=True),
    Column("place", Integer),
    Column("taken", Integer, nullable=False, server_default="0"),
    text_column("ended_at", may_be_null=True),
    _of_record(),
    Index("jobs_by_batch", "tenant", "batch_id", "place"),
)
# What is still to be done, of all tenants: jobs by their record, units of a run by number. A row
# goes with the end of what it stands for.
queue: Final = Table(
    "queue",
    METADATA,
    tenant_column(),
    text_column("id", is_key=True),
    text_column("record_id", may_be_null=True),
    text_column("run", may_be_null=True),
    Column("unit", Integer),
    text_column("asked_by"),
    Column("turn", Integer, nullable=False),
    text_column("at"),
    text_column("runner", may_be_null=True),
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
    "runners", METADATA, text_column("name", is_key=True), Column("beats", Integer, nullable=False)
)
# Of a job or of an interview. `body`: the sealed address, with what is told unless that is the end
# of a job, until it is delivered. `due`: the next try, or the end where none comes. Who tries one
# moves it on for as long as a try takes.
deliveries: Final = Table(
    "deliveries",
    METADATA,
    tenant_column(),
    text_column("id", is_key=True),
    text_column("record_id", may_be_null=True),
    text_column("id_hash", may_be_null=True),
    text_column("event"),
    text_column("host"),
    Column("body", LargeBinary),
    text_column("state"),
    Column("tries", Integer, nullable=False, server_default="0"),
    text_column("reason", may_be_null=True),
    text_column("due", may_be_null=True),
    _of_record(),
    _of_interview(),
    Index("deliveries_due", "tenant", "state", "host", "due"),
    Index("deliveries_by_record", "tenant", "record_id"),
    Index("deliveries_by_interview", "tenant", "id_hash"),
)
calls: Final = Table(
    "calls",
    METADATA,
    tenant_column(),
    text_column("record_id", is_key=True),
    text_column("digest", is_key=True),
    Column("occurrence", Integer, primary_key=True, autoincrement=False),
    Column("body", LargeBinary, nullable=False),
    _of_record(),
)
idempotency: Final = Table(
    "idempotency",
    METADATA,
    tenant_column(),
    text_column("asked_by", is_key=True),
    text_column("key_digest", is_key=True),
    text_column("fingerprint"),
    text_column("at"),
    text_column("runner", may_be_null=True),
    text_column("record_id", may_be_null=True),
    text_column("batch_id", may_be_null=True),
    _of_record(),
    Index("idempotency_by_record", "tenant", "record_id"),
)
shown: Final = Table(
    "shown",
    METADATA,
    tenant_column(),
    text_column("record_id", is_key=True),
    text_column("rater", is_key=True),
    _of_record(),
)
begun: Final = Table(
    "begun",
    METADATA,
    tenant_column(),
    text_column("record_id", is_key=True),
    text_column("rater", is_key=True),
    text_column("phase"),
    text_column("at"),
    Column("is_committed", Boolean, nullable=False),
    _of_record(),
)
reviews: Final = Table(
    "reviews",
    METADATA,
    tenant_column(),
    Column("number", Integer, primary_key=True, autoincrement=False),
    text_column("record_id"),
    text_column("rater"),
    text_column("at"),
    text_column("kind"),
    text_column("place"),
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
# Who has read the statements of danger of an assessment.
acknowledgements: Final = Table(
    "acknowledgements",
    METADATA,
    tenant_column(),
    text_column("record_id", is_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    text_column("reader"),
    text_column("at"),
    Column("body", LargeBinary, nullable=False),
    _of_record(),
)
# The small files of a run of `evaluate`, apart from its rows, which never change.
run_files: Final = Table(
    "run_files",
    METADATA,
    tenant_column(),
    text_column("run", is_key=True),
    text_column("name", is_key=True),
    Column("body", LargeBinary, nullable=False),
)
erased: Final = Table(
    "erased",
    METADATA,
    tenant_column(),
    text_column("subject_id", is_key=True),
    text_column("erased_at"),
    Column("records", Integer, nullable=False),
)

interviews: Final = Table(
    "interviews",
    METADATA,
    tenant_column(),
    text_column("id_hash", is_key=True),
    text_column("subject_id"),
    Column("sealed_id", LargeBinary, nullable=False),
    Column("version", Integer, nullable=False),
    Column("body", LargeBinary, nullable=False),
    text_column("created_at"),
    text_column("updated_at"),
    text_column("kept_from"),
    text_column("swept_at", may_be_null=True),
    text_column("protocol"),
    text_column("protocol_version"),
    text_column("protocol_digest"),
    text_column("state"),
    Column("turns", Integer, nullable=False),
    Column("model_calls", Integer, nullable=False),
    text_column("end_reason", may_be_null=True),
    # The stored assessment that it is about; figures of what answers add to it.
    text_column("record_id", may_be_null=True),
    Column("danger", Integer),
    Column("to_read", Integer, nullable=False),
    Column("unread", Integer, nullable=False),
    Column("total_min", Integer),
    Column("total_max", Integer),
    Index("interviews_by_age", "tenant", "kept_from"),
    Index("interviews_by_record", "tenant", "record_id"),
)

# What an interview began with never changes and may be large: it is written once.
origins: Final = Table(
    "origins",
    METADATA,
    tenant_column(),
    text_column("id_hash", is_key=True),
    Column("body", LargeBinary, nullable=False),
    _of_interview(),
)
answers: Final = Table(
    "answers",
    METADATA,
    tenant_column(),
    text_column("id_hash", is_key=True),
    text_column("key_hash", is_key=True),
    Column("turn", Integer, nullable=False),
    Column("body", LargeBinary, nullable=False),
    text_column("recorded_at"),
    _of_interview(),
    Index("one_answer_a_turn", "tenant", "id_hash", "turn", unique=True),
)
# What the interview was after each turn: what a repeated key is answered with.
turns: Final = Table(
    "turns",
    METADATA,
    tenant_column(),
    text_column("id_hash", is_key=True),
    text_column("key_hash", is_key=True),
    Column("version", Integer, nullable=False),
    Column("body", LargeBinary, nullable=False),
    text_column("recorded_at"),
    _of_interview(),
)
# Who has read the statements of danger in its answers.
interview_acknowledgements: Final = Table(
    "interview_acknowledgements",
    METADATA,
    tenant_column(),
    text_column("id_hash", is_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    text_column("reader"),
    text_column("at"),
    Column("body", LargeBinary, nullable=False),
    _of_interview(),
)

audit: Final = Table(
    "audit",
    METADATA,
    tenant_column(),
    Column("n", Integer, primary_key=True, autoincrement=False),
    text_column("previous"),
    text_column("at"),
    text_column("actor"),
    text_column("action"),
    text_column("object"),
    text_column("outcome"),
    text_column("digest"),
    text_column("seal"),
    sqlite_strict=True,
)
