"""The account of a merged run: what its shards were planned to take, and took, added up."""

from collections.abc import Mapping, Sequence
from typing import Final

from ai_psychiatrist.evaluation.runs.merging.parts import Part
from ai_psychiatrist.evaluation.runs.run_folder import RunFolder, read_json_file, write_json

_SAME: Final = frozenset({"schema_version", "first_call_ahead", "has_batches"})
"""Numbers, as truth values are in Python, that are not added up."""
_SHARE: Final = "cache_share"
_ROW: Final = ("agent", "model")
_DIGITS: Final = 6


def write_merged_cost(parts: Sequence[Part], out: RunFolder) -> None:
    """Write the account of all parts; none where a part has none, since the sum is then unknown.

    Raises `InputError` for a damaged account.
    """
    if not all(part.folder.cost.exists() for part in parts):
        out.cost.unlink(missing_ok=True)
        return
    accounts = [read_json_file(part.folder.cost, missing="") for part in parts]
    merged = _added(accounts)
    merged["has_batches"] = any(one.get("has_batches") is True for one in accounts)
    write_json(out.cost, merged)


def _added(accounts: Sequence[Mapping[str, object]]) -> dict[str, object]:
    names = dict.fromkeys(name for one in accounts for name in one)
    merged = {name: _sum(name, [one.get(name) for one in accounts]) for name in names}
    tokens = merged.get("tokens")
    if _SHARE in merged and isinstance(tokens, Mapping) and tokens.get("input"):
        merged[_SHARE] = round(tokens["cache_read"] / tokens["input"], 4)
    return merged


def _sum(name: str, values: Sequence[object]) -> object:
    """Add numbers, and what holds some; a sum with an unknown part is unknown."""
    if name in _SAME or all(isinstance(one, str) for one in values):
        return values[0]
    if any(one is None for one in values):
        return None
    if all(isinstance(one, Mapping) for one in values):
        return _added([one for one in values if isinstance(one, Mapping)])
    if all(isinstance(one, list) for one in values):
        return _rows([row for one in values if isinstance(one, list) for row in one])
    total = sum(one for one in values if isinstance(one, int | float))
    return round(total, _DIGITS) if isinstance(total, float) else total


def _rows(rows: Sequence[object]) -> list[object]:
    """Return one row for each agent and model, and each sentence once."""
    by_name: dict[tuple[object, ...], list[Mapping[str, object]]] = {}
    for row in rows:
        if isinstance(row, Mapping):
            by_name.setdefault(tuple(row.get(name) for name in _ROW), []).append(row)
    sentences: list[object] = [*dict.fromkeys(row for row in rows if isinstance(row, str))]
    return [*sentences, *map(_added, by_name.values())]
