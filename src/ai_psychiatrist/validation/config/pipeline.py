"""Load a pipeline file, or report all that is wrong with it."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.validation.checks.field_paths import top_name
from ai_psychiatrist.validation.checks.step_config import MODEL_SCOPES, RuleBlock, StepConfig
from ai_psychiatrist.validation.config.document import (
    Document,
    FileUnusable,
    TooManyProblems,
    document_of,
    read_bounded,
    read_document,
    validate_model,
)
from ai_psychiatrist.validation.config.pipeline_file import PipelineFile, Processing
from ai_psychiatrist.validation.config.problem import LintProblem, unusable_file
from ai_psychiatrist.validation.config.retry_limits import RetryLimits
from ai_psychiatrist.validation.config.step_files import StepReading, parse_json, read_steps
from ai_psychiatrist.validation.config.step_lint import (
    ALWAYS_THERE,
    StepLint,
    described_names,
    given_names,
)
from ai_psychiatrist.validation.nearest import did_you_mean


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


@dataclass(slots=True, kw_only=True)
class PipelineReading:
    """What a pipeline file says, to be used only if its document has no errors."""

    document: Document = field(repr=False)
    file: PipelineFile = field(default_factory=PipelineFile)
    steps: list[StepReading] = field(default_factory=list)

    @property
    def digest(self) -> str:
        """SHA-256 of the pipeline file and its schemas, in hexadecimal."""
        digest = hashlib.sha256(hashlib.sha256(self.document.content).digest())
        for step in self.steps:
            if step.schema is not None:
                digest.update(step.name.encode())
                digest.update(hashlib.sha256(step.schema.content).digest())
        return digest.hexdigest()


def read_pipeline(path: Path) -> PipelineReading:
    """Read a pipeline file and the files that it names, and check them against each other."""
    document = read_document(path, what="the pipeline file")
    reading = PipelineReading(document=document)
    try:
        file = validate_model(document, PipelineFile)
        if file is not None:
            reading.file = file
            reading.steps = read_steps(file, document, path.parent)
            _check_names(reading, path.parent)
    except TooManyProblems:
        pass
    return reading


def lint_pipeline(path: Path) -> list[LintProblem]:
    """Return everything that is wrong with a pipeline file, by line, found in one pass."""
    return read_pipeline(path).document.problems


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


def _check_names(reading: PipelineReading, folder: Path) -> None:
    """Check what steps use against what inputs and earlier steps give."""
    document, processing = reading.document, reading.file.processing
    positions = (position.name for position in processing.positions)
    named = {*processing.inputs, *positions, *_items(processing, document, folder), *ALWAYS_THERE}
    is_listed = "inputs" in processing.model_fields_set
    blocks = [step.config.rules for step in reading.steps if step.config.rules is not None]
    context: dict[str, StepReading | None] = dict.fromkeys(named)
    protected = frozenset(name for block in blocks for name in block.protected)
    used: set[str] = set()
    is_all_seen = True
    for step in reading.steps:
        own = given_names(step)
        lint = StepLint(
            document=document,
            step=step,
            own=own,
            context=dict(context),
            protected=protected,
            is_complete=is_listed or bool(document.reported_in(("processing", "inputs"))),
            used=used,
        )
        is_whole = lint.check()
        is_all_seen = is_all_seen and (is_whole or step.config.scope not in MODEL_SCOPES)
        context |= dict.fromkeys(own.difference(protected & context.keys()), step)
    for position, name in enumerate(processing.inputs):
        if is_all_seen and name not in used:
            message = f"no template, rule or expression uses {name!r}"
            document.warn(("processing", "inputs", position), "unused_input", message)


def _items(processing: Processing, document: Document, folder: Path) -> set[str]:
    """Return the fields of the items; their file is not needed for validation, so it may lack."""
    name, key = processing.items.source, processing.items.key
    if name is None:
        return set()
    try:
        items = document_of(read_bounded(folder / name))
    except FileUnusable as error:
        message = f"the items {name!r} cannot be read: {error}"
        document.warn(("processing", "items", "source"), "items_file", message)
        return set()
    holder = items.value if isinstance(items.value, dict) and key is not None else {}
    listed = holder.get(key)
    if key is not None and not isinstance(listed, list):
        message = f"the items {name!r} have no list {key!r}"
        document.warn(("processing", "items", "key"), "items_file", message)
    fields = listed if isinstance(listed, list) else []
    return {field for item in fields if isinstance(item, dict) for field in item}


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
