"""Settings of webhooks."""

from pathlib import Path

from pydantic import Field, SecretStr, field_validator
from pydantic_settings import SettingsConfigDict

from ai_psychiatrist.infrastructure.options import CommaList, Options
from ai_psychiatrist.jobs.webhooks.places import named_place


class WebhookSettings(Options):
    """Who is told of the ends of jobs, and how the messages are signed."""

    model_config = SettingsConfigDict(env_prefix="JOBS_WEBHOOK_")

    hosts: CommaList[str] = Field(
        default=(),
        description="Hosts that a `callback_url` may name, as `host` or `host:port`; empty: none.",
    )
    secret: SecretStr = Field(
        default=SecretStr(""),
        description="Signs webhooks: 32 bytes or more; a second one after a blank signs, too.",
    )
    secret_file: Path | None = Field(
        default=None, description="File of the secret, or of two, one a line; instead of it."
    )
    allow_http: bool = Field(
        default=False,
        description="Take `http://` for hosts of this machine, too; all others need https.",
    )
    keep_days: int = Field(
        default=14,
        ge=1,
        le=3_650,
        description="Days that a webhook is remembered after it was delivered or given up.",
    )

    @field_validator("hosts")
    @classmethod
    def _are_places(cls, hosts: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(map(named_place, hosts)))
