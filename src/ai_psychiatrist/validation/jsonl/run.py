"""Validate the lines of one stream, from the first to the account at the end."""

import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO

from ai_psychiatrist.domain.failures import FailureStage
from ai_psychiatrist.infrastructure.logging import get_logger
from ai_psychiatrist.validation.checks.step_validator import StepValidator
from ai_psychiatrist.validation.jsonl.context import plain_copy
from ai_psychiatrist.validation.jsonl.join import ContextJoin
from ai_psychiatrist.validation.jsonl.lines import read_lines, readable
from ai_psychiatrist.validation.jsonl.options import DEFAULT_OPTIONS, ValidationOptions
from ai_psychiatrist.validation.jsonl.outputs import Outputs
from ai_psychiatrist.validation.jsonl.summary import Summary, summarise
from ai_psychiatrist.validation.jsonl.tally import Tally
from ai_psychiatrist.validation.jsonl.unit_checker import UnitChecker, blocks

logger = get_logger(__name__)


def validate_lines(
    validator: StepValidator,
    source: BinaryIO,
    outputs: Outputs,
    *,
    context: Path | None = None,
    options: ValidationOptions = DEFAULT_OPTIONS,
) -> Summary:
    """Check every line of a stream and write what becomes of it, in order and in little memory.

    `context`: a file of the units that were asked for, joined by `unit_id`; without it the line is
    the whole unit. Raises `InputError` when source or context cannot be read.
    """
    deadline = options.deadline()
    with ExitStack() as stack:
        join = None
        if context is not None:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            join = ContextJoin(plain_copy(context, folder), folder, validator.limits)
            stack.callback(join.close)
        checker = UnitChecker(validator, outputs, join=join, deadline=deadline, options=options)
        for block in readable(blocks(read_lines(source, longest=options.longest_line))):
            checker.check(block)
            options.on_progress(sum(line.size for line in block), len(block))
        if join is not None:
            checker.report_missing(join.unanswered(checker.answered))
        asked = None if join is None else join.asked_count
        return logged_summary(checker.tally, validator, asked=asked)


def logged_summary(tally: Tally, validator: StepValidator, *, asked: int | None) -> Summary:
    """Return the summary of a run and log its two phases."""
    summary = summarise(tally, validator, asked=asked)
    broken_rules = tally.stages[FailureStage.VALIDATION]
    for event, count, failures, seconds in (
        (
            "schema_validation_finished",
            summary.valid + broken_rules,
            tally.failed_lines - broken_rules,
            tally.structure_seconds,
        ),
        ("rule_validation_finished", summary.valid, broken_rules, tally.rules_seconds),
    ):
        duration_ms = round(1000 * seconds, 1)
        logger.info(
            event, name=summary.step, count=count, failures=failures, duration_ms=duration_ms
        )
    return summary
