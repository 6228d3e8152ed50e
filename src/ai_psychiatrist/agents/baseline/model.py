"""The rule baseline as a name among those of models."""

from typing import Final

BASELINE: Final = "baseline"
