"""The learned reader as assessments have it: loaded when first needed, or why it takes no part."""

from dataclasses import dataclass, field
from functools import cache

from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.domain.risk import ReaderState, ReaderStatus, RiskReport
from ai_psychiatrist.domain.transcript import Transcript
from ai_psychiatrist.infrastructure.logging import get_logger
from ai_psychiatrist.infrastructure.off_loop import run_in_thread
from ai_psychiatrist.services.reader.danger import with_second_voice
from ai_psychiatrist.services.reader.learned_reader import LearnedReader
from ai_psychiatrist.services.reader.reading import TranscriptReading

logger = get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class VoicedRisk:
    """A report on danger by rules and reader, and the reading that items are read by as well."""

    report: RiskReport
    reading: TranscriptReading = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class SecondVoice:
    """The learned reader that is shipped, for all assessments of a process."""

    is_enabled: bool = False

    async def reading_of(self, transcript: Transcript) -> TranscriptReading:
        """Return the reading of a transcript; of nothing where the reader takes no part."""
        if not self.is_enabled:
            return TranscriptReading()
        return await run_in_thread(lambda: _reading_of(transcript))

    async def voiced(self, transcript: Transcript, risk: RiskReport) -> VoicedRisk:
        """Return the rules' report with what the reader says of it."""
        reading = await self.reading_of(transcript)
        report = await with_second_voice(risk, transcript, reading)
        return VoicedRisk(report=report, reading=reading)

    def state(self) -> ReaderState:
        """Return whether the reader takes part, and which one; it is loaded for that."""
        if not self.is_enabled:
            return ReaderState()
        found = _shipped()
        if isinstance(found, LearnedReader):
            return ReaderState(status=ReaderStatus.ANSWERED, digest=found.digest)
        return ReaderState(status=found)


def _reading_of(transcript: Transcript) -> TranscriptReading:
    found = _shipped()
    if isinstance(found, LearnedReader):
        return TranscriptReading.of(transcript, found)
    return TranscriptReading(status=found)


@cache
def _shipped() -> LearnedReader | ReaderStatus:
    """Return the reader, or why there is none; two threads may both load it, which is only slow."""
    try:
        return LearnedReader.load()
    except ConfigurationError:
        return ReaderStatus.MISSING
    except Exception as error:  # noqa: BLE001  a second voice takes nothing with it
        logger.warning("reader_failed", error_type=type(error).__name__)
        return ReaderStatus.FAILED
