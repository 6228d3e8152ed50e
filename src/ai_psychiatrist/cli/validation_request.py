"""The step whose answers `validate` checks, and what its options cannot be together."""

from dataclasses import dataclass
from pathlib import Path

from ai_psychiatrist.cli.validation_files import STANDARD, Files
from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.validation.checks.expression_step import Find, finder_of
from ai_psychiatrist.validation.checks.step_config import StepConfig
from ai_psychiatrist.validation.checks.step_validator import MAX_DEPTH, StepValidator
from ai_psychiatrist.validation.config.pipeline import (
    load_pipeline,
    step_of_schema,
)
from ai_psychiatrist.validation.reply.limits import ParseLimits


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """The step, and its compiled checks."""

    config: Path | None
    """`None` for a schema alone: a person reads standard error, so no record goes there."""
    step: StepConfig
    validator: StepValidator
    deadline_seconds: float | None
    find: Find | None
    """Finds the answers, where no model gives them."""


def request_of(
    schema: Path | None, config: Path | None, step: str | None, *, keeps_last_key: bool, seed: int
) -> Request:
    """Compile the step before any data is read; either schema or config is there."""
    deadline_seconds = None
    if config is None:
        chosen = step_of_schema(schema or STANDARD)
    else:
        pipeline = load_pipeline(config)
        chosen, deadline_seconds = pipeline.step(step), pipeline.deadline_seconds
    limits = ParseLimits(max_depth=MAX_DEPTH, keeps_last_key=keeps_last_key)
    return Request(
        config=config,
        step=chosen,
        validator=StepValidator(chosen, limits=limits),
        deadline_seconds=deadline_seconds,
        find=finder_of(chosen, seed=seed),
    )


def refuse_contradictions(
    files: Files, *, schema: Path | None, config: Path | None, step: str | None, is_stdin: bool
) -> None:
    """Raise `InputError` for options that cannot be given together."""
    if (schema is None) is (config is None):
        msg = "name either a pipeline file with --config, or a schema alone with --schema"
        raise InputError(msg, field="--schema")
    if schema is not None and (step is not None or files.run is not None):
        msg = "--step and --run go with a pipeline file, not with --schema"
        raise InputError(msg, field="--schema")
    if is_stdin and files.source is not None:
        msg = "name a file or --stdin, not both"
        raise InputError(msg, field="--stdin")


def refuse_what_does_not_fit(request: Request, files: Files, *, is_seeded: bool) -> None:
    """Raise `InputError` for an option that this kind of step has no use for."""
    if is_seeded and request.find is None:
        msg = f"--seed goes with a step of expressions; a model answers {request.step.name!r}"
        raise InputError(msg, field="--seed")
    if files.run is not None and request.find is not None:
        msg = "--run takes the answers of models; a step of expressions is recorded where it is run"
        raise InputError(msg, field="--run")
