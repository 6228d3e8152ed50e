"""Append all that one run keeps to another, its words sealed for their new place."""

import json
from collections.abc import Callable, Collection, Mapping
from itertools import islice
from typing import Any, Final, TypeAlias

from sqlalchemy import Table, func, insert, select

from ai_psychiatrist.store.contents import call_in
from ai_psychiatrist.store.database import Found
from ai_psychiatrist.store.errors import refusing_damage
from ai_psychiatrist.store.run_records import Origin
from ai_psychiatrist.store.run_rows import RunRows, own
from ai_psychiatrist.store.run_schema import (
    attempts,
    batch_calls,
    batches,
    calls,
    inputs,
    requests,
    units,
)

DigestOf: TypeAlias = Callable[[str, bytes], str]
"""Id of a unit and its text in UTF-8 → the digest by which the text is known."""

_NONE: Final[Mapping[str, bytes]] = {}
_AT_ONCE: Final = 200
"""Rows that are in memory at a time."""
_WORDS: Final[Mapping[Table, tuple[str, ...]]] = {
    units: ("context", "unit_id"),
    inputs: ("context", "unit", "step"),
    attempts: ("body", "step", "unit", "round", "attempt"),
    calls: ("body", "unit", "attempt", "digest", "occurrence"),
    batches: ("handle", "number"),
    batch_calls: ("body", "custom_id"),
}
"""Table → the column of its words, and those that with the table's name are their place."""
_LAST_BATCH: Final = select(func.coalesce(func.max(batches.c.number), 0)).where(own(batches))


def append_rows(
    target: RunRows,
    source: RunRows,
    *,
    number_of: Callable[[int], int],
    digest_of: DigestOf,
    corrected: Mapping[str, bytes] = _NONE,
    keeps_raw: bool = True,
) -> None:
    """Add all rows of a run to another one, which has the same steps and none of its units.

    `number_of`: the number of a unit there → here. `digest_of`: made of a unit's id and text.
    `corrected`: id → the text that a unit has there from now on, which is itself kept where
    `keeps_raw`; the unit's calls are kept, its outcomes are not.
    Raises `LedgerUnusable` for words that cannot be read, and adds nothing then.
    """
    with target.transaction() as connection, refusing_damage():
        (last_batch,) = target.all(_LAST_BATCH)[0]
        renewed: set[int] = set()
        for table in (units, inputs, requests, attempts, calls, batches, batch_calls):
            found = source.stream(select(table).where(own(table)).order_by(*table.primary_key))
            opened = (_opened(source, table, row) for row in found)
            while rows := list(islice(opened, _AT_ONCE)):
                rows = [row for row in rows if not _is_outdated(table, row, renewed)]
                for row in rows:
                    if table is units and row["unit_id"] in corrected:
                        text = corrected[row["unit_id"]]
                        renewed.add(row["unit"])
                        row["context_digest"] = digest_of(row["unit_id"], text)
                        row["context"] = text if keeps_raw else None
                    row["tenant"], row["run"] = target.tenant, target.run
                    if "unit" in row:
                        row["unit"] = number_of(row["unit"])
                    if table is batches:
                        row["number"] += last_batch
                    if table is batch_calls:
                        row["batch"] += last_batch
                    if table is units and row["context"] is not None:
                        row["context_digest"] = digest_of(row["unit_id"], row["context"])
                    _change_words(table, row, target.seal)
                if rows:
                    connection.execute(insert(table), rows)


def _is_outdated(table: Table, row: Mapping[str, Any], renewed: Collection[int]) -> bool:
    """Return whether a row is about the previous text of a renewed unit."""
    return table in (inputs, attempts) and row["unit"] in renewed


def _opened(source: RunRows, table: Table, found: Found) -> dict[str, Any]:
    """Return a row with its words opened; raises what `refusing_damage` knows for a damaged one."""
    # Other rows are ordered by numbers that nothing names: they are given anew.
    row: dict[str, Any] = found._asdict()
    if table is not batches:
        row.pop("number", None)
    _change_words(table, row, source.open)
    if table is attempts:
        Origin(row["origin"])
        json.loads(row["body"])
    if table is calls:
        call_in(row["body"])
    return row


def _change_words(table: Table, row: dict[str, Any], change: Callable[..., bytes]) -> None:
    """Open or seal the words of a row for the place that its columns name."""
    column, *place = _WORDS.get(table, ("",))
    if row.get(column) is not None:
        row[column] = change(row[column], table.name, *(row[name] for name in place))
