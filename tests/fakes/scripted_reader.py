"""A learned reader that says what a test wants: the votes are ours, whatever a network says."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.domain.risk import ReaderStatus
from ai_psychiatrist.domain.transcript import Transcript
from ai_psychiatrist.services.reader.learned_reader import PassageReading
from ai_psychiatrist.services.reader.passages import Passage
from ai_psychiatrist.services.reader.reading import TranscriptReading


@dataclass(frozen=True, kw_only=True)
class ScriptedReader:
    """Values by words that a passage holds; 0 where none is told."""

    danger: Mapping[str, float] = field(default_factory=dict)
    ngrams: Mapping[str, float] = field(default_factory=dict)
    present: Mapping[str, Item] = field(default_factory=dict)
    denied: Mapping[str, Item] = field(default_factory=dict)
    digest: str = "d" * 64
    fails: bool = False
    seen: list[Passage] = field(default_factory=list)
    """What the network was asked to read."""

    def ngram_danger(self, passage: Passage) -> float:
        return _of(self.ngrams, passage)

    def read(self, passage: Passage) -> PassageReading:
        if self.fails:
            raise RuntimeError(passage.words)
        self.seen.append(passage)
        return PassageReading(
            present=_items(self.present, passage),
            denied=_items(self.denied, passage),
            danger=_of(self.danger, passage),
        )


def _of(values: Mapping[str, float], passage: Passage) -> float:
    return max((value for words, value in values.items() if words in passage.words), default=0.0)


def _items(wanted: Mapping[str, Item], passage: Passage) -> dict[Item, float]:
    told = {item for words, item in wanted.items() if words in passage.words}
    return {item: float(item in told) for item in Item}


def reading_by(reader: ScriptedReader, transcript: Transcript) -> TranscriptReading:
    """Return a transcript's reading by a scripted reader."""
    standing: Any = reader
    reading = TranscriptReading.of(transcript, standing)
    assert reading.status is ReaderStatus.ANSWERED
    return reading
