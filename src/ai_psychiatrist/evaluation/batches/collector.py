"""Calls on their way into batches: sorted by what they share, cut to what a provider takes."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from ai_psychiatrist.ledger.store.batch_book import BatchRequestRow
from ai_psychiatrist.llm.batches import BatchModels, EncodedCall
from ai_psychiatrist.llm.settings import BatchSettings

_MOST_BYTES: Final = 64 << 20
"""Of one batch; they are held in memory while it is handed in."""

Kin = tuple[str, str]
"""Model and what else the calls of one batch share."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Collected:
    """A call that no batch holds yet."""

    call: EncodedCall
    row: BatchRequestRow


@dataclass(slots=True, kw_only=True)
class _Pile:
    held: list[Collected] = field(default_factory=list)
    size: int = 0


class Collector:
    """Holds calls until they fill a batch."""

    def __init__(self, models: BatchModels, settings: BatchSettings) -> None:
        self._models = models
        self._settings = settings
        self._piles: defaultdict[Kin, _Pile] = defaultdict(_Pile)

    def take(self, call: EncodedCall, row: BatchRequestRow) -> None:
        """Add a call."""
        pile = self._piles[call.model, call.kin]
        pile.held.append(Collected(call=call, row=row))
        pile.size += call.size

    def full(self) -> Iterator[list[Collected]]:
        """Yield batches that no further call fits in, and forget their calls."""
        for kin in list(self._piles):
            while batch := self._filled(kin):
                yield batch

    def all(self) -> Iterator[list[Collected]]:
        """Yield all that is left in batches, and forget it."""
        yield from self.full()
        for pile in self._piles.values():
            held, pile.held, pile.size = pile.held, [], 0
            if held:
                yield held

    def _filled(self, kin: Kin) -> list[Collected]:
        """Take the first calls that fill a batch, none where all of them leave room."""
        pile, (model, _) = self._piles[kin], kin
        most_calls = min(self._settings.most_calls, self._models.most_calls(model))
        most_bytes = min(_MOST_BYTES, self._models.most_bytes(model) or _MOST_BYTES)
        if len(pile.held) < most_calls and pile.size < most_bytes:
            return []
        count = size = 0
        for one in pile.held[:most_calls]:
            # One that is too large by itself is for the provider to refuse.
            if count and size + one.call.size > most_bytes:
                break
            count, size = count + 1, size + one.call.size
        batch, pile.held = pile.held[:count], pile.held[count:]
        pile.size -= size
        return batch
