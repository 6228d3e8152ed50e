"""The findings of a check-up for people to read in a terminal."""

from collections.abc import Iterable
from itertools import groupby
from typing import Final

from rich.table import Table
from rich.text import Text

from ai_psychiatrist.cli.checkup import CheckLevel, CheckResult
from ai_psychiatrist.cli.console import console_of
from ai_psychiatrist.cli.plain_text import plain

_WIDTH: Final = 100
_STYLES: Final = {
    CheckLevel.OK: "green",
    CheckLevel.WARN: "yellow",
    CheckLevel.FAIL: "bold red",
    CheckLevel.SKIP: "dim",
}


def print_findings(findings: Iterable[CheckResult]) -> None:
    """Print one line for each finding, its cure below it, and what it all comes to."""
    out = console_of(_WIDTH, widest=_WIDTH)
    told = list(findings)
    for model, of_model in groupby(told, key=lambda finding: finding.model):
        out.print(Text(plain(model or "This installation"), style="bold"))
        out.print(_table(of_model))
        out.print()
    counts = {level: sum(one.level is level for one in told) for level in CheckLevel}
    warned = f", {counts[CheckLevel.WARN]} warned" if counts[CheckLevel.WARN] else ""
    failed = f"{counts[CheckLevel.FAIL]} of {len(told)} checks failed{warned}."
    fine = f"Nothing is wrong: {len(told)} checks{warned}."
    out.print(failed if counts[CheckLevel.FAIL] else fine)


def _table(findings: Iterable[CheckResult]) -> Table:
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for finding in findings:
        level = Text(f"  {finding.level.value}", style=_STYLES[finding.level])
        words = Text(plain(finding.words))
        if finding.cure is not None:
            words.append(f"\n{plain(finding.cure)}", style="bold")
        table.add_row(level, finding.check, words)
    return table
