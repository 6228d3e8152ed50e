"""The command `validate`: one step's checks over a file of units."""

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO, Final

import typer

from ai_psychiatrist.cli.exits import ExitCode, fail, refusing_bad_input

if TYPE_CHECKING:
    from ai_psychiatrist.cli.run_recording import Recording
    from ai_psychiatrist.validation.checks.expression_step import Find
    from ai_psychiatrist.validation.checks.step_config import StepConfig
    from ai_psychiatrist.validation.checks.step_validator import StepValidator
    from ai_psychiatrist.validation.jsonl.options import ValidationOptions
    from ai_psychiatrist.validation.jsonl.outputs import Outputs
    from ai_psychiatrist.validation.jsonl.summary import Summary

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


STANDARD: Final = Path("-")


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
    workers: Annotated[
        int, typer.Option("--workers", min=1, help="Processes for files from 50 MB on.")
    ] = 1,
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
    files = _Files(
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
        _refuse_contradictions(files, schema=schema, config=config, step=step, is_stdin=is_stdin)
        keeps_last_key = duplicate_keys is DuplicateKeys.LAST
        request = _request(schema, config, step, keeps_last_key=keeps_last_key, seed=seed or 0)
        _refuse_what_does_not_fit(request, files, is_seeded=seed is not None)
        found = _validated(request, files, workers=workers, longest_line=longest_line)
    if request.config is None or failures is not None:
        from ai_psychiatrist.cli.validation_account import print_account  # noqa: PLC0415

        print_account(found)
    raise typer.Exit(ExitCode.COMPLETE if found.is_all_valid else ExitCode.PARTIAL)


@contextmanager
def _ending_quietly() -> Iterator[None]:
    """End the command without a traceback when it is stopped or a stream cannot be written."""
    from concurrent.futures.process import BrokenProcessPool  # noqa: PLC0415

    try:
        yield
    except BrokenPipeError:
        _drop_what_is_left()
        raise typer.Exit(ExitCode.BROKEN_PIPE) from None
    except BrokenProcessPool:
        fail("a worker ended before its part was done; no file is written")
    except OSError as error:
        fail(f"a file cannot be written: {error.strerror}")
    except KeyboardInterrupt:
        raise typer.Exit(ExitCode.STOPPED) from None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Files:
    """What is read and written; `None` stands for a standard stream, or for nothing."""

    source: Path | None
    context: Path | None
    valid: Path | None
    failures: Path | None
    coercions: Path | None
    following: Path | None
    summary: Path | None
    run: Path | None

    def refuse_the_same_twice(self) -> None:
        """Raise `InputError` when two outputs would be one file."""
        from ai_psychiatrist.domain.errors import InputError  # noqa: PLC0415

        options = {"--valid": self.valid, "--failures": self.failures}
        options |= {"--coercions": self.coercions, "--summary": self.summary}
        options |= {"--next": self.following}
        taken: dict[Path, str] = {}
        for option, path in options.items():
            if path is None or (path.exists() and not path.is_file()):
                continue
            other = taken.setdefault(path.resolve(), option)
            if other != option:
                msg = f"{other} and {option} name the same file"
                raise InputError(msg, field=option)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Request:
    """The step, and its compiled checks."""

    config: Path | None
    """`None` for a schema alone: a person reads standard error, so no record goes there."""
    step: "StepConfig"
    validator: "StepValidator"
    deadline_seconds: float | None
    find: "Find | None"
    """Finds the answers, where no model gives them."""


def _refuse_contradictions(
    files: _Files, *, schema: Path | None, config: Path | None, step: str | None, is_stdin: bool
) -> None:
    from ai_psychiatrist.domain.errors import InputError  # noqa: PLC0415

    if (schema is None) is (config is None):
        msg = "name either a pipeline file with --config, or a schema alone with --schema"
        raise InputError(msg, field="--schema")
    if schema is not None and (step is not None or files.run is not None):
        msg = "--step and --run go with a pipeline file, not with --schema"
        raise InputError(msg, field="--schema")
    if is_stdin and files.source is not None:
        msg = "name a file or --stdin, not both"
        raise InputError(msg, field="--stdin")


def _refuse_what_does_not_fit(request: _Request, files: _Files, *, is_seeded: bool) -> None:
    """Raise `InputError` for an option that this kind of step has no use for."""
    from ai_psychiatrist.domain.errors import InputError  # noqa: PLC0415

    if is_seeded and request.find is None:
        msg = f"--seed goes with a step of expressions; a model answers {request.step.name!r}"
        raise InputError(msg, field="--seed")
    if files.run is not None and request.find is not None:
        msg = "--run takes the answers of models; a step of expressions is recorded where it is run"
        raise InputError(msg, field="--run")


def _file(path: Path | None) -> Path | None:
    return None if path == STANDARD else path


def _request(
    schema: Path | None, config: Path | None, step: str | None, *, keeps_last_key: bool, seed: int
) -> _Request:
    """Compile the step before any data is read; either schema or config is there."""
    from ai_psychiatrist.validation.checks.expression_step import finder_of  # noqa: PLC0415
    from ai_psychiatrist.validation.checks.step_validator import MAX_DEPTH, StepValidator  # noqa: PLC0415
    from ai_psychiatrist.validation.config.pipeline import (  # noqa: PLC0415
        load_pipeline,
        step_of_schema,
    )
    from ai_psychiatrist.validation.reply.limits import ParseLimits  # noqa: PLC0415

    deadline_seconds = None
    if config is None:
        chosen = step_of_schema(schema or STANDARD)
    else:
        pipeline = load_pipeline(config)
        chosen, deadline_seconds = pipeline.step(step), pipeline.deadline_seconds
    limits = ParseLimits(max_depth=MAX_DEPTH, keeps_last_key=keeps_last_key)
    return _Request(
        config=config,
        step=chosen,
        validator=StepValidator.compile(chosen, limits=limits),
        deadline_seconds=deadline_seconds,
        find=finder_of(chosen, seed=seed),
    )


def _validated(request: _Request, files: _Files, *, workers: int, longest_line: int) -> "Summary":
    import orjson  # noqa: PLC0415

    from ai_psychiatrist.cli.validation_progress import line_progress  # noqa: PLC0415
    from ai_psychiatrist.infrastructure.logging import setup_logging  # noqa: PLC0415
    from ai_psychiatrist.validation.jsonl.options import ValidationOptions  # noqa: PLC0415
    from ai_psychiatrist.validation.jsonl.outputs import output_file  # noqa: PLC0415

    files.refuse_the_same_twice()
    with ExitStack() as stack:
        outputs = _open_outputs(files, stack, is_schema_alone=request.config is None)
        account = (
            None
            if files.summary is None
            else stack.enter_context(output_file(files.summary, field="--summary"))
        )
        progress = line_progress(_size(files.source), is_shown=files.failures is not None)
        with progress as on_progress:
            run = _recording(request, files, stack)
            # Where the failures go, nothing else is written; opening a run sets up its own log.
            is_logged = request.config is not None and files.failures is not None
            setup_logging("INFO" if is_logged else "CRITICAL")
            options = ValidationOptions(
                deadline_seconds=request.deadline_seconds,
                longest_line=longest_line,
                needs_unit_ids=request.config is not None,
                on_outcome=None if run is None else run.take,
                earlier=None if run is None else run.earlier,
                on_progress=on_progress,
                find=request.find,
            )
            found = _run(request, files, outputs, options=options, workers=workers)
        if account is not None:
            account.write(orjson.dumps(asdict(found), option=orjson.OPT_INDENT_2))
        outputs.valid.flush()
        outputs.failures.flush()
    return found


def _run(
    request: _Request,
    files: _Files,
    outputs: "Outputs",
    *,
    options: "ValidationOptions",
    workers: int,
) -> "Summary":
    from ai_psychiatrist.validation.jsonl.lines import open_source  # noqa: PLC0415
    from ai_psychiatrist.validation.jsonl.run import validate_lines  # noqa: PLC0415
    from ai_psychiatrist.validation.jsonl.shards import (  # noqa: PLC0415
        WORTH_SHARING_BYTES,
        validate_file,
    )

    is_large = (_size(files.source) or 0) >= WORTH_SHARING_BYTES
    # A ledger has one writer, and expressions are compiled where they run.
    is_shared = workers > 1 and is_large and files.run is None and request.find is None
    if files.source is not None and is_shared:
        return validate_file(
            request.step,
            files.source,
            outputs,
            workers=workers,
            limits=request.validator.limits,
            context=files.context,
            options=options,
        )
    with open_source(files.source) as stream:
        return validate_lines(
            request.validator, stream, outputs, context=files.context, options=options
        )


def _size(source: Path | None) -> int | None:
    """Return the bytes to be read, `None` when they are not known before."""
    if source is None or source.suffix == ".gz" or not source.is_file():
        return None
    return source.stat().st_size


def _open_outputs(files: _Files, stack: ExitStack, *, is_schema_alone: bool) -> "Outputs":
    from ai_psychiatrist.validation.jsonl.outputs import Outputs, output_file  # noqa: PLC0415

    def opened(path: Path | None, field: str) -> BinaryIO | None:
        return None if path is None else stack.enter_context(output_file(path, field=field))

    failures = files.failures
    if failures is None and is_schema_alone:
        failures = Path(os.devnull)
    return Outputs(
        valid=opened(files.valid, "--valid") or sys.stdout.buffer,
        failures=opened(failures, "--failures") or sys.stderr.buffer,
        coercions=opened(files.coercions, "--coercions"),
        following=opened(files.following, "--next"),
    )


def _recording(request: _Request, files: _Files, stack: ExitStack) -> "Recording | None":
    """Return the run that records every outcome, once the stack is closed without an error."""
    if files.run is None or request.config is None:
        return None
    from ai_psychiatrist.cli.run_recording import recording  # noqa: PLC0415

    is_told = files.failures is not None
    return stack.enter_context(
        recording(files.run, request.config, request.validator, is_told=is_told)
    )


def _drop_what_is_left() -> None:
    """Let what is left in the buffers go nowhere, for nobody reads on."""
    from ai_psychiatrist.validation.jsonl.outputs import close_quietly  # noqa: PLC0415

    close_quietly(sys.stdout.buffer)
    close_quietly(sys.stderr.buffer)
