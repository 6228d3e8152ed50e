"""Options of the learned reader; read from the environment by `config` alone."""

from pydantic import BaseModel, ConfigDict, Field


class ReaderSettings(BaseModel):
    """Whether the learned reader is a second voice beside the rules."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    enabled: bool = Field(
        default=True,
        description="Use the learned reader where its packages are installed; else rules alone.",
    )
