"""What the first request would read: it would hold up all others for 0.2 s."""

from typing import Final

from ai_psychiatrist.agents.baseline.signals import signals_in
from ai_psychiatrist.agents.contracts.shipped_step import shipped_step
from ai_psychiatrist.services.risk.detector import detect_risk
from ai_psychiatrist.services.transcripts.plain_text import parse_transcript

_SAID: Final = "Interviewer: Do you ever wish to be dead?\nParticipant: No. I sleep badly, though."


def read_phrases_and_rules() -> None:
    """Read the phrases of the languages, and the rules over items, into memory."""
    shipped_step("item")
    detect_risk(parse_transcript(_SAID))
    signals_in(_SAID)
