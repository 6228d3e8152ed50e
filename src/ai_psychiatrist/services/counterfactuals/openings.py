"""The first letter of what is put behind other words."""

import re
from typing import Final

_SPEAKER: Final = re.compile(r"I\b")


def without_capital(text: str) -> str:
    """Return a clause as it goes on within a sentence."""
    return text if _SPEAKER.match(text) else f"{text[:1].lower()}{text[1:]}"
