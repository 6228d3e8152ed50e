"""What a run takes, planned and used, for people to read in a terminal."""

from collections.abc import Iterator, Mapping, Sequence

from rich.console import Console
from rich.table import Table

from ai_psychiatrist.cli.console import plain
from ai_psychiatrist.cli.run_table import wide_console
from ai_psychiatrist.evaluation.report.wording import NO_PRICE, money
from ai_psychiatrist.evaluation.runs.cost_file import RunCost

_HEADINGS = ("Calls", "Tokens in", "Tokens out", "From cache", "Live USD", "Batch USD")


def print_plan(plan: Mapping[str, object], before: RunCost | None = None) -> None:
    """Print a plan, as `RunPlan.as_json` returns it, and what an account of before tells of it."""
    console = wide_console()
    for line in _plan_lines(plan):
        console.print(line, soft_wrap=True)
    table = Table("Model", box=None, pad_edge=False)
    for heading in _HEADINGS:
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("Price")
    rows = plan["by_model"]
    for row in rows if isinstance(rows, Sequence) else ():
        table.add_row(plain(str(row["model"])), *_cells(row), str(row["price"] or NO_PRICE))
    if isinstance(rows, Sequence) and len(rows) > 1:
        table.add_row("all", *_cells({**plan, "calls": _at(plan, "calls", "expected")}), "")
    console.print()
    console.print(table)
    console.print()
    _print_assumptions(console, plan)
    for line in _so_far(before):
        console.print(line, soft_wrap=True)


def closing_lines(cost: RunCost) -> Iterator[str]:
    """Yield what a run was planned to take, and took; nothing where no backend told tokens."""
    if not _at(cost.used, "tokens", "input"):
        return
    for name, account, live in (
        ("planned", cost.planned, cost.planned_price),
        ("used", cost.used, "usd"),
    ):
        calls = account["calls"] if name == "used" else _at(account, "calls", "expected")
        sent, written = _at(account, "tokens", "input"), _at(account, "tokens", "output")
        yield (
            f"  {name:<8} calls {_grouped(calls)}, tokens in {_grouped(sent)} "
            f"(cache {float(str(account['cache_share'])):.0%}), out {_grouped(written)}, "
            f"{money(account[live])}"
        )
    without = cost.used.get("calls_without_tokens")
    if without:
        yield f"  calls of which nobody told the tokens, priced as planned: {_grouped(without)}"


def _plan_lines(plan: Mapping[str, object]) -> Iterator[str]:
    units, measured = plan["units"], _at(plan, "transcripts", "measured")
    unreadable = _at(plan, "transcripts", "unreadable")
    lost = f"; {_grouped(unreadable)} of these cannot be read" if unreadable else ""
    yield f"Units: {_grouped(units)}; transcripts measured: {_grouped(measured)}{lost}"
    calls = plan["calls"]
    if isinstance(calls, Mapping):
        yield (
            f"Model calls: {_grouped(calls['expected'])} expected, {_grouped(calls['least'])} at "
            f"least, {_grouped(calls['most'])} at most"
        )


def _cells(row: Mapping[str, object]) -> list[str]:
    read, sent = _at(row, "tokens", "cache_read"), _at(row, "tokens", "input")
    share = float(str(read)) / float(str(sent)) if sent else 0.0
    return [
        _grouped(row["calls"]),
        _grouped(sent),
        _grouped(_at(row, "tokens", "output")),
        f"{share:.0%}",
        _amount(row["live_usd"]),
        _amount(row["batch_usd"]),
    ]


def _amount(usd: object) -> str:
    return "–" if usd is None else money(usd).removeprefix("USD ")


def _print_assumptions(console: Console, plan: Mapping[str, object]) -> None:
    notes = plan["estimate"]
    for note in notes if isinstance(notes, Sequence) else ():
        console.print(f"Note: {note}.", soft_wrap=True)


def _so_far(cost: RunCost | None) -> Iterator[str]:
    if cost is None:
        return
    lines = list(closing_lines(cost))
    yield "This run so far:" if lines else "This run so far: nobody told of tokens."
    yield from lines
    for side, words in (("input", "in"), ("output", "out")):
        error = cost.error(side)
        if error is not None:
            yield f"  tokens {words} of a call: planned {error:+.0%} against those used"


def _at(account: Mapping[str, object], part: str, name: str) -> object:
    found = account.get(part)
    return found.get(name) if isinstance(found, Mapping) else None


def _grouped(count: object) -> str:
    return f"{count:,}" if isinstance(count, int) else "–"
