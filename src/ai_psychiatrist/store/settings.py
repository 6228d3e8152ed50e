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
        description="PostgreSQL that servers and workers of many machines share, such as "
        "postgresql://user@host/database; empty: files in DATA_STATE_DIR, for one machine.",
    )
    password_file: Path | None = Field(
        default=None, description="File of the password that DATABASE_URL leaves out."
    )
    patience_seconds: float = Field(
        default=60.0,
        ge=0,
        description="How long what must not be lost waits for a PostgreSQL that is away; after as "
        "long a worker ends.",
    )
