"""Settings of jobs."""

from pydantic import Field
from pydantic_settings import SettingsConfigDict

from ai_psychiatrist.infrastructure.options import Options


class JobSettings(Options):
    """How assessments are made that outlive the request which asked for them."""

    model_config = SettingsConfigDict(env_prefix="JOBS_")

    concurrency: int = Field(
        default=4,
        ge=0,
        le=1_000,
        description="Most jobs at once in one process; 0: a server leaves all to workers.",
    )
    per_tenant: int = Field(
        default=0,
        ge=0,
        description="Most jobs of one tenant at once, in all processes together; 0: any.",
    )
    timeout_seconds: float = Field(
        default=3_600.0, gt=0, description="Longest time of one job; what has finished is kept."
    )
    reap_seconds: float = Field(
        default=15.0,
        ge=5.0,
        description="With DATABASE_URL: after so long without a sign of life a process counts as "
        "dead, and others go on with its jobs.",
    )
