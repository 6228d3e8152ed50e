"""The rule baseline: fixed rules that answer what models are asked, with no server."""

from typing import Final

BASELINE: Final = "baseline"
"""Its name among those of models."""
COUNTED: Final = "Counted by a rule baseline."
"""Opens what it says of a score of its own narrative."""
