"""The command that puts a challenge to the configured models."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from ai_psychiatrist.cli.console import ending_on_stop, refusing_bad_input, status_of
from ai_psychiatrist.cli.progress import unit_progress
from ai_psychiatrist.cli.settings import ModelOption, quiet, read_settings
from ai_psychiatrist.config import Settings
from ai_psychiatrist.domain.assessment import AssessmentMode
from ai_psychiatrist.evaluation.challenge.answering import answer_challenge, answers_before
from ai_psychiatrist.evaluation.challenge.folder import read_interviews
from ai_psychiatrist.evaluation.challenge.prediction import ChallengePrediction
from ai_psychiatrist.wiring import Services, bootstrap

EXAMPLES = """
Examples:

  ai-psychiatrist evaluate challenge run challenge --out baseline.jsonl

  ai-psychiatrist evaluate challenge run challenge --out gemma.jsonl --model ollama:gemma3:27b

  ai-psychiatrist evaluate challenge run challenge --out gemma.jsonl --model ollama:gemma3:27b
  --resume

Only scores and danger are asked for: findings and reviews are not measured. Answers stand in the
file as they come, so that a stop loses none.

Exit status: 0 every interview was answered, 1 some were not, 2 bad input or settings, 3 none was,
130 stopped by Ctrl-C (go on with --resume).
"""


def run(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="Folder of the challenge.", show_default=False)
    ],
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
    """Assess the interviews of a challenge, and write what is said of them."""
    kept = "stopped; what was answered is kept: go on with --resume"
    with refusing_bad_input(), ending_on_stop(kept):
        settings = quiet(read_settings(model))
        texts = read_interviews(folder)
        made, answers = asyncio.run(
            _answered(settings, texts, out, concurrency=concurrency, is_resumed=resume)
        )
    answered = sum(not one.is_failed for one in answers)
    typer.echo(
        f"{answered} of {len(texts)} interviews answered, {len(texts) - answered} failed; "
        f"{made} model calls made now",
        err=True,
    )
    typer.echo(f"next: ai-psychiatrist evaluate challenge score {folder} {out}", err=True)
    raise typer.Exit(status_of(answered, len(texts)))


async def _answered(
    settings: Settings, texts: dict[str, str], out: Path, *, concurrency: int, is_resumed: bool
) -> tuple[int, list[ChallengePrediction]]:
    """Return how many calls were made now, and all answers."""
    async with bootstrap(settings) as services:
        system = _system(services)
        before = answers_before(out, texts, system=system, is_resumed=is_resumed)
        what = f"answering {out.name}"
        with unit_progress(what, requested=len(texts), done=len(before)) as on_end:
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


def _system(services: Services) -> str:
    """Return the models that answer, such as `ollama:gemma3:27b`, and how they are asked."""
    asked = (services.agent_models.get(agent, ()) for agent in ("quantitative", "danger"))
    mode = services.settings.features.default_mode
    names = dict.fromkeys(name for names in asked for name in names)
    return ", ".join([*names, *([] if mode is AssessmentMode.ZERO_SHOT else [mode.value])])
