"""What a user may choose about the reading of a dataset."""

from collections.abc import Callable
from dataclasses import dataclass

from ai_psychiatrist.evaluation.datasets.dataset import SpeakerFilter
from ai_psychiatrist.services.transcripts.formats.daic_woz import DEFAULT_POLICY, RowPolicy
from ai_psychiatrist.services.transcripts.speaker_labels import DEFAULT_LABELS, SpeakerLabels
from ai_psychiatrist.services.transcripts.utterances import Form

OnProgress = Callable[[int, int], None]
"""Told how much of a dataset is read: units or bytes done, and all of them."""


def silent(done: int, total: int) -> None:
    """Tell nobody."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingOptions:
    """How transcripts are read."""

    speakers: SpeakerFilter = SpeakerFilter.BOTH
    rows: RowPolicy = DEFAULT_POLICY
    """For DAIC-WOZ only."""
    labels: SpeakerLabels = DEFAULT_LABELS
    form: Form | None = None
    """What every transcript has to be; `None` to tell each by its content."""
    on_progress: OnProgress = silent

    def digested(self, kind: str) -> dict[str, str]:
        """Return what decides about the texts, as text, for the digest."""
        return {
            "kind": kind,
            "speakers": self.speakers,
            "interruption_373": self.rows.interruption_373,
            "coded_lines": self.rows.coded_lines,
            "labels": repr(self.labels),
        }
