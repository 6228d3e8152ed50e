"""The transcript that a request names or brings."""

import asyncio

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.domain.risk import RiskReport
from ai_psychiatrist.domain.transcript import Transcript, parse_transcript
from ai_psychiatrist.services.risk.detector import detect_risk
from ai_psychiatrist.wiring import Services


async def wanted_text(participant_id: int | None, text: str | None, services: Services) -> str:
    """Return the text itself, or that of the participant's stored transcript.

    Raises `InputError` unless exactly one of the two is given.
    """
    match participant_id, text:
        case None, None:
            msg = "send transcript_text, or the participant_id of a stored transcript"
            raise InputError(msg, field="transcript_text")
        case int(), None:
            return await asyncio.to_thread(services.transcripts.read, participant_id)
        case None, str():
            return text
        case _:
            msg = "send either participant_id or transcript_text, not both"
            raise InputError(msg, field="participant_id")


def read_transcript(text: str, services: Services) -> tuple[Transcript, RiskReport]:
    """Return the transcript with the signs of danger in it."""
    transcript = parse_transcript(text, services.labels)
    return transcript, detect_risk(transcript)
