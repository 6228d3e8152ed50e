"""Settings of jobs."""

from pathlib import Path
from typing import Literal, TypeAlias

from pydantic import Field, SecretStr
from pydantic_settings import SettingsConfigDict

from ai_psychiatrist.infrastructure.options import Options

EngineName: TypeAlias = Literal["process", "dbos"]


class JobSettings(Options):
    """How assessments are made that outlive the request which asked for them."""

    model_config = SettingsConfigDict(env_prefix="JOBS_")

    engine: EngineName = Field(
        default="process",
        description="What does jobs: `process`, each server its own; `dbos`, workers.",
    )
    concurrency: int = Field(
        default=4, ge=1, le=1_000, description="Most jobs at once in one process."
    )
    per_tenant: int = Field(
        default=0,
        ge=0,
        description="Most jobs of one tenant at once, of a server or of all workers; 0: any.",
    )
    timeout_seconds: float = Field(
        default=3_600.0, gt=0, description="Longest time of one job; what has finished is kept."
    )
    database_url: SecretStr = Field(
        default=SecretStr(""),
        description="PostgreSQL database of `dbos`; empty: jobs.sqlite in DATA_STATE_DIR.",
    )
    database_password_file: Path | None = Field(
        default=None, description="File of the password that JOBS_DATABASE_URL leaves out."
    )
    reap_seconds: float = Field(
        default=15.0,
        gt=0,
        description="Time between two looks of a worker for what dead ones left.",
    )
