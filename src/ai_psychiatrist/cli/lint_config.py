"""The command that checks pipeline files and protocols of interviews."""

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from ai_psychiatrist.cli.console import ExitCode, say
from ai_psychiatrist.interview.protocol import is_protocol, lint_protocol
from ai_psychiatrist.validation.config.pipeline import lint_pipeline

EXAMPLES = """
Examples:

  ai-psychiatrist lint-config pipeline.yaml

  ai-psychiatrist lint-config examples/protocol

  ai-psychiatrist lint-config --format json */pipeline.yaml > problems.json

Exit status: 0 no errors (there may be warnings), 2 errors.
"""


class LintFormat(StrEnum):
    """How problems are printed."""

    TEXT = "text"
    JSON = "json"


def lint_config(
    configs: Annotated[
        list[Path],
        typer.Argument(metavar="CONFIG...", help="Pipeline files, or folders of protocols."),
    ],
    *,
    output_format: Annotated[
        LintFormat, typer.Option("--format", help="Print lines of text or one JSON array.")
    ] = LintFormat.TEXT,
) -> None:
    """Check pipelines or protocols with all their files and rules; nothing is run."""
    found = {
        config: lint_protocol(config) if is_protocol(config) else lint_pipeline(config)
        for config in configs
    }
    if output_format is LintFormat.JSON:
        records = [
            {
                "file": str(config),
                "level": problem.level.value,
                "code": problem.code,
                "where": problem.where,
                "line": problem.line,
                "column": problem.column,
                "message": problem.message,
            }
            for config, problems in found.items()
            for problem in problems
        ]
        # Escaped, so that nothing in it acts on a terminal and every encoding can carry it.
        typer.echo(json.dumps(records, indent=2))
    for config, problems in () if output_format is LintFormat.JSON else found.items():
        for problem in problems:
            where = f" {problem.where}" if problem.where else ""
            place = problem.place_in(str(config))
            typer.echo(f"{place} {problem.level} {problem.code}{where}: {problem.message}")
        errors = sum(problem.is_error for problem in problems)
        say(f"{config}: errors {errors}, warnings {len(problems) - errors}")
    if any(problem.is_error for problems in found.values() for problem in problems):
        raise typer.Exit(ExitCode.BAD_INPUT)
