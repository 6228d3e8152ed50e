"""Which interviews of a run a person has to read for danger: by the ids of their units alone."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

MOST_NAMED: Final = 20
"""Units that a line names; the others are counted."""


class UnitDanger(NamedTuple):
    """What a prediction says of danger."""

    unit_id: str
    signs_to_read: int | None
    """Signs that are affirmed, hypothetical or unclear at moderate or above; `None` where the
    transcript was not read."""
    turns_not_examined: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingList:
    """The interviews of a run that a person has to read, and how many were not read at all."""

    to_read: tuple[str, ...]
    """Units with affirmed, hypothetical or unclear signs at moderate or above, in their order."""
    not_examined: tuple[str, ...]
    """Of the others those with turns in a language that is not read."""
    not_read: int
    """How many interviews were not read at all: they failed before, or are still to be done."""


def reading_list(units: Iterable[UnitDanger], *, requested: int) -> ReadingList:
    """Return the list of a run; `requested`: of how many units."""
    to_read, not_examined, read = [], [], 0
    for unit in units:
        if unit.signs_to_read is None:
            continue
        read += 1
        if unit.signs_to_read:
            to_read.append(unit.unit_id)
        elif unit.turns_not_examined:
            not_examined.append(unit.unit_id)
    return ReadingList(
        to_read=tuple(to_read), not_examined=tuple(not_examined), not_read=requested - read
    )


def to_read_in_words(found: ReadingList, *, names_units: bool = True) -> str:
    """Return the list as one line; it says that there is nothing only where all was read."""
    return "; ".join(_parts(found, _ids if names_units else _no_ids)) + "."


def _parts(found: ReadingList, ids: Callable[[tuple[str, ...]], str]) -> Iterator[str]:
    signs = "affirmed, hypothetical or unclear signs of danger at moderate or above"
    is_whole = not (found.not_examined or found.not_read)
    if found.to_read:
        some = _interviews(found.to_read)
        yield f"A person has to read {some} with {signs}{ids(found.to_read)}"
    elif is_whole:
        yield f"No interview has {signs}"
    else:
        yield f"What was read has no {signs}, but not all was read"
    if found.not_examined:
        yield (
            f"turns of {_interviews(found.not_examined)} were not examined, for a person to read"
            f"{ids(found.not_examined)}"
        )
    if found.not_read:
        yield f"{found.not_read:,} not read for danger at all"


def _interviews(units: tuple[str, ...]) -> str:
    return f"{len(units):,} interview{'' if len(units) == 1 else 's'}"


def _ids(units: tuple[str, ...]) -> str:
    named = ", ".join(units[:MOST_NAMED])
    rest = len(units) - MOST_NAMED
    more = f" and {rest:,} more, which predictions.jsonl in the run's folder has"
    return f": {named}{more}" if rest > 0 else f": {named}"


def _no_ids(_: tuple[str, ...]) -> str:
    return ""
