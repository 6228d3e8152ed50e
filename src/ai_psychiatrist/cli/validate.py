"""The commands that check answers of a step, and the files that say how."""

import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import asdict, replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Final

import orjson
import typer

from ai_psychiatrist.cli.command_app import CommandApp
from ai_psychiatrist.cli.console import ExitCode, ending_on_stop, print_json, require, say
from ai_psychiatrist.cli.progress import line_progress
from ai_psychiatrist.infrastructure.logging import setup_logging
from ai_psychiatrist.interview.protocol import is_protocol, lint_protocol
from ai_psychiatrist.validation.checks.step_config import finder_of
from ai_psychiatrist.validation.checks.step_validator import MAX_DEPTH, StepValidator
from ai_psychiatrist.validation.config.pipeline import lint_pipeline, load_pipeline, step_of_schema
from ai_psychiatrist.validation.jsonl.lines import source_lines
from ai_psychiatrist.validation.jsonl.outputs import Outputs, output_file
from ai_psychiatrist.validation.jsonl.run import ValidationOptions, validate_lines
from ai_psychiatrist.validation.jsonl.summary import Summary
from ai_psychiatrist.validation.reply.limits import ParseLimits

_EXAMPLES: Final = """
Examples:

  ai-psychiatrist validate --schema schema.json answers.jsonl --failures f.jsonl > valid.jsonl

  ai-psychiatrist validate --config pipeline.yaml --step score answers.jsonl > valid.jsonl

  ai-psychiatrist validate --config pipeline.yaml --step score answers.jsonl.gz \
--context units.jsonl --valid valid.jsonl --failures failures.jsonl --coercions coercions.log

  zcat answers.gz | ai-psychiatrist validate --config pipeline.yaml --step score --failures f.jsonl

Exit status: 0 all units are valid, 1 some are not, 2 the configuration or a file cannot be used,
130 interrupted, 141 no one reads the output any more. After 2, 130 and 141 no file is written.
"""


STANDARD: Final = Path("-")
_COLUMNS: Final = ("category", "field", "rule", "count", "first line")
_KEYS: Final = ("stage", "field", "rule", "count", "first_line")
_MOST_ROWS: Final = 40


class LintFormat(StrEnum):
    """How problems are printed."""

    TEXT = "text"
    JSON = "json"


class DuplicateKeys(StrEnum):
    """What becomes of an object that gives a key twice."""

    REJECT = "reject"
    LAST = "last"


validate_app = CommandApp()


@validate_app.command(epilog=_EXAMPLES)
def validate(
    source: Annotated[
        Path,
        typer.Argument(metavar="[IN]", help="JSON lines, .gz too; - or nothing reads stdin."),
    ] = STANDARD,
    *,
    schema: Annotated[
        Path | None, typer.Option("--schema", help="Only a JSON Schema; no pipeline is needed.")
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
        Path | None,
        typer.Option(
            "--failures",
            help="Failure records, and counts on standard error; else the records there.",
        ),
    ] = None,
    coercions: Annotated[
        Path | None, typer.Option("--coercions", help="One line for each coerced value.")
    ] = None,
    following: Annotated[
        Path | None,
        typer.Option("--next", help="The units of the next step: its --context."),
    ] = None,
    summary: Annotated[Path | None, typer.Option("--summary", help="The counts, as JSON.")] = None,
    run: Annotated[
        Path | None,
        typer.Option("--run", help="A run's folder, new or not, to record every attempt in."),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option("--seed", help="Seed of the random draws of a step of expressions; else 0."),
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
    places = {
        "--valid": None if valid == STANDARD else valid,
        "--failures": failures,
        "--coercions": coercions,
        "--summary": summary,
        "--next": following,
    }
    lines = None if source == STANDARD else source
    with ending_on_stop():
        require(
            (schema is None) is not (config is None),
            "name either a pipeline file with --config, or only a schema with --schema",
            field="--schema",
        )
        require(
            schema is None or (step is None and run is None),
            "--step and --run go with a pipeline file, not with --schema",
            field="--schema",
        )
        require(not is_stdin or lines is None, "name a file or --stdin, not both", field="--stdin")
        pipeline = None if config is None else load_pipeline(config)
        chosen = step_of_schema(schema or STANDARD) if pipeline is None else pipeline.step(step)
        limits = ParseLimits(
            max_depth=MAX_DEPTH, keeps_last_key=duplicate_keys is DuplicateKeys.LAST
        )
        validator = StepValidator(chosen, limits=limits)
        options = ValidationOptions(
            deadline_seconds=None if pipeline is None else pipeline.deadline_seconds,
            needs_unit_ids=config is not None,
            find=finder_of(chosen),
            seed=seed or 0,
        )
        require(
            seed is None or options.find is not None,
            f"--seed goes with a step of expressions; a model answers {chosen.name!r}",
            field="--seed",
        )
        require(
            run is None or options.find is None,
            "--run takes the answers of models; a step of expressions is recorded where it is run",
            field="--run",
        )
        _refuse_the_same_twice(places)
        with ExitStack() as stack:
            opened = {
                option: stack.enter_context(output_file(path, field=option))
                for option, path in places.items()
                if path is not None
            }
            outputs = Outputs(
                valid=opened.get("--valid", sys.stdout.buffer),
                failures=opened.get("--failures", sys.stderr.buffer),
                coercions=opened.get("--coercions"),
                following=opened.get("--next"),
            )
            with line_progress(_bytes_of(lines), is_shown=failures is not None) as on_progress:
                options = replace(options, on_progress=on_progress)
                if run is not None and config is not None:
                    # With the ledger, which only recorded answers need.
                    from ai_psychiatrist.cli.run_source import recording  # noqa: PLC0415

                    is_told = failures is not None
                    options = stack.enter_context(
                        recording(run, config, validator, options, is_told=is_told)
                    )
                # Where the failures go, nothing else is written; opening a run sets up its own log.
                setup_logging("INFO" if config and failures else "CRITICAL")
                found = validate_lines(
                    validator,
                    source_lines(lines, longest=longest_line),
                    outputs,
                    context=context,
                    options=options,
                )
            if account := opened.get("--summary"):
                account.write(orjson.dumps(asdict(found), option=orjson.OPT_INDENT_2))
            outputs.valid.flush()
            outputs.failures.flush()
    if failures is not None:
        say(*(f"warning: {warning}" for warning in validator.warnings), *_account(found))
    raise typer.Exit(ExitCode.COMPLETE if found.is_all_valid else ExitCode.PARTIAL)


def _refuse_the_same_twice(places: Mapping[str, Path | None]) -> None:
    """Raise `InputError` when two outputs would be one file; `places`: by option."""
    taken: dict[Path, str] = {}
    for option, path in places.items():
        if path is not None and (path.is_file() or not path.exists()):
            other = taken.setdefault(path.resolve(), option)
            require(other == option, f"{other} and {option} name the same file", field=option)


def _bytes_of(source: Path | None) -> int | None:
    """Return how much is to be read, `None` when it is not known before."""
    if source is None or source.suffix == ".gz" or not source.is_file():
        return None
    return source.stat().st_size


def _account(found: Summary) -> Iterator[str]:
    """Yield the account, for a standard error that is free of failure records."""
    yield (
        f"{found.step}: {found.requested:,} requested = {found.valid:,} valid"
        f" + {found.failed:,} failed + {found.pending:,} pending"
    )
    yield (
        f"lines: {found.lines:,} read = {found.blank_lines:,} blank + {found.objects:,} objects"
        f" + {found.unreadable_lines:,} that are no one object"
    )
    if stages := ", ".join(f"{stage} {count:,}" for stage, count in found.by_stage.items()):
        yield f"failures: {stages}"
    warnings = sum(found.warnings.values())
    yield f"coercions: {found.coercions:,}, repaired: {found.repaired:,}, warnings: {warnings:,}"
    seconds = ", ".join(f"{phase} {spent:.1f} s" for phase, spent in found.seconds.items())
    yield f"time: {seconds}"
    # Which kinds of error there were, the most frequent first.
    shown = found.by_field[:_MOST_ROWS]
    cells = [["–" if row[key] is None else str(row[key]) for key in _KEYS] for row in shown]
    rows = [_COLUMNS, *cells] if cells else []
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        line = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield f"  {line}".rstrip()
    if len(found.by_field) > len(shown):
        yield f"  and {len(found.by_field) - len(shown)} kinds more: --summary"
    if not found.is_balanced:
        yield "error: accounting: the lines and units do not add up"
    if found.is_nothing_valid:
        yield "no unit is valid: stop here"


@validate_app.command("validate-config")
@validate_app.command(
    "lint-config",
    epilog="""
Examples:

  ai-psychiatrist lint-config pipeline.yaml

  ai-psychiatrist lint-config examples/protocol

  ai-psychiatrist lint-config --format json */pipeline.yaml > problems.json

Exit status: 0 no errors (there may be warnings), 2 errors.
""",
)
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
        print_json(
            [
                {
                    "file": config,
                    "level": problem.level,
                    "code": problem.code,
                    "where": problem.where,
                    "line": problem.line,
                    "column": problem.column,
                    "message": problem.message,
                }
                for config, problems in found.items()
                for problem in problems
            ]
        )
    for config, problems in () if output_format is LintFormat.JSON else found.items():
        for problem in problems:
            where = f" {problem.where}" if problem.where else ""
            place = problem.place_in(str(config))
            typer.echo(f"{place} {problem.level} {problem.code}{where}: {problem.message}")
        errors = sum(problem.is_error for problem in problems)
        say(f"{config}: errors {errors}, warnings {len(problems) - errors}")
    if any(problem.is_error for problems in found.values() for problem in problems):
        raise typer.Exit(ExitCode.BAD_INPUT)
