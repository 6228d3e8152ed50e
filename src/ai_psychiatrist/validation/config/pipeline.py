"""Load a pipeline file, or refuse it with the places that have to be mended."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.validation.checks.field_paths import top_name
from ai_psychiatrist.validation.checks.step_config import MODEL_SCOPES, RuleBlock, StepConfig
from ai_psychiatrist.validation.config.given_file import FileUnusable, read_bounded
from ai_psychiatrist.validation.config.lint.names import described_names, given_names
from ai_psychiatrist.validation.config.lint.pipeline_lint import lint_pipeline, read_pipeline
from ai_psychiatrist.validation.config.lint.schema_file import parse_json
from ai_psychiatrist.validation.config.lint.steps import StepReading
from ai_psychiatrist.validation.config.pipeline_file import PipelineFile
from ai_psychiatrist.validation.config.problem import unusable_file
from ai_psychiatrist.validation.config.retry_limits import RetryLimits
from ai_psychiatrist.validation.nearest import did_you_mean

__all__ = [
    "PipelineConfig",
    "RetryLimits",
    "RuleBlock",
    "StepConfig",
    "lint_pipeline",
    "load_pipeline",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineConfig:
    """A pipeline file without errors."""

    path: Path
    digest: str
    """SHA-256 of the file and its schemas, in hexadecimal."""
    file: PipelineFile
    """What the file says."""
    steps: tuple[StepConfig, ...]
    """Its steps with the files that they name."""
    schemas: Mapping[str, Path]
    """Step → the file of its schema, for the steps that have one."""
    files: tuple[Path, ...]
    """The pipeline file and every schema and template that it names."""

    @property
    def retry(self) -> RetryLimits:
        """How often a unit is tried at a step."""
        return RetryLimits(
            provider_attempts=self.file.api.retry.max_attempts,
            validation_attempts=self.file.processing.validation_retry.max_attempts,
        )

    @property
    def deadline_seconds(self) -> float:
        """How long the validation of one step may take."""
        return self.file.api.subprocess_timeout_seconds

    def step(self, name: str | None) -> StepConfig:
        """Return a step, without a name the one that a model answers, if there is but one.

        Raises `ConfigurationError`, which names those there are, for any other.
        """
        answered = [step for step in self.steps if step.scope in MODEL_SCOPES]
        if name is None and len(answered) == 1:
            return answered[0]
        for step in self.steps:
            if step.name == name:
                return step
        names = [step.name for step in self.steps]
        hint = "" if name is None else did_you_mean(name, names)
        missing = (
            "name a step of the pipeline" if name is None else f"the pipeline has no step {name!r}"
        )
        msg = f"{missing}{hint}; steps: {', '.join(names)}"
        raise ConfigurationError(msg)


def load_pipeline(path: Path) -> PipelineConfig:
    """Load a pipeline file and its schemas.

    Raises `ConfigurationError` with the first errors that the lint finds. Warnings are not shown.
    """
    reading = read_pipeline(path)
    if reading.document.has_errors:
        raise ConfigurationError(unusable_file("pipeline", path.name, reading.document.problems))
    schemas = {
        step.config.name: step.schema.path for step in reading.steps if step.schema is not None
    }
    templates = [step.config.template for step in reading.steps if step.config.template is not None]
    return PipelineConfig(
        path=path,
        digest=reading.digest,
        file=reading.file,
        steps=_as_one(reading.steps),
        schemas=schemas,
        files=tuple(dict.fromkeys((path, *schemas.values(), *templates))),
    )


def step_of_schema(path: Path) -> StepConfig:
    """Return a step that checks answers by a schema alone.

    Raises `ConfigurationError` when the file is no JSON of a schema.
    """
    try:
        document = parse_json(read_bounded(path))
    except FileUnusable as error:
        msg = f"the schema {path.name!r} cannot be used: {error}"
        raise ConfigurationError(msg) from None
    return step_of_document(document, name=path.name)


def step_of_document(document: object, *, name: str) -> StepConfig:
    """Return a step that checks answers by a schema that is read already.

    `name`: of its file. Raises `ConfigurationError` for what is no schema.
    """
    if not isinstance(document, dict | bool):
        msg = f"the schema {name!r} is neither an object nor true or false"
        raise ConfigurationError(msg)
    return StepConfig(
        name=Path(name).stem, scope="llm", schema=document, schema_name=name, rules=RuleBlock()
    )


def _as_one(readings: Sequence[StepReading]) -> tuple[StepConfig, ...]:
    """Return the steps with what each takes over from others.

    What one protects all do: no earlier answer is to replace it either. A field that a step
    requires, and that neither its schema nor its expressions name, may be an earlier step's.
    """
    blocks = [one.config.rules for one in readings if one.config.rules is not None]
    protected = tuple(dict.fromkeys(name for block in blocks for name in block.protected))
    steps: list[StepConfig] = []
    answered: set[str] = set()
    for one in readings:
        step, block = one.config, one.config.rules
        if block is not None:
            of_others = answered - described_names(one)
            inherited = tuple(
                name
                for name in block.required
                if name in block.inherited or top_name(name) in of_others
            )
            changed = {"protected": protected, "inherited": inherited}
            step = replace(step, rules=block.model_copy(update=changed))
        steps.append(step)
        answered |= given_names(one)
    return tuple(steps)
