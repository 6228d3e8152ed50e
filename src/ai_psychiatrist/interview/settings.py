"""Options of interviews."""

from pathlib import Path

from pydantic import Field
from pydantic_settings import SettingsConfigDict

from ai_psychiatrist.infrastructure.options import CommaList, Options
from ai_psychiatrist.llm.settings import OutputModeSetting


class InterviewSettings(Options):
    """How interviews are held, and where they are kept."""

    model_config = SettingsConfigDict(env_prefix="INTERVIEW_")

    model: str | None = Field(
        default=None,
        description="Model of its agents; empty: the default. `baseline` holds phq8 alone.",
    )
    output_mode: OutputModeSetting = Field(
        default="auto",
        description="How schemas are enforced: `tool`, `native`, `text`; `auto`: as it can.",
    )
    combined_digest: bool = Field(
        default=False,
        description="Find facts, drift and goals of an answer in one call, not three.",
    )
    max_calls: int = Field(default=200, ge=1, description="Most model calls of one interview.")
    call_timeout_seconds: float = Field(
        default=20.0, gt=0, description="Longest wait for one model call of an interview."
    )
    turn_timeout_seconds: float = Field(
        default=90.0,
        gt=0,
        description="Longest wait for one turn; the answer is kept for a later try.",
    )
    join_seconds: float = Field(
        default=3.0,
        ge=0,
        le=30,
        description="Wait for more of an answer that is sent in pieces; 0: not at all.",
    )
    keep_days: int = Field(
        default=30,
        ge=1,
        le=36_500,
        description="Days that an interview is kept after its last change; then it is hidden.",
    )
    max_stored: int = Field(
        default=10_000,
        ge=1,
        description="Most interviews that are kept at a time; no further one is begun.",
    )
    max_stored_bytes: int = Field(
        default=1_073_741_824,
        ge=1_048_576,
        description="Most bytes that all of them may take for a further one to be begun.",
    )
    link_hours: int = Field(
        default=72,
        ge=1,
        le=8_760,
        description="Hours that a link to an interview lasts, and the cookie it is opened with.",
    )
    protocols: CommaList[Path] = Field(
        default=(),
        description="Folders of protocols, in addition to phq8 and incident.",
    )
