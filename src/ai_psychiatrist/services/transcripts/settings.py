"""Options of how transcripts are read."""

from pydantic import Field
from pydantic_settings import SettingsConfigDict

from ai_psychiatrist.infrastructure.options import CommaList, Options
from ai_psychiatrist.services.transcripts.speaker_labels import SpeakerLabels


class TranscriptSettings(Options):
    """Speaker labels in addition to the built-in ones."""

    model_config = SettingsConfigDict(env_prefix="TRANSCRIPT_")

    participant_labels: CommaList[str] = Field(
        default=(), description="Additional labels of the participant."
    )
    interviewer_labels: CommaList[str] = Field(
        default=(), description="Additional labels of the interviewer."
    )

    @property
    def labels(self) -> SpeakerLabels:
        """All labels that start a turn."""
        return SpeakerLabels(
            interviewer=self.interviewer_labels, participant=self.participant_labels
        )
