"""The account of a run in its folder: what was planned beside what was used."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from ai_psychiatrist.evaluation.pricing.plan import usd_number
from ai_psychiatrist.evaluation.pricing.used import CallPrices, used_as_json, used_calls
from ai_psychiatrist.evaluation.runs.run_folder import RunFolder, read_json_file, write_json
from ai_psychiatrist.ledger.store.ledger import Ledger

_SCHEMA_VERSION: Final = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCost:
    """What a run was planned to take, and took."""

    planned: dict[str, object]
    used: dict[str, object]
    has_batches: bool = False
    """Whether calls were made by batch interfaces."""

    @property
    def planned_price(self) -> str:
        """Which price of the plan stands beside the one of what was used."""
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
    folder: RunFolder, ledger: Ledger, prices: CallPrices, *, ceiling: Decimal | None
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


def _number(account: Mapping[str, object], *path: str) -> float:
    found: object = account
    for name in path:
        found = found.get(name) if isinstance(found, Mapping) else None
    return float(found) if isinstance(found, int | float) else 0.0
