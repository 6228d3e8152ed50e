"""Read a pipeline file whole, with all that is wrong with it."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from ai_psychiatrist.validation.config.document import Document, TooManyProblems, read_document
from ai_psychiatrist.validation.config.lint.field_consistency import check_fields
from ai_psychiatrist.validation.config.lint.inputs import Inputs, read_inputs
from ai_psychiatrist.validation.config.lint.known_names import known_names
from ai_psychiatrist.validation.config.lint.node import Node
from ai_psychiatrist.validation.config.lint.rule_expressions import check_rules
from ai_psychiatrist.validation.config.lint.sections import (
    RunSettings,
    find_sections,
    read_settings,
)
from ai_psychiatrist.validation.config.lint.step_expressions import check_step_expressions
from ai_psychiatrist.validation.config.lint.steps import StepReading, read_steps
from ai_psychiatrist.validation.config.lint.templates import check_variables, read_variables
from ai_psychiatrist.validation.config.problem import LintProblem
from ai_psychiatrist.validation.config.step import MODEL_SCOPES


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineReading:
    """What a pipeline file says, to be used only if `problems` holds no error."""

    problems: list[LintProblem]
    """By line."""
    steps: tuple[StepReading, ...] = ()
    settings: RunSettings | None = None
    digest: str = ""
    """SHA-256 of the pipeline file and its schemas."""


def read_pipeline(path: Path) -> PipelineReading:
    """Read a pipeline file and the files that it names, and check them against each other."""
    document = read_document(path, what="the pipeline file")
    try:
        return _read(document, path)
    except TooManyProblems:
        return PipelineReading(problems=document.problems)


def _read(document: Document, path: Path) -> PipelineReading:
    if not document.is_readable:
        return PipelineReading(problems=document.problems)
    root = Node(value=document.value, path=(), document=document)
    sections = find_sections(root)
    steps = read_steps(sections, path.parent)
    settings = read_settings(sections)
    _cross_check(steps, read_inputs(sections.processing, path.parent))
    return PipelineReading(
        problems=document.problems,
        steps=tuple(steps),
        settings=settings,
        digest=_digest(document.content, steps),
    )


def lint_pipeline(path: Path) -> list[LintProblem]:
    """Return everything that is wrong with a pipeline file, by line, found in one pass."""
    return read_pipeline(path).problems


def _cross_check(steps: list[StepReading], inputs: Inputs) -> None:
    """Check what steps use against what there is for them."""
    used: set[str] = set()
    is_all_seen = True
    for step, names in zip(steps, known_names(steps, inputs), strict=True):
        check_fields(step, names)
        used |= check_rules(step, names) | check_step_expressions(step, names)
        if step.block is not None:
            used |= {*step.block.required, *step.block.types, *step.block.protected}
        template = None if step.template is None else read_variables(step.template)
        if step.template is not None and template is not None:
            check_variables(step.template, template.variables, names)
            used |= template.variables
            is_all_seen = is_all_seen and template.is_whole
        elif step.scope in MODEL_SCOPES:
            is_all_seen = False
    if is_all_seen:
        _check_unused(inputs, used)


def _check_unused(inputs: Inputs, used: set[str]) -> None:
    """Warn of inputs that are declared for nothing: often a template misspells them."""
    listed = [] if inputs.declared is None else inputs.declared.items(of="names of the context")
    for node in listed:
        if isinstance(node.value, str) and node.value not in used:
            node.warn("unused_input", f"no template, rule or expression uses {node.value!r}")


def _digest(content: bytes, steps: list[StepReading]) -> str:
    digest = hashlib.sha256(hashlib.sha256(content).digest())
    for step in steps:
        if step.schema is not None:
            digest.update(step.name.encode())
            digest.update(hashlib.sha256(step.schema.content).digest())
    return digest.hexdigest()
