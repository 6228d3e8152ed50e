"""The command `validate`: one step's checks over a file of units."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Final

import typer

from ai_psychiatrist.cli.exits import ExitCode, drop_output, fail, refusing_bad_input
from ai_psychiatrist.cli.validation_account import print_account
from ai_psychiatrist.cli.validation_files import STANDARD, Files
from ai_psychiatrist.cli.validation_request import (
    refuse_contradictions,
    refuse_what_does_not_fit,
    request_of,
)
from ai_psychiatrist.cli.validation_run import validated

EXAMPLES: Final = """
Examples:

  ai-psychiatrist validate --schema schema.json answers.jsonl > valid.jsonl

  ai-psychiatrist validate --config pipeline.yaml --step score answers.jsonl > valid.jsonl

  ai-psychiatrist validate --config pipeline.yaml --step score answers.jsonl.gz \
--context units.jsonl --valid valid.jsonl --failures failures.jsonl --coercions coercions.log

  zcat answers.gz | ai-psychiatrist validate --config pipeline.yaml --step score --failures f.jsonl

Exit status: 0 all units are valid, 1 some are not, 2 the configuration or a file cannot be used,
130 interrupted, 141 nobody reads the output any more. After 2, 130 and 141 no file is written.
"""


class DuplicateKeys(StrEnum):
    """What becomes of an object that gives a key twice."""

    REJECT = "reject"
    LAST = "last"


def validate(
    source: Annotated[
        Path,
        typer.Argument(metavar="[IN]", help="JSON lines, .gz too; - or nothing reads stdin."),
    ] = STANDARD,
    *,
    schema: Annotated[
        Path | None, typer.Option("--schema", help="A JSON Schema alone; no pipeline is needed.")
    ] = None,
    config: Annotated[Path | None, typer.Option("--config", help="The pipeline file.")] = None,
    step: Annotated[
        str | None,
        typer.Option("--step", help="The step whose answers these are, if there are several."),
    ] = None,
    is_stdin: Annotated[bool, typer.Option("--stdin", help="Read standard input.")] = False,
    context: Annotated[
        Path | None,
        typer.Option("--context", help="Units that were asked for, joined by unit_id."),
    ] = None,
    valid: Annotated[
        Path | None, typer.Option("--valid", help="Valid units; else standard output.")
    ] = None,
    failures: Annotated[
        Path | None, typer.Option("--failures", help="Failure records; else standard error.")
    ] = None,
    coercions: Annotated[
        Path | None, typer.Option("--coercions", help="One line for each coerced value.")
    ] = None,
    following: Annotated[
        Path | None,
        typer.Option("--next", help="What the next step is asked about: its --context."),
    ] = None,
    summary: Annotated[
        Path | None, typer.Option("--summary", help="The account in numbers, as JSON.")
    ] = None,
    run: Annotated[
        Path | None,
        typer.Option("--run", help="A run's folder, new or not, to record every attempt in."),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option("--seed", help="What a step of expressions draws at random by; else 0."),
    ] = None,
    longest_line: Annotated[
        int, typer.Option("--longest-line", min=1, help="Bytes; longer lines fail.")
    ] = 10_000_000,
    duplicate_keys: Annotated[
        DuplicateKeys, typer.Option("--duplicate-keys", help="An object that gives a key twice.")
    ] = DuplicateKeys.REJECT,
) -> None:
    """Check the answers of one step: coercion, schema, field checks and rules.

    For a step of expressions the lines are contexts: what it finds in each is checked instead.

    Valid units, failures and coercions go to streams of their own, in the order of the input.
    """
    files = Files(
        source=_file(source),
        context=context,
        valid=_file(valid),
        failures=failures,
        coercions=coercions,
        following=following,
        summary=summary,
        run=run,
    )
    with refusing_bad_input(), _ending_quietly():
        refuse_contradictions(files, schema=schema, config=config, step=step, is_stdin=is_stdin)
        keeps_last_key = duplicate_keys is DuplicateKeys.LAST
        request = request_of(schema, config, step, keeps_last_key=keeps_last_key, seed=seed or 0)
        refuse_what_does_not_fit(request, files, is_seeded=seed is not None)
        found = validated(request, files, longest_line=longest_line)
    if request.config is None or failures is not None:
        for warning in request.validator.warnings:
            typer.echo(f"warning: {warning}", err=True)
        print_account(found)
    raise typer.Exit(ExitCode.COMPLETE if found.is_all_valid else ExitCode.PARTIAL)


@contextmanager
def _ending_quietly() -> Iterator[None]:
    """End the command without a traceback when it is stopped or a stream cannot be written."""
    try:
        yield
    except BrokenPipeError:
        drop_output(sys.stdout, sys.stderr)
        raise typer.Exit(ExitCode.BROKEN_PIPE) from None
    except OSError as error:
        fail(f"a file cannot be written: {error.strerror}")
    except KeyboardInterrupt:
        raise typer.Exit(ExitCode.STOPPED) from None


def _file(path: Path | None) -> Path | None:
    return None if path == STANDARD else path
