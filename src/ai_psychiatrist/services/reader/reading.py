"""What the learned reader says of one transcript; a passage is read when it is first asked for."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final, TypeVar

from ai_psychiatrist.domain.evidence import Segment
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.domain.risk import ReaderState, ReaderStatus
from ai_psychiatrist.domain.transcript import Transcript
from ai_psychiatrist.infrastructure.logging import get_logger
from ai_psychiatrist.infrastructure.off_loop import run_in_thread
from ai_psychiatrist.services.reader.learned_reader import LearnedReader, PassageReading
from ai_psychiatrist.services.reader.passages import Passage, passages_of

T = TypeVar("T")

logger = get_logger(__name__)

PRESENT_FROM: Final = 0.2
DENIED_FROM: Final = 0.2
"""From here on the network shares that an item is present, or that it is denied."""
_AT_A_TIME: Final = 16
"""Passages between two of which the work can be broken off."""


@dataclass(slots=True, kw_only=True)
class TranscriptReading:
    """Passages of a transcript and what was made of them.

    Without a reader, or after it failed, it shares everything: the rules stand alone.
    """

    reader: LearnedReader | None = field(default=None, repr=False)
    status: ReaderStatus = ReaderStatus.OFF
    _passages: dict[int, list[Passage]] = field(default_factory=dict, repr=False)
    _known: dict[Passage, PassageReading] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, transcript: Transcript, reader: LearnedReader) -> "TranscriptReading":
        """Return the reading of a transcript, of which nothing is read yet."""
        passages: defaultdict[int, list[Passage]] = defaultdict(list)
        for passage in passages_of(transcript):
            passages[passage.turn].append(passage)
        return cls(reader=reader, status=ReaderStatus.ANSWERED, _passages=dict(passages))

    def of_changed(self, transcript: Transcript) -> "TranscriptReading":
        """Return the reading of another transcript, by the same reader if there is one."""
        if self.reader is None:
            return TranscriptReading(status=self.status)
        return TranscriptReading.of(transcript, self.reader)

    @property
    def has_answered(self) -> bool:
        """Whether there is a reader, and it has not failed."""
        return self.status is ReaderStatus.ANSWERED

    @property
    def state(self) -> ReaderState:
        """Whether the reader took part, and which one."""
        digest = None if self.reader is None else self.reader.digest
        return ReaderState(status=self.status, digest=digest)

    async def ngram_dangers(self) -> dict[Passage, float]:
        """Return the probability of danger in each passage by its n-grams, 0–1, in order."""
        reader = self.reader
        if reader is None or not self.has_answered:
            return {}
        passages = [one for of_turn in self._passages.values() for one in of_turn]
        found = await self._made(lambda: [reader.ngram_danger(one) for one in passages])
        return dict(zip(passages, found, strict=False))

    async def _made(self, work: Callable[[], list[T]]) -> list[T]:
        """Run work in a thread and return its result; a failure is recorded and gives nothing."""
        try:
            return await run_in_thread(work)
        except Exception as error:  # noqa: BLE001  a second voice takes nothing with it
            logger.warning("reader_failed", error_type=type(error).__name__)
            self.status = ReaderStatus.FAILED
            return []

    async def of_passages(self, passages: Sequence[Passage]) -> list[PassageReading]:
        """Return what the network makes of passages; nothing where it takes no part, or fails."""
        reader = self.reader
        missing = [one for one in dict.fromkeys(passages) if one not in self._known]
        for first in range(0, len(missing), _AT_A_TIME):
            if reader is None or not self.has_answered:
                break
            some = missing[first : first + _AT_A_TIME]
            found = await self._made(partial(_read_all, reader, some))
            self._known.update(zip(some, found, strict=False))
        return [self._known[one] for one in passages] if self.has_answered else []

    async def shares_present(self, item: Item, segments: Iterable[Segment]) -> bool:
        """Return whether the network takes any of the segments for the item, now."""
        return await self._shares(segments, lambda read: read.present[item] >= PRESENT_FROM)

    async def shares_denied(self, item: Item, segments: Iterable[Segment]) -> bool:
        """Return whether the network takes any of the segments for a denial of the item, now."""
        return await self._shares(segments, lambda read: read.denied[item] >= DENIED_FROM)

    async def _shares(
        self, segments: Iterable[Segment], is_shared: Callable[[PassageReading], bool]
    ) -> bool:
        near = [
            passage
            for segment in segments
            for passage in self._passages.get(segment.turn, ())
            if passage.touches(segment.start, segment.end)
        ]
        readings = await self.of_passages(near)
        return not readings or any(map(is_shared, readings))


def _read_all(reader: LearnedReader, passages: Sequence[Passage]) -> list[PassageReading]:
    return [reader.read(passage) for passage in passages]
