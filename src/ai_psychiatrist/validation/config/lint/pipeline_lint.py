"""Read a pipeline file whole, with all that is wrong with it."""

import hashlib
from dataclasses import dataclass, field
from pathlib import Path

from ai_psychiatrist.validation.checks.step_config import MODEL_SCOPES
from ai_psychiatrist.validation.config.document import (
    Document,
    TooManyProblems,
    document_of,
    read_document,
)
from ai_psychiatrist.validation.config.given_file import FileUnusable, read_bounded
from ai_psychiatrist.validation.config.lint.names import ALWAYS_THERE, StepLint, given_names
from ai_psychiatrist.validation.config.lint.steps import StepReading, read_steps
from ai_psychiatrist.validation.config.model_problems import validate_model
from ai_psychiatrist.validation.config.pipeline_file import PipelineFile, Processing
from ai_psychiatrist.validation.config.problem import LintProblem


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
