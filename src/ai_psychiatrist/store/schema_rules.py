"""What the database itself sees to: rows that never change, bytes counted, tenants kept apart.

Importing it is what gives these rules to the tables, which get them when they are made.
"""

from typing import Final

from sqlalchemy import DDL, MetaData, Table, event, text

from ai_psychiatrist.store.database import Database
from ai_psychiatrist.store.key_schema import (
    access_keys,
    audit_heads,
    installation,
    key_meta,
    sessions,
)
from ai_psychiatrist.store.schema import (
    METADATA,
    OF_ANY_TENANT,
    acknowledgements,
    answers,
    audit,
    bodies,
    events,
    interview_acknowledgements,
    interviews,
    meta,
    origins,
    queue,
    reviews,
    runners,
    tenants,
    turns,
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
_APPEND_ONLY: Final = (
    *(reviews, acknowledgements, events, audit),
    *(origins, answers, turns, interview_acknowledgements),
)
_COUNTED: Final = {
    "record_bytes": (bodies, reviews, acknowledgements),
    "interview_bytes": (interviews, origins, answers, turns, interview_acknowledgements),
}
"""Which tables a column of `tenants` counts the sealed bytes of."""
_CHANGES: Final = {
    "INSERT": "+ length(NEW.body) WHERE tenant = NEW.tenant",
    "DELETE": "- length(OLD.body) WHERE tenant = OLD.tenant",
    "UPDATE OF body": "+ length(NEW.body) - length(OLD.body) WHERE tenant = NEW.tenant",
}


_APART: Final[set[str]] = set()
_FOUND_APART: Final = text(
    "SELECT CASE n.nspname WHEN 'keys' THEN 'keys.' ELSE '' END || c.relname FROM pg_class c"
    " JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname IN (current_schema(), 'keys')"
    " WHERE c.relrowsecurity AND c.relforcerowsecurity AND (SELECT array_agg(p.polname::text)"
    " FROM pg_policy p WHERE p.polrelid = c.oid) <@ ARRAY['own', 'checked']"
)
ALLOW_CHECKS: Final = (
    "DO $$ BEGIN IF NOT EXISTS (SELECT FROM pg_policy WHERE polrelid = 'audit'::regclass"
    " AND polname = 'checked') THEN CREATE POLICY checked ON audit FOR SELECT USING"
    f" (current_setting('store.tenant', true) = '{OF_ANY_TENANT}'); END IF; END $$"
)
"""Lets PostgreSQL show audit rows of a tenant of whom nothing else is left."""


def keep_tenants_apart(table: Table) -> None:
    """Have PostgreSQL show the rows of a table to their tenant alone, once the table is made."""
    _APART.add(table.fullname)
    for statement in _TENANTS_APART:
        _rule(table, postgresql=statement)


def not_apart(database: Database) -> tuple[str, ...]:
    """Return the tables of which PostgreSQL shows more than the rows of one tenant.

    Raises `StoreUnusable`.
    """
    found = {str(row[0]) for row in database.across_tenants(_FOUND_APART)}
    return tuple(sorted(_APART - found))


def _rule(made: Table | MetaData, **by_dialect: str) -> None:
    """Have statements carried out after a table is made, or before all of them are."""
    moment = "after_create" if isinstance(made, Table) else "before_create"
    for dialect, statement in by_dialect.items():
        ddl = DDL(statement).execute_if(dialect=dialect)  # type: ignore[no-untyped-call]
        event.listen(made, moment, ddl)


_rule(
    METADATA,
    postgresql="CREATE OR REPLACE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql"
    " AS $$ BEGIN RAISE EXCEPTION 'append-only'; END $$",
)
for _table in _APPEND_ONLY:
    _rule(
        _table,
        sqlite="CREATE TRIGGER %(table)s_never_change BEFORE UPDATE ON %(table)s"
        " BEGIN SELECT RAISE(ABORT, '%(table)s are append-only'); END",
        postgresql="CREATE TRIGGER never_change BEFORE UPDATE ON %(table)s"
        " FOR EACH ROW EXECUTE FUNCTION refuse_change()",
    )
_rule(
    audit,
    sqlite="CREATE TRIGGER audit_is_never_deleted BEFORE DELETE ON audit"
    " BEGIN SELECT RAISE(ABORT, 'audit rows are append-only'); END",
    postgresql="CREATE TRIGGER never_deleted BEFORE DELETE OR TRUNCATE ON audit"
    " FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()",
)
for _column, _tables in _COUNTED.items():
    for _number, (_event, _change) in enumerate(_CHANGES.items()):
        _counts = f"UPDATE tenants SET {_column} = {_column} {_change};"  # noqa: S608  our own words
        _function = f"count_{_column}_{_number}"
        _rule(
            METADATA,
            postgresql=f"CREATE OR REPLACE FUNCTION {_function}() RETURNS trigger LANGUAGE plpgsql"
            f" AS $$ BEGIN {_counts} RETURN NULL; END $$",
        )
        for _table in _tables:
            _trigger = f"CREATE TRIGGER %(table)s_count_{_number} AFTER {_event} ON %(table)s"
            _rule(
                _table,
                sqlite=f"{_trigger} BEGIN {_counts} END",
                postgresql=f"{_trigger} FOR EACH ROW EXECUTE FUNCTION {_function}()",
            )
for _table in METADATA.tables.values():
    if _table not in _OPEN_TO_ALL_TENANTS:
        keep_tenants_apart(_table)
