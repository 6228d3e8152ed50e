"""What the first request would read: it would hold up all others for 0.2 s."""

from collections.abc import Collection
from importlib import import_module
from typing import Final

from ai_psychiatrist.agents.baseline import BASELINE
from ai_psychiatrist.agents.baseline.signals import analyse
from ai_psychiatrist.services.risk.detector import detect_risk
from ai_psychiatrist.services.transcripts.plain_text import parse_transcript

_SAID: Final = "Interviewer: Do you ever wish to be dead?\nParticipant: No. I sleep badly, though."


def read_ahead(models: Collection[str]) -> None:
    """Read phrases into memory, and interview agents where they have a model to ask."""
    said = parse_transcript(_SAID)
    detect_risk(said)
    analyse(said)
    if set(models) - {BASELINE}:
        import_module("ai_psychiatrist.agents.interview.interview_agents")
