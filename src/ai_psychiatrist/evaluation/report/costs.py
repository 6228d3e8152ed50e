"""What a run was planned to take beside what it took, as rows of a table."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ai_psychiatrist.evaluation.report.wording import grouped, in_words, money
from ai_psychiatrist.evaluation.runs.cost_file import RunCost


@dataclass(frozen=True, slots=True, kw_only=True)
class CostRow:
    """Calls, tokens and money of one side or one agent, as words."""

    name: str
    cells: tuple[str, ...]
    """Calls, tokens in, tokens out, share from a cache, price."""


def cost_rows(cost: RunCost | None) -> list[CostRow]:
    """Return the plan, what was used, and that by agent; nothing where nobody told any tokens."""
    if cost is None or not _tokens(cost.used).get("input"):
        return []
    calls = cost.planned.get("calls")
    expected = calls.get("expected") if isinstance(calls, Mapping) else None
    return [
        _row("Planned", cost.planned | {"calls": expected}, cost.planned_price),
        _row("Used", cost.used, "usd"),
        *_by_agent(cost.used),
    ]


def _by_agent(used: Mapping[str, object]) -> Iterator[CostRow]:
    rows = used.get("by_agent")
    for row in rows if isinstance(rows, Sequence) else ():
        yield _row(f"{in_words(str(row['agent']))}, {row['model']}", row, "usd")


def _row(name: str, account: Mapping[str, object], price: str) -> CostRow:
    tokens = _tokens(account)
    sent, written, read = (tokens.get(one) for one in ("input", "output", "cache_read"))
    share = read / sent if isinstance(read, int) and isinstance(sent, int) and sent else 0.0
    counts = (account.get("calls"), sent, written)
    shown = tuple(grouped(one) if isinstance(one, int) else "\N{EN DASH}" for one in counts)
    return CostRow(name=name, cells=(*shown, f"{share:.0%}", money(account.get(price))))


def _tokens(account: Mapping[str, object]) -> Mapping[str, object]:
    tokens = account.get("tokens")
    return tokens if isinstance(tokens, Mapping) else {}
