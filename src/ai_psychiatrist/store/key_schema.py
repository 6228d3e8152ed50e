"""The tables of the keys: of subjects, of tenants, of the installation and of its callers.

They are a schema of their own, so that copies of what is stored are made without them: a file
beside SQLite's, and a schema of PostgreSQL that backups leave out. Times of keys of callers and of
sessions are whole seconds since 1970.
"""

from typing import Final

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    Table,
    Text,
)

from ai_psychiatrist.store.schema import KEYS, METADATA, tenant_column, text_column

key_meta: Final = Table(
    "meta", METADATA, text_column("key", is_key=True), Column("value", Integer), schema=KEYS
)
tenant_keys: Final = Table(
    "tenants",
    METADATA,
    tenant_column(),
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
    tenant_column(),
    text_column("id", is_key=True),
    Column("name_digest", LargeBinary),
    Column("sealed_name", LargeBinary),
    Column("wrapped", LargeBinary, nullable=False),
    text_column("created_at"),
    Index("subjects_by_name", "tenant", "name_digest", unique=True),
    schema=KEYS,
)

# Keys of the installation itself, once for each key that opens them.
installation: Final = Table(
    "installation",
    METADATA,
    Column("id", Integer, primary_key=True),
    text_column("purpose"),
    Column("wrapped", LargeBinary, nullable=False),
    schema=KEYS,
)
# The last row of each audit log, apart from it: what shows that rows at its end are gone.
audit_heads: Final = Table(
    "audit_heads",
    METADATA,
    tenant_column(),
    Column("n", Integer, nullable=False),
    text_column("digest"),
    text_column("seal"),
    schema=KEYS,
    sqlite_strict=True,
)
# A link to an interview is a row as well, of a scope of its own; once it was opened, its digest is
# that of the cookie which the one browser has.
access_keys: Final = Table(
    "access_keys",
    METADATA,
    text_column("id", is_key=True),
    text_column("tenant"),
    Column("secret_digest", LargeBinary, nullable=False),
    text_column("principal"),
    text_column("name"),
    text_column("scopes"),
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
    text_column("tenant"),
    Column("token_digest", LargeBinary, nullable=False),
    Column("key_id", Text, ForeignKey(access_keys.c.id)),
    text_column("rater", may_be_null=True),
    Column("began_at", BigInteger, nullable=False),
    Column("used_at", BigInteger, nullable=False),
    Index("sessions_by_token", "token_digest", unique=True),
    schema=KEYS,
)
