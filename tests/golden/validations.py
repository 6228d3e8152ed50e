"""Answers of models against schemas and pipelines, and runs of pipelines, by the command."""

from collections.abc import Iterator

from tests.golden import (
    validations_expressions,
    validations_lint,
    validations_public,
    validations_runs,
    validations_schemas,
    validations_steps,
)
from tests.golden.answer import Answer
from tests.golden.ways import run, scratch


def answers() -> Iterator[Answer]:
    """Yield what validating, linting and running come to."""
    yield from validations_schemas.answers()
    yield from validations_expressions.answers()
    yield from validations_steps.answers()
    yield from validations_lint.answers()
    yield from validations_runs.answers()
    yield from validations_public.answers()
    with scratch() as folder:
        yield Answer(name="schema_of_results", value=run(["schema"], folder).value)
