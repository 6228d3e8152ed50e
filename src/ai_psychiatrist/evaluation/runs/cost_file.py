"""The account of a run in its folder: what was planned beside what was used."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import chain
from typing import Any, Final

from ai_psychiatrist.evaluation.pricing.prices import usd_number
from ai_psychiatrist.evaluation.pricing.spending import CallPrices, used_as_json, used_calls
from ai_psychiatrist.evaluation.runs.run_folder import (
    RunFolder,
    part_of,
    read_json_file,
    write_json,
)
from ai_psychiatrist.store.runs import RunStore

_SCHEMA_VERSION: Final = 1
_SAME: Final = frozenset({"schema_version", "first_call_ahead", "has_batches"})
"""Numbers, as truth values are in Python, that are not added up."""
_DIGITS: Final = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCost:
    """What a run was planned to take, and took."""

    planned: dict[str, object]
    used: dict[str, object]
    has_batches: bool = False
    """Whether calls were made by batch interfaces."""

    @property
    def planned_price(self) -> str:
        """Which price of the plan is compared with that of the calls made."""
        return "batch_usd" if self.has_batches else "live_usd"

    def error(self, side: str) -> float | None:
        """Return how far the planned tokens of a call were off, `input` or `output`.

        As a share of those that were used, over the calls of which the backend told them; `None`
        where it told none.
        """
        calls = _number(self.used, "calls")
        counted = calls - _number(self.used, "calls_without_tokens")
        counted -= _number(self.used, "calls_refused")
        planned_calls = _number(self.planned, "calls", "expected")
        used = _number(self.used, "tokens", side)
        if counted <= 0 or used <= 0 or planned_calls <= 0:
            return None
        return _number(self.planned, "tokens", side) / planned_calls / (used / counted) - 1


def write_cost(
    folder: RunFolder, ledger: RunStore, prices: CallPrices, *, ceiling: Decimal | None
) -> None:
    """Write what was planned of a run, and what all its calls so far used."""
    usage = ledger.calls.usage()
    account = {
        "schema_version": _SCHEMA_VERSION,
        "currency": "USD",
        "ceiling_usd": usd_number(ceiling),
        "planned": prices.plan.as_json(),
        "used": used_as_json(used_calls(usage, prices)),
        "has_batches": any(one.is_batch for one in usage),
    }
    write_json(folder.cost, account)


def read_cost(folder: RunFolder) -> RunCost | None:
    """Return the account of a run, `None` where it has none.

    Raises `InputError` for a damaged file.
    """
    if not folder.cost.exists():
        return None
    account = read_json_file(folder.cost, missing="has no cost.json")
    planned, used = account.get("planned"), account.get("used")
    if not isinstance(planned, dict) or not isinstance(used, dict):
        return None
    return RunCost(planned=planned, used=used, has_batches=account.get("has_batches") is True)


def write_merged_cost(parts: Sequence[RunFolder], out: RunFolder) -> None:
    """Write the sum of some accounts; none where a part has none, since it is then unknown.

    Raises `InputError` for a damaged account.
    """
    accounts = [read_json_file(part.cost, missing="") for part in parts if part.cost.exists()]
    if len(accounts) < len(parts):
        out.cost.unlink(missing_ok=True)
        return
    has_batches = any(one.get("has_batches") is True for one in accounts)
    write_json(out.cost, _added(accounts) | {"has_batches": has_batches})


def _added(accounts: Sequence[Mapping[str, object]]) -> dict[str, object]:
    names = dict.fromkeys(name for one in accounts for name in one)
    added = {name: _sum(name, [one.get(name) for one in accounts]) for name in names}
    tokens = added.get("tokens")
    if "cache_share" in added and isinstance(tokens, Mapping) and tokens.get("input"):
        added["cache_share"] = round(tokens["cache_read"] / tokens["input"], 4)
    return added


def _sum(name: str, values: Sequence[Any]) -> object:
    """Add numbers, and what holds some; a sum with an unknown part is unknown."""
    if name in _SAME or all(isinstance(one, str) for one in values):
        return values[0]
    if any(one is None for one in values):
        return None
    if all(isinstance(one, Mapping) for one in values):
        return _added(values)
    if all(isinstance(one, list) for one in values):
        # A row for each agent and model, and each sentence once.
        rows = list(chain(*values))
        by_name: dict[object, list[Mapping[str, object]]] = defaultdict(list)
        for row in rows:
            if isinstance(row, Mapping):
                by_name[row.get("agent"), row.get("model")].append(row)
        sentences = dict.fromkeys(row for row in rows if isinstance(row, str))
        return [*sentences, *map(_added, by_name.values())]
    total = sum(one for one in values if isinstance(one, int | float))
    return round(total, _DIGITS) if isinstance(total, float) else total


def _number(account: Mapping[str, object], *path: str) -> float:
    *names, last = path
    found = part_of(account, *names).get(last)
    return float(found) if isinstance(found, int | float) else 0.0
