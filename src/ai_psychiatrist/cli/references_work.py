"""What the commands about references do, and what they say: counts and digests, no words."""

import json
from dataclasses import asdict
from functools import partial
from pathlib import Path

import typer

from ai_psychiatrist.cli.dataset_options import DatasetChoice
from ai_psychiatrist.cli.exits import ExitCode, status_of
from ai_psychiatrist.cli.progress import index_progress, unit_progress
from ai_psychiatrist.config import Settings
from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.interface.references import build_references, score_by_labels, score_by_model
from ai_psychiatrist.services.retrieval.account import account_of
from ai_psychiatrist.services.retrieval.manifest import (
    Manifest,
    ScoringRecord,
    read_manifest,
    refuse_damaged,
)
from ai_psychiatrist.services.retrieval.opening import mismatches, unusable_scores
from ai_psychiatrist.wiring import bootstrap
from ai_psychiatrist.wiring.references import embedder_of, references_of, scoring_prompts


async def build_from(settings: Settings, choice: DatasetChoice, out: Path) -> ExitCode:
    """Make references of a dataset, and return the command's exit status."""
    async with bootstrap(settings) as services:
        dataset = choice.opened()
        with index_progress(len(dataset.units)) as (on_unit, on_chunks):
            made = await build_references(
                services, dataset, out, on_unit=on_unit, on_chunks=on_chunks
            )
    unreadable = len(dataset.units) - made.sessions
    typer.echo(
        f"{made.chunks} chunks of {made.sessions} interviews with {made.participants} "
        f"participants, embedder {made.embedder.name}"
    )
    if unreadable:
        typer.echo(f"interviews that could not be read: {unreadable}", err=True)
    typer.echo(f"next: ai-psychiatrist references score {out} --by labels", err=True)
    return ExitCode.PARTIAL if unreadable else ExitCode.COMPLETE


async def score_folder(settings: Settings, *, is_by_model: bool, concurrency: int) -> ExitCode:
    """Score references, and return the command's exit status."""
    async with bootstrap(settings) as services:
        if not is_by_model:
            typer.echo(_scores(score_by_labels(services).scoring))
            return ExitCode.COMPLETE
        watch = partial(unit_progress, "scoring chunks")
        manifest, run = await score_by_model(services, concurrency=concurrency, watch=watch)
    typer.echo(_scores(manifest.scoring))
    counts = run.counts
    typer.echo(
        f"{counts.valid} of {counts.requested} chunks complete, {counts.failed} failed; "
        f"{run.paid_calls} model calls made now",
        err=True,
    )
    return status_of(counts.valid, counts.requested)


async def check_folder(settings: Settings, *, as_json: bool) -> ExitCode:
    """Say what references hold, and return the command's exit status."""
    folder = settings.references.dir
    if folder is None:
        raise ConfigurationError("name the folder of the references, or set REFERENCES_DIR")
    manifest = read_manifest(folder)
    refuse_damaged(folder, manifest.files)
    async with bootstrap(settings) as services:
        embedder = embedder_of(settings.references.embedder, services.connections)
        others = mismatches(manifest, settings.references, embedder=embedder)
        if not others:
            # As an assessment does: what it refuses is refused here, in the same words.
            references_of(settings.references, services.connections, needs_scores=False)
    problems = (*others, *unusable_scores(manifest, scoring_prompts()))
    (_print_json if as_json else _print_table)(folder, manifest, problems)
    return ExitCode.PARTIAL if problems else ExitCode.COMPLETE


def _print_json(folder: Path, manifest: Manifest, problems: tuple[str, ...]) -> None:
    items = {item.value: asdict(one) for item, one in account_of(folder, manifest).items()}
    document = manifest.model_dump(mode="json") | {"items": items, "problems": problems}
    typer.echo(json.dumps(document, indent=2))


def _print_table(folder: Path, manifest: Manifest, problems: tuple[str, ...]) -> None:
    chunking = manifest.chunking
    lines = {
        "chunks": f"{manifest.chunks}, of {chunking.lines} lines every {chunking.step}",
        "people": f"{manifest.participants}, in {manifest.sessions} interviews",
        "embedder": manifest.embedder.name,
        "scores": _scores(manifest.scoring),
        "dataset": manifest.dataset,
        "split": manifest.split,
    }
    for name, value in lines.items():
        typer.echo(f"{name:<10}{value}")
    typer.echo(f"\n{'item':<22}{'read':>8}{'scored':>8}{'shown':>8}")
    for item, one in account_of(folder, manifest).items():
        typer.echo(f"{item.value:<22}{one.read:>8}{one.scored:>8}{one.shown:>8}")
    typer.echo()
    for problem in problems:
        typer.echo(f"cannot be used: {problem}")
    if not problems:
        typer.echo("few-shot scoring can use them as it is set up")


def _scores(scoring: ScoringRecord | None) -> str:
    if scoring is None:
        return "none"
    by = f"by {', '.join(scoring.models)}" if scoring.models else "by labels"
    return f"{scoring.scored} scores, {by}"
