"""The lines that `validate` is given, taken through the checks of their step."""

from contextlib import ExitStack
from dataclasses import asdict
from typing import TYPE_CHECKING

import orjson

from ai_psychiatrist.cli.progress import line_progress
from ai_psychiatrist.cli.validation_files import Files, open_outputs
from ai_psychiatrist.cli.validation_request import Request
from ai_psychiatrist.infrastructure.logging import setup_logging
from ai_psychiatrist.validation.jsonl.lines import source_lines
from ai_psychiatrist.validation.jsonl.outputs import output_file
from ai_psychiatrist.validation.jsonl.run import ValidationOptions, validate_lines
from ai_psychiatrist.validation.jsonl.summary import Summary

if TYPE_CHECKING:
    from ai_psychiatrist.cli.run_source import Recording


def validated(request: Request, files: Files, *, longest_line: int) -> Summary:
    """Check the lines and return the account; raises `InputError` for what cannot be used."""
    files.refuse_the_same_twice()
    with ExitStack() as stack:
        outputs = open_outputs(files, stack, is_schema_alone=request.config is None)
        account = (
            None
            if files.summary is None
            else stack.enter_context(output_file(files.summary, field="--summary"))
        )
        progress = line_progress(files.source_bytes, is_shown=files.failures is not None)
        with progress as on_progress:
            run = _recording(request, files, stack)
            # Where the failures go, nothing else is written; opening a run sets up its own log.
            is_logged = request.config is not None and files.failures is not None
            setup_logging("INFO" if is_logged else "CRITICAL")
            options = ValidationOptions(
                deadline_seconds=request.deadline_seconds,
                needs_unit_ids=request.config is not None,
                on_outcome=None if run is None else run.take,
                earlier=None if run is None else run.earlier,
                on_progress=on_progress,
                find=request.find,
            )
            found = validate_lines(
                request.validator,
                source_lines(files.source, longest=longest_line),
                outputs,
                context=files.context,
                options=options,
            )
        if account is not None:
            account.write(orjson.dumps(asdict(found), option=orjson.OPT_INDENT_2))
        outputs.valid.flush()
        outputs.failures.flush()
    return found


def _recording(request: Request, files: Files, stack: ExitStack) -> "Recording | None":
    """Return the run that records every outcome, once the stack is closed without an error."""
    if files.run is None or request.config is None:
        return None
    # With the ledger, which only recorded answers need.
    from ai_psychiatrist.cli.run_source import recording  # noqa: PLC0415

    is_told = files.failures is not None
    return stack.enter_context(
        recording(files.run, request.config, request.validator, is_told=is_told)
    )
