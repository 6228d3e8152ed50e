"""Settings of jobs; read from the environment by `config` alone."""

from typing import Literal, TypeAlias

from pydantic import Field

from ai_psychiatrist.llm.settings import Options

EngineName: TypeAlias = Literal["process"]


class JobSettings(Options):
    """How assessments are made that outlive the request which asked for them."""

    engine: EngineName = Field(
        default="process", description="What does jobs; `process`: each server, nothing else."
    )
    concurrency: int = Field(
        default=4, ge=1, le=1_000, description="Most jobs at once in one process."
    )
    per_tenant: int = Field(
        default=0, ge=0, description="Most jobs of one tenant at once in one process; 0: any."
    )
    timeout_seconds: float = Field(
        default=3_600.0, gt=0, description="Longest time of one job; what has finished is kept."
    )
