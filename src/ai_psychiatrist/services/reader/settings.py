"""Options of the learned reader."""

from pydantic import Field
from pydantic_settings import SettingsConfigDict

from ai_psychiatrist.infrastructure.options import Options


class ReaderSettings(Options):
    """Whether the learned reader is a second voice beside the rules."""

    model_config = SettingsConfigDict(env_prefix="READER_")

    enabled: bool = Field(
        default=True,
        description="Use the learned reader where its packages are installed; else rules alone.",
    )
