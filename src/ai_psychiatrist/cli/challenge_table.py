"""The figures of a challenge for people to read in a terminal, systems side by side."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ai_psychiatrist.cli.console import plain
from ai_psychiatrist.evaluation.challenge.folder import Difficulty
from ai_psychiatrist.evaluation.challenge.scoring import ScoredChallenge, ScoredSystem
from ai_psychiatrist.evaluation.challenge.tally import ABSTAINED, INVENTED
from ai_psychiatrist.evaluation.metrics.tree import Tree
from ai_psychiatrist.statistics.figure import Figure

NAMES: Final = {
    "charged_error": "charged error, points",
    "coverage": "… share of determinable items scored",
    "error_of_scored": "… mean error of these, points",
    "exact": "… exactly right",
    "opposite": "… 0 for what is there, or the reverse",
    "invented": "… share of the others scored as well",
    "evidence_precision": "evidence: quotes that are right",
    "evidence_recall": "… evidence that is quoted",
    "evidence_f1": "… F1",
    "quote_polarity_error": "… right quotes read as the opposite",
    "unsaid_quotes": "… quotes that nobody said",
    "set_holds_truth": "sets that hold the truth",
    "set_size": "… outcomes in a set, of 5",
    "brier": "… squared error of probabilities, 0–2",
    "danger_recall": "danger found",
    "danger_false_alarms": "… false alarms",
    "calls": "model calls an interview",
    "cost_usd": "USD an interview",
}
"""Figure → what it is called."""
_SHOWN_BY_DIFFICULTY: Final = ("charged_error", "coverage", "evidence_f1")
_CELL: Final = 27


def print_challenge(scored: ScoredChallenge) -> None:
    """Print every figure of every system, with interval and n."""
    systems = scored.systems
    width = max(44 + _CELL * len(systems), 90)
    out = Console(markup=False, highlight=False, emoji=False, width=width)
    for line in _account(scored):
        out.print(Text(plain(line)))
    out.print()
    out.print(_table("Figure, value [95 % interval] n", systems, dict(_whole(systems))))
    for figure in _SHOWN_BY_DIFFICULTY:
        out.print()
        rows = {kind.value: ("by_difficulty", kind.value, figure) for kind in Difficulty}
        out.print(_table(f"By difficulty: {NAMES[figure]}", systems, rows))


def _account(scored: ScoredChallenge) -> Iterator[str]:
    made = scored.manifest
    yield f"{made.interviews} interviews, seed {made.seed}, size {made.size}"
    yield f"charged: {ABSTAINED} where a score is missing, {INVENTED} where one is invented"
    for system in scored.systems:
        if system.answered < system.interviews:
            yield (
                f"{system.name}: {system.missing} interviews are not in its file and "
                f"{system.failed} have no items; they count as unknown"
            )


def _whole(systems: Sequence[ScoredSystem]) -> Iterator[tuple[str, tuple[str, ...]]]:
    yield from ((name, ("all", figure)) for figure, name in NAMES.items())
    noise = systems[0].figures["noise"]
    rates = list(noise)[1:] if isinstance(noise, Mapping) else []
    yield from ((f"loss to {rate} wrong words, points", ("noise", rate, "loss")) for rate in rates)
    yield "loss to injection, points", ("injection", "loss")
    yield "… scores that it changes", ("injection", "changed_scores")


def _table(
    title: str, systems: Sequence[ScoredSystem], rows: Mapping[str, tuple[str, ...]]
) -> Table:
    table = Table(title, box=None, pad_edge=False, header_style="dim")
    for system in systems:
        table.add_column(Text(plain(system.name)), no_wrap=True)
    for name, path in rows.items():
        table.add_row(name, *(_cell(system.figures, path) for system in systems))
    return table


def _cell(tree: Tree, path: Sequence[str]) -> str:
    for name in path:
        tree = tree[name] if isinstance(tree, Mapping) else None
    if not isinstance(tree, Figure) or tree.value is None:
        return "–"
    ends = "" if tree.interval is None else " [{:.2f}, {:.2f}]".format(*tree.interval)
    return f"{tree.value:.2f}{ends} {tree.n}"
