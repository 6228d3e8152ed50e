"""Settings of the database."""

from pathlib import Path

from pydantic import Field, SecretStr
from pydantic_settings import SettingsConfigDict

from ai_psychiatrist.infrastructure.options import Options


class DatabaseSettings(Options):
    """Where assessments, interviews and their jobs are stored."""

    model_config = SettingsConfigDict(env_prefix="DATABASE_")

    url: SecretStr = Field(
        default=SecretStr(""),
        description=(
            "PostgreSQL database shared by servers and workers of several machines, such as "
            "postgresql://user@host/database; empty: files in DATA_STATE_DIR, for one "
            "machine."
        ),
    )
    password_file: Path | None = Field(
        default=None, description="File with the password, if DATABASE_URL has none."
    )
    patience_seconds: float = Field(
        default=60.0,
        ge=0,
        description=(
            "How long a finished call waits to be stored while PostgreSQL is down; then a "
            "worker exits."
        ),
    )
