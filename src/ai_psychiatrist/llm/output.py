"""What every accepted reply has in common."""

from pydantic import BaseModel, ConfigDict, Field


class ModelOutput(BaseModel):
    """An accepted reply, and what had to be done to read it."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    repaired: bool = False
    """Whether the JSON syntax was repaired."""
    coercions: int = Field(default=0, ge=0)
    """How many values were read from another type."""
