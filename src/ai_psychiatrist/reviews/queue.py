"""Which assessment to rate next: the most informative one, and at random every tenth time.

Figures of agreement over hard cases alone would be too low. A tenth of all cases, told by their ids
and by nothing that the program says, is therefore drawn in an order that is random as well; of no
other reason a case of it is drawn.
"""

import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ai_psychiatrist.domain.access import Principal
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.domain.review import ReviewPhase
from ai_psychiatrist.store.records import ListedRecord
from ai_psychiatrist.store.store import Store

RANDOM_SHARE: Final = 0.1
_EVERY: Final = 10
_MIDDLE: Final = _EVERY // 2
_DRAW_BYTES: Final = 8
_BITS_OF_AN_ITEM: Final = 2
"""A score of an item that has none: one of four."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Queued:
    """The beginning of a queue."""

    cases: tuple[ListedRecord, ...]
    waiting: int
    """How many there are in all."""


def queued(store: Store, principal: Principal, *, limit: int) -> Queued:
    """Return the first finished assessments that a rater has not rated, the next one first."""
    order = queue(store.lists.finished(principal.id), seed=principal.tenant)
    return Queued(cases=order[:limit], waiting=len(order))


def draw(record_id: str, *, seed: str) -> float:
    """Return a number of [0, 1) that is always the same for an assessment, and like no other."""
    digest = hashlib.sha256(f"{seed}/{record_id}".encode()).digest()[:_DRAW_BYTES]
    return float(int.from_bytes(digest) / (1 << (8 * _DRAW_BYTES)))


def is_random(record_id: str, *, seed: str) -> bool:
    """Return whether an assessment belongs to the random tenth."""
    return draw(record_id, seed=seed) < RANDOM_SHARE


def information(case: ListedRecord) -> float:
    """Return how many bits a rating may tell: those of unknown items, and of the belief's width."""
    figures = case.summary.figures
    unknown = len(Item) if figures.unknown_items is None else figures.unknown_items
    return _BITS_OF_AN_ITEM * unknown + math.log2(1 + (figures.width or 0))


def queue(cases: Sequence[ListedRecord], *, seed: str) -> tuple[ListedRecord, ...]:
    """Return what the rater may rate next, the first one first.

    `cases` are all finished ones, those that the rater committed included: they tell whether the
    next one is a random one. What was begun blind comes first; what the rater has seen scores of,
    and can rate no more blind, comes last.
    """
    by_phase: dict[ReviewPhase, list[ListedRecord]] = {phase: [] for phase in ReviewPhase}
    draws = {case.summary.id: draw(case.summary.id, seed=seed) for case in cases}
    for case in sorted(cases, key=lambda case: draws[case.summary.id]):
        by_phase[case.phase].append(case)
    rated = [draws[case.summary.id] < RANDOM_SHARE for case in by_phase[ReviewPhase.REVEALED]]
    mixed = _mixed(by_phase[ReviewPhase.UNSEEN], draws, rated=len(rated), random=sum(rated))
    begun = sorted(by_phase[ReviewPhase.BLIND], key=lambda case: case.summary.created_at)
    seen = by_phase[ReviewPhase.SEEN]
    return (*begun, *mixed, *sorted(seen, key=information, reverse=True))


def _mixed(
    cases: Sequence[ListedRecord], draws: Mapping[str, float], *, rated: int, random: int
) -> Iterator[ListedRecord]:
    """Yield cases so that, with those rated before, each tenth one is random."""
    drawn = [case for case in cases if draws[case.summary.id] < RANDOM_SHARE]
    others = [case for case in cases if draws[case.summary.id] >= RANDOM_SHARE]
    tenth = iter(drawn)
    uncertain = iter(sorted(others, key=information, reverse=True))
    for place in range(rated, rated + len(cases)):
        is_turn = random < (place + _MIDDLE) // _EVERY
        first, second = (tenth, uncertain) if is_turn else (uncertain, tenth)
        case = next(first, None)
        random += is_turn and case is not None
        yield case or next(second)
