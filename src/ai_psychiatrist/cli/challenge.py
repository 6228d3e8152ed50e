"""The `evaluate challenge` commands: a measure for any system, on interviews of known truth."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, TypeAlias

import typer
from rich.console import Console
from rich.table import Column
from rich.text import Text

from ai_psychiatrist.cli.command_app import CommandGroup
from ai_psychiatrist.cli.console import (
    ExitCode,
    ending_on_stop,
    plain,
    print_json,
    say,
    status_of,
    table_of,
)
from ai_psychiatrist.cli.options import JsonOption
from ai_psychiatrist.cli.progress import step_progress, unit_progress
from ai_psychiatrist.cli.settings import ModelOption, quiet, read_settings
from ai_psychiatrist.config import Settings
from ai_psychiatrist.domain.assessment import AssessmentMode
from ai_psychiatrist.evaluation.challenge.folder import (
    INTERVIEWS,
    TRUTH,
    Difficulty,
    read_interviews,
    read_manifest,
)
from ai_psychiatrist.evaluation.challenge.make import ChallengeRecipe, make_challenge
from ai_psychiatrist.evaluation.challenge.prediction import ChallengePrediction
from ai_psychiatrist.evaluation.challenge.scoring import (
    ScoredChallenge,
    ScoredSystem,
    score_challenge,
)
from ai_psychiatrist.evaluation.challenge.tally import ABSTAINED, INVENTED
from ai_psychiatrist.statistics.figure import Figure

if TYPE_CHECKING:
    from ai_psychiatrist.evaluation.metrics.tree import Tree

challenge_app = CommandGroup(
    name="challenge",
    help="Measure any system on interviews of difficult patients whose truth is known.",
)

MAKE_EXAMPLES = """
Examples:

  ai-psychiatrist evaluate challenge make --out challenge

  ai-psychiatrist evaluate challenge make --out other --size 40 --seed 7

A system may see interviews.jsonl but never truth.jsonl.
"""
RUN_EXAMPLES = """
Examples:

  ai-psychiatrist evaluate challenge run challenge --out baseline.jsonl

  ai-psychiatrist evaluate challenge run challenge --out gemma.jsonl --model ollama:gemma3:27b

  ai-psychiatrist evaluate challenge run challenge --out gemma.jsonl --model ollama:gemma3:27b
  --resume

Only scores and danger are asked for: findings and reviews are not measured. Answers stand in the
file as they come, so that a stop loses none.

Exit status: 0 every interview was answered, 1 some were not, 2 bad input or settings, 3 none was,
130 stopped by Ctrl-C (continue with --resume).
"""
SCORE_EXAMPLES = """
Examples:

  ai-psychiatrist evaluate challenge score challenge baseline.jsonl

  ai-psychiatrist evaluate challenge score challenge baseline.jsonl other.jsonl --json > scores.json

A line of predictions, of which only unit_id and the items with their scores are needed:

  {"unit_id": "0a1b…", "items": {"PHQ8_Sleep": {"score": 2, "quotes": [{"text": "awake"}]}, …}}

Exit status: 0 every interview was answered, 1 some were not, 2 bad input.
"""
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
    "unsaid_quotes": "… quotes that were not said",
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
FolderArgument: TypeAlias = Annotated[
    Path, typer.Argument(metavar="FOLDER", help="Folder of the challenge.", show_default=False)
]


@challenge_app.command(epilog=MAKE_EXAMPLES)
def make(
    *,
    out: Annotated[Path, typer.Option("--out", metavar="FOLDER", help="A new folder.")],
    size: Annotated[int, typer.Option(help="Participants for each of twelve difficulties.")] = 20,
    seed: Annotated[int, typer.Option(help="The same seed gives the same bytes.")] = 0,
) -> None:
    """Make up interviews of difficult patients, and store their truth separately."""
    recipe = ChallengeRecipe(size=size, seed=seed)
    with step_progress("making") as on_progress:
        make_challenge(out, recipe, on_progress=on_progress)
    count = read_manifest(out).interviews
    typer.echo(f"{count} interviews in {out / INTERVIEWS}; their truth in {out / TRUTH}")


@challenge_app.command(epilog=RUN_EXAMPLES)
def run(
    folder: FolderArgument,
    *,
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="For the predictions.")],
    concurrency: Annotated[
        int, typer.Option(min=1, help="Interviews assessed at the same time.")
    ] = 8,
    resume: Annotated[
        bool, typer.Option("--resume", help="Assess what is not in FILE yet, or failed.")
    ] = False,
    model: ModelOption = None,
) -> None:
    """Assess the interviews of a challenge, and write the answers."""
    kept = "stopped; the answers are stored: continue with --resume"
    with ending_on_stop(kept):
        settings = quiet(read_settings(model))
        texts = read_interviews(folder)
        made, answers = asyncio.run(
            _answered(settings, texts, out, concurrency=concurrency, is_resumed=resume)
        )
    answered = sum(not one.is_failed for one in answers)
    say(
        f"{answered} of {len(texts)} interviews answered, {len(texts) - answered} failed; "
        f"{made} model calls made now\n"
        f"next: ai-psychiatrist evaluate challenge score {folder} {out}",
    )
    raise typer.Exit(status_of(answered, len(texts)))


async def _answered(
    settings: Settings, texts: dict[str, str], out: Path, *, concurrency: int, is_resumed: bool
) -> tuple[int, list[ChallengePrediction]]:
    """Return how many calls were made now, and all answers."""
    # What asks models is not needed to make a challenge, or to score answers.
    from ai_psychiatrist.evaluation.challenge.answering import (  # noqa: PLC0415
        answer_challenge,
        answers_before,
    )
    from ai_psychiatrist.wiring import bootstrap  # noqa: PLC0415

    async with bootstrap(settings) as services:
        asked = (services.agent_models.get(agent, ()) for agent in ("quantitative", "danger"))
        names = dict.fromkeys(name for names in asked for name in names)
        mode = services.settings.features.default_mode
        # Such as `ollama:gemma3:27b, few_shot`.
        system = ", ".join([*names, *([] if mode is AssessmentMode.ZERO_SHOT else [mode.value])])
        before = answers_before(out, texts, system=system, is_resumed=is_resumed)
        with unit_progress(f"answering {out.name}", len(texts), len(before)) as on_end:
            found = await answer_challenge(
                services.assessor,
                texts,
                out,
                system=system,
                concurrency=concurrency,
                before=before,
                on_answer=lambda one: on_end("scores" if one.is_failed else None),
            )
        made = sum(one.calls or 0 for unit_id, one in found.items() if unit_id not in before)
        return made, list(found.values())


@challenge_app.command(epilog=SCORE_EXAMPLES)
def score(
    folder: FolderArgument,
    predictions: Annotated[
        list[Path],
        typer.Argument(
            metavar="PREDICTIONS...", help="A file for each system.", show_default=False
        ),
    ],
    *,
    as_json: JsonOption = False,
) -> None:
    """Score the predictions of one or several systems, ours or any other."""
    with step_progress("scoring") as on_system:
        scored = score_challenge(folder, predictions, on_system=on_system)
    print_json(scored.as_json()) if as_json else _print_scores(scored)
    is_whole = all(system.answered == system.interviews for system in scored.systems)
    raise typer.Exit(ExitCode.COMPLETE if is_whole else ExitCode.PARTIAL)


def _print_scores(scored: ScoredChallenge) -> None:
    """Print every figure of every system, with interval and n, systems side by side."""
    systems = scored.systems
    width = max(44 + _CELL * len(systems), 90)
    out = Console(markup=False, highlight=False, emoji=False, width=width)

    def show(title: str, figures: Mapping[str, Sequence[str]]) -> None:
        columns = (Column(Text(plain(system.name)), no_wrap=True) for system in systems)
        rows = (
            (name, *(_cell(system.figures, path) for system in systems))
            for name, path in figures.items()
        )
        out.print()
        out.print(table_of([title, *columns], rows, header_style="dim"))

    for line in _account(scored):
        out.print(Text(plain(line)))
    show("Figure, value [95 % interval] n", dict(_whole(systems)))
    for figure in _SHOWN_BY_DIFFICULTY:
        rows = {kind.value: ("by_difficulty", kind.value, figure) for kind in Difficulty}
        show(f"By difficulty: {NAMES[figure]}", rows)


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
    for rate in list(noise)[1:] if isinstance(noise, Mapping) else ():
        yield f"loss to {rate} wrong words, points", ("noise", rate, "loss")
    yield "loss to injection, points", ("injection", "loss")
    yield "… scores that it changes", ("injection", "changed_scores")


def _cell(tree: "Tree", path: Sequence[str]) -> str:
    for name in path:
        tree = tree[name] if isinstance(tree, Mapping) else None
    if not isinstance(tree, Figure) or tree.value is None:
        return "–"
    ends = "" if tree.interval is None else " [{:.2f}, {:.2f}]".format(*tree.interval)
    return f"{tree.value:.2f}{ends} {tree.n}"
