"""The `references` commands: those of few-shot scoring made, scored and checked.

They print counts and digests, no words of an interview.
"""

import asyncio
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ai_psychiatrist.cli.command_app import CommandGroup
from ai_psychiatrist.cli.console import (
    ExitCode,
    ending_on_stop,
    print_json,
    say,
    status_of,
)
from ai_psychiatrist.cli.dataset_options import (
    DatasetArgument,
    LabelFlags,
    LabelledOption,
    ReadingFlags,
    SplitOption,
)
from ai_psychiatrist.cli.options import JsonOption, with_option_groups
from ai_psychiatrist.cli.progress import index_progress, unit_progress
from ai_psychiatrist.cli.settings import ModelOption, overridden, quiet, read_settings
from ai_psychiatrist.config import Settings
from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.evaluation.datasets.dataset import Dataset
from ai_psychiatrist.evaluation.datasets.selection import Selection
from ai_psychiatrist.wiring import bootstrap
from ai_psychiatrist.wiring.references import (
    embedder_of,
    refuse_missing_packages,
    scoring_prompts,
)

if TYPE_CHECKING:
    from ai_psychiatrist.services.retrieval.artefact import Artefact, ScoringRecord

references_app = CommandGroup(
    name="references",
    help="Make, score and check the references of few-shot scoring.",
)

BUILD_EXAMPLES = """
Examples:

  ai-psychiatrist references build DAIC-WOZ/ --out references/ --split train

  REFERENCES_EMBEDDER=ollama:embeddinggemma ai-psychiatrist references build talks/ --out refs/

The folder holds what participants said; only its owner can read it.

Exit status: 0 made, 1 made and some interviews could not be read, 2 bad input or settings.
"""
SCORE_EXAMPLES = """
Examples:

  ai-psychiatrist references score references/ --by labels

  ai-psychiatrist references score references/ --by model --model ollama:gemma3:27b

Exit status: 0 every chunk was read, 1 some failed and have no score, 2 bad input or settings, 130
stopped by Ctrl-C (the same command continues).
"""
CHECK_EXAMPLES = """
Examples:

  ai-psychiatrist references check references/

  ai-psychiatrist references check references/ --json

Exit status: 0 few-shot scoring can use them as it is set up, 1 it cannot, 2 no or damaged files.
"""


FolderArgument = Annotated[
    Path | None,
    typer.Argument(
        metavar="REFERENCES", help="What `build` made; else REFERENCES_DIR.", show_default=False
    ),
]


@references_app.command(epilog=BUILD_EXAMPLES)
@with_option_groups
def build(
    dataset: DatasetArgument,
    *,
    out: Annotated[Path, typer.Option("--out", metavar="REFERENCES", help="A new folder.")],
    split: SplitOption = None,
    labelled: LabelledOption = False,
    reading: ReadingFlags,
    scores: LabelFlags,
) -> None:
    """Cut the interviews of a dataset into references, and index them."""
    settings = _settings()
    selection = Selection(split=split, has_items=labelled)
    opened = reading.opened(dataset, settings.transcript.labels, scores, selection)
    raise typer.Exit(asyncio.run(_build(settings, opened, out)))


async def _build(settings: Settings, dataset: Dataset, out: Path) -> ExitCode:
    from ai_psychiatrist.interface.references import build_references  # noqa: PLC0415

    async with bootstrap(settings) as services:
        with index_progress(len(dataset.units)) as (on_unit, on_chunks):
            made = await build_references(
                services, dataset, out, on_unit=on_unit, on_chunks=on_chunks
            )
    typer.echo(
        f"{made.chunks} chunks of {made.sessions} interviews with {made.participants} "
        f"participants, embedder {made.embedder.name}"
    )
    unreadable = len(dataset.units) - made.sessions
    if unreadable:
        say(f"interviews that could not be read: {unreadable}")
    say(f"next: ai-psychiatrist references score {out} --by labels")
    return ExitCode.PARTIAL if unreadable else ExitCode.COMPLETE


@references_app.command(epilog=SCORE_EXAMPLES)
def score(
    references: FolderArgument = None,
    *,
    by: Annotated[
        Literal["labels", "model"],
        typer.Option(help="The participants' own labels, or a model that reads each."),
    ],
    concurrency: Annotated[int, typer.Option(min=1, help="Chunks scored at the same time.")] = 8,
    model: ModelOption = None,
) -> None:
    """Score every chunk, by the participants' labels or by a model."""
    kept = "stopped; what has finished is stored: the same command goes on"
    with ending_on_stop(kept):
        settings = _settings(references, model)
        raise typer.Exit(asyncio.run(_score(settings, by, concurrency)))


async def _score(settings: Settings, by: str, concurrency: int) -> ExitCode:
    from ai_psychiatrist.interface.references import (  # noqa: PLC0415
        score_by_labels,
        score_by_model,
    )

    async with bootstrap(settings) as services:
        if by == "labels":
            typer.echo(_scores(score_by_labels(services).scoring))
            return ExitCode.COMPLETE
        watch = partial(unit_progress, "scoring chunks")
        manifest, run = await score_by_model(services, concurrency=concurrency, watch=watch)
    typer.echo(_scores(manifest.scoring))
    counts = run.counts
    say(
        f"{counts.valid} of {counts.requested} chunks complete, {counts.failed} failed; "
        f"{run.paid_calls} model calls made now"
    )
    return status_of(counts.valid, counts.requested)


@references_app.command(epilog=CHECK_EXAMPLES)
def check(
    references: FolderArgument = None,
    *,
    as_json: JsonOption = False,
) -> None:
    """Show the references, and whether few-shot scoring can use them with these settings."""
    settings = _settings(references)
    raise typer.Exit(asyncio.run(_check(settings, as_json=as_json)))


async def _check(settings: Settings, *, as_json: bool) -> ExitCode:
    from ai_psychiatrist.services.retrieval.artefact import (  # noqa: PLC0415
        open_artefact,
        read_manifest,
    )
    from ai_psychiatrist.services.retrieval.references import mismatches  # noqa: PLC0415

    options = settings.references
    if options.dir is None:
        raise ConfigurationError("name the folder of the references, or set REFERENCES_DIR")
    artefact = open_artefact(options.dir, read_manifest(options.dir))
    async with bootstrap(settings) as services:
        problems = mismatches(
            artefact.manifest,
            options,
            embedder=embedder_of(options.embedder, services.connections),
            prompts=scoring_prompts(),
        )
    found = {"items": artefact.account(), "problems": problems}
    words = "\n".join(_lines(artefact, problems))
    print_json(artefact.manifest.model_dump() | found) if as_json else typer.echo(words)
    return ExitCode.PARTIAL if problems else ExitCode.COMPLETE


def _lines(artefact: "Artefact", problems: list[str]) -> Iterator[str]:
    manifest, chunking = artefact.manifest, artefact.manifest.chunking
    lines = {
        "chunks": f"{manifest.chunks}, of {chunking.lines} lines every {chunking.step}",
        "people": f"{manifest.participants}, in {manifest.sessions} interviews",
        "embedder": manifest.embedder.name,
        "scores": _scores(manifest.scoring),
        "dataset": manifest.dataset,
        "split": manifest.split,
    }
    yield from (f"{name:<10}{value}" for name, value in lines.items())
    yield f"\n{'item':<22}{'read':>8}{'scored':>8}{'shown':>8}"
    for item, one in artefact.account().items():
        yield f"{item.value:<22}{one.read:>8}{one.scored:>8}{one.shown:>8}"
    yield ""
    yield from (f"cannot be used: {problem}" for problem in problems)
    if not problems:
        yield "few-shot scoring can use them as it is set up"


def _scores(scoring: "ScoringRecord | None") -> str:
    if scoring is None:
        return "none"
    by = f"by {', '.join(scoring.models)}" if scoring.models else "by labels"
    return f"{scoring.scored} scores, {by}"


def _settings(references: Path | None = None, model: str | None = None) -> Settings:
    """Return the settings with which references are made: nothing is scored by references yet.

    Raises `ConfigurationError` where a package is missing; what is imported next needs it.
    """
    refuse_missing_packages()
    settings = overridden(quiet(read_settings(model)), "features", enable_few_shot=False)
    return overridden(settings, "references", dir=references)
