"""The commands that make a challenge and score predictions; neither asks a model."""

from pathlib import Path
from typing import Annotated

import typer

from ai_psychiatrist.cli.command_app import CommandApp
from ai_psychiatrist.cli.console import ExitCode, refusing_bad_input, writing_output
from ai_psychiatrist.cli.evaluation_options import JsonOption, print_json
from ai_psychiatrist.cli.progress import step_progress
from ai_psychiatrist.evaluation.challenge.folder import INTERVIEWS, TRUTH, read_manifest
from ai_psychiatrist.evaluation.challenge.make import ChallengeRecipe, make_challenge
from ai_psychiatrist.evaluation.challenge.scoring import score_challenge

files_app = CommandApp()

MAKE_EXAMPLES = """
Examples:

  ai-psychiatrist evaluate challenge make --out challenge

  ai-psychiatrist evaluate challenge make --out other --size 40 --seed 7

A system may see interviews.jsonl, and never truth.jsonl.
"""
SCORE_EXAMPLES = """
Examples:

  ai-psychiatrist evaluate challenge score challenge baseline.jsonl

  ai-psychiatrist evaluate challenge score challenge baseline.jsonl other.jsonl --json > scores.json

A line of predictions, of which only unit_id and the items with their scores are needed:

  {"unit_id": "0a1b…", "items": {"PHQ8_Sleep": {"score": 2, "quotes": [{"text": "awake"}]}, …}}

Exit status: 0 every interview was answered, 1 some were not, 2 bad input.
"""
FolderArgument = Annotated[
    Path, typer.Argument(metavar="FOLDER", help="Folder of the challenge.", show_default=False)
]


@files_app.command(epilog=MAKE_EXAMPLES)
def make(
    *,
    out: Annotated[Path, typer.Option("--out", metavar="FOLDER", help="A new folder.")],
    size: Annotated[int, typer.Option(help="Participants for each of twelve difficulties.")] = 20,
    seed: Annotated[int, typer.Option(help="The same seed gives the same bytes.")] = 0,
) -> None:
    """Make up interviews of difficult patients, and apart from them their truth."""
    with refusing_bad_input():
        recipe = ChallengeRecipe(size=size, seed=seed)
        with step_progress("making") as on_progress:
            make_challenge(out, recipe, on_progress=on_progress)
        count = read_manifest(out).interviews
    typer.echo(f"{count} interviews in {out / INTERVIEWS}; their truth in {out / TRUTH}")


@files_app.command(epilog=SCORE_EXAMPLES)
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
    with refusing_bad_input():
        with step_progress("scoring") as on_system:
            scored = score_challenge(folder, predictions, on_system=on_system)
        with writing_output():
            if as_json:
                print_json(scored.as_json())
            else:
                from ai_psychiatrist.cli.challenge_table import print_challenge  # noqa: PLC0415

                print_challenge(scored)
    is_whole = all(system.answered == system.interviews for system in scored.systems)
    raise typer.Exit(ExitCode.COMPLETE if is_whole else ExitCode.PARTIAL)
