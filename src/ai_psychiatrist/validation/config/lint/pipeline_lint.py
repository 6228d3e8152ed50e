"""Read a pipeline file whole, with all that is wrong with it."""

import hashlib
from dataclasses import dataclass, field
from pathlib import Path

from ai_psychiatrist.validation.checks.step_config import MODEL_SCOPES
from ai_psychiatrist.validation.config.document import Document, TooManyProblems, read_document
from ai_psychiatrist.validation.config.lint.field_consistency import check_block
from ai_psychiatrist.validation.config.lint.inputs import Inputs, declared_names
from ai_psychiatrist.validation.config.lint.known_names import known_names
from ai_psychiatrist.validation.config.lint.rule_expressions import check_rules
from ai_psychiatrist.validation.config.lint.step_expressions import check_step_expressions
from ai_psychiatrist.validation.config.lint.steps import StepReading, read_steps
from ai_psychiatrist.validation.config.lint.templates import check_variables, read_variables
from ai_psychiatrist.validation.config.model_problems import validate_model
from ai_psychiatrist.validation.config.pipeline_file import PipelineFile
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
            inputs = declared_names(file.processing, document, path.parent)
            _cross_check(reading, inputs)
    except TooManyProblems:
        pass
    return reading


def lint_pipeline(path: Path) -> list[LintProblem]:
    """Return everything that is wrong with a pipeline file, by line, found in one pass."""
    return read_pipeline(path).document.problems


def _cross_check(reading: PipelineReading, inputs: Inputs) -> None:
    """Check what steps use against what there is for them."""
    used: set[str] = set()
    is_all_seen = True
    for step, names in zip(reading.steps, known_names(reading.steps, inputs), strict=True):
        check_block(step, names)
        used |= check_rules(step, names) | check_step_expressions(step, names)
        if step.block is not None:
            used |= {*step.block.required, *step.block.types, *step.block.protected}
        template = read_variables(step)
        if template is not None:
            check_variables(step, template.variables, names)
            used |= template.variables
            is_all_seen = is_all_seen and template.is_whole
        elif step.scope in MODEL_SCOPES:
            is_all_seen = False
    if is_all_seen:
        _check_unused(reading, used)


def _check_unused(reading: PipelineReading, used: set[str]) -> None:
    """Warn of inputs that are declared for nothing: often a template misspells them."""
    for position, name in enumerate(reading.file.processing.inputs):
        if name not in used:
            location = ("processing", "inputs", position)
            message = f"no template, rule or expression uses {name!r}"
            reading.document.warn(location, "unused_input", message)
