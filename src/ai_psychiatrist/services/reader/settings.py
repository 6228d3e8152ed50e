"""Options of the learned reader."""

from pydantic import Field
from pydantic_settings import SettingsConfigDict

from ai_psychiatrist.infrastructure.options import Options


class ReaderSettings(Options):
    """Whether the learned reader gives a second opinion on what the rules found."""

    model_config = SettingsConfigDict(env_prefix="READER_")

    enabled: bool = Field(
        default=True,
        description="Use the learned reader if its packages are installed; else only the rules.",
    )
