"""The command that looks for what stands between an installation and its first assessment."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from contextlib import closing
from typing import Annotated

import typer

from ai_psychiatrist.cli.checkup import (
    CheckLevel,
    CheckResult,
    check_danger,
    check_installation,
    check_reader,
)
from ai_psychiatrist.cli.checkup_table import print_findings
from ai_psychiatrist.cli.exits import ExitCode, refusing_bad_input
from ai_psychiatrist.cli.interview_view import working
from ai_psychiatrist.cli.model_checkup import model_findings
from ai_psychiatrist.cli.quality import print_quality, quality_as_json, quality_of
from ai_psychiatrist.cli.settings_source import ModelOption, choose_model, quiet, read_settings
from ai_psychiatrist.cli.store_checkup import check_store
from ai_psychiatrist.config import Settings
from ai_psychiatrist.domain.errors import ArtifactMismatch, ConfigurationError, InputError
from ai_psychiatrist.evaluation.quality.labelled import labelled_interviews
from ai_psychiatrist.wiring import Services, bootstrap
from ai_psychiatrist.wiring.records import stores_of

EXAMPLES = """
Examples:

  ai-psychiatrist doctor

  ai-psychiatrist doctor --model ollama:gemma3:27b

  ai-psychiatrist doctor --json > doctor.json

  ai-psychiatrist doctor --quality --model ollama:gemma3:27b

  ai-psychiatrist doctor --store --all

Models are sent a few short prompts of ours, never a transcript. With --quality they also assess 22
interviews that were made up for it, as many as --limit says, and so does the built-in baseline:
about ten calls an interview, which a hosted model charges for. With --store no model is asked: what
is stored is opened, and none of its words is shown.

Exit status: 0 nothing is wrong (there may be warnings), 1 something is, 2 bad settings.
"""


def doctor(
    *,
    model: ModelOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print all findings as JSON.")] = False,
    quality: Annotated[
        bool,
        typer.Option("--quality", help="Measure the models on interviews with known answers."),
    ] = False,
    limit: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="With --quality: the first N interviews alone."),
    ] = None,
    store: Annotated[
        bool,
        typer.Option("--store", help="Check what is stored instead: files, keys, clock, words."),
    ] = False,
    opens_all: Annotated[
        bool,
        typer.Option("--all", help="With --store: open everything, not the latest of each tenant."),
    ] = False,
) -> None:
    """Check settings, disk and every model that the settings name, and say what to do."""
    with refusing_bad_input():
        if limit is not None and not quality:
            msg = "--limit says how many interviews --quality takes; add --quality"
            raise InputError(msg, field="--limit")
        if store and (quality or model is not None):
            msg = "--store asks no model; leave --model and --quality out"
            raise InputError(msg, field="--store")
        if opens_all and not store:
            msg = "--all says how much --store opens; add --store"
            raise InputError(msg, field="--all")
        settings = read_settings()
        chosen = quiet(choose_model(settings, model))
        if store:
            with closing(stores_of(settings)) as stores:
                findings = list(check_store(settings, stores, opens_all=opens_all))
        else:
            findings = _installation(settings, chosen) + asyncio.run(_models(chosen))
        is_answered = not _failed([one for one in findings if one.model is not None])
        measured = None
        if quality and is_answered:
            measured = asyncio.run(quality_of(chosen, labelled_interviews()[:limit]))
    if as_json:
        more = {} if not quality else {"quality": measured and quality_as_json(measured)}
        _print_json(findings, more)
    else:
        print_findings(findings)
        if measured is not None:
            typer.echo()
            print_quality(measured)
        elif quality:
            typer.echo("Quality was not measured: a model that fails the checks answers nothing.")
    raise typer.Exit(ExitCode.PARTIAL if _failed(findings) else ExitCode.COMPLETE)


def _installation(settings: Settings, chosen: Settings) -> list[CheckResult]:
    return [*check_installation(settings), check_danger(chosen), check_reader(chosen)]


async def _models(settings: Settings) -> list[CheckResult]:
    async with bootstrap(settings) as services:
        connections = services.connections
        references = await _references(services)
        with working():
            probes = await asyncio.gather(*map(connections.probe, connections.names))
    return references + [finding for probe in probes for finding in model_findings(probe, settings)]


async def _references(services: Services) -> list[CheckResult]:
    """Open the references, if any are set, as an assessment that shows them does."""
    if services.references is None:
        return []
    try:
        await services.open_references()
    except (ArtifactMismatch, ConfigurationError) as error:
        cure = "make them anew (`ai-psychiatrist references build --help`), or unset REFERENCES_DIR"
        level = CheckLevel.FAIL
        return [CheckResult(check="references", level=level, words=str(error), cure=cure)]
    return [CheckResult(check="references", level=CheckLevel.OK, words="fit the settings")]


def _failed(findings: Sequence[CheckResult]) -> bool:
    return any(finding.level is CheckLevel.FAIL for finding in findings)


def _print_json(findings: Sequence[CheckResult], more: Mapping[str, object]) -> None:
    document = {
        "is_fine": not _failed(findings),
        "findings": [
            {
                "check": finding.check,
                "model": finding.model,
                "level": finding.level.value,
                "words": finding.words,
                "cure": finding.cure,
                "facts": dict(finding.facts),
            }
            for finding in findings
        ],
        **more,
    }
    # Escaped, so that nothing in it acts on a terminal and every encoding can carry it.
    typer.echo(json.dumps(document, indent=2, ensure_ascii=True))
