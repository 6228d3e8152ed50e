"""Join what the sections of a pipeline file say about each step, and read the files it names."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from ai_psychiatrist.validation.checks.step_config import (
    MODEL_SCOPES,
    RuleBlock,
    StepConfig,
    StepExpressions,
    StepScope,
)
from ai_psychiatrist.validation.checks.verdict import PathPart
from ai_psychiatrist.validation.config.document import Document
from ai_psychiatrist.validation.config.lint.node import Node
from ai_psychiatrist.validation.config.lint.schema_fields import SchemaFields
from ai_psychiatrist.validation.config.lint.step_files import SchemaFile, read_schema, read_template
from ai_psychiatrist.validation.config.pipeline_file import PipelineFile, StepEntry
from ai_psychiatrist.validation.config.problem import KeyPath, dotted
from ai_psychiatrist.validation.nearest import did_you_mean

TEMPLATES: Final = ("prompts", "templates")
SCHEMAS: Final = ("schemas", "files")
BLOCKS: Final = ("validation",)
_LINKS: Final[Mapping[KeyPath, str]] = {
    TEMPLATES: "a template",
    SCHEMAS: "a schema",
    BLOCKS: "validation rules",
}
_OF_MODELS: Final = ("prompts", "schemas", "api", "processing")
"""Sections that only pipelines with a model step need."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepReading:
    """One step with the places that its parts were read from."""

    config: StepConfig
    document: Document = field(repr=False)
    location: KeyPath
    """Where the list of steps has it."""
    template: str | None = field(repr=False)
    """The text of its template."""
    schema: SchemaFile | None

    @property
    def name(self) -> str:
        """The step's name."""
        return self.config.name

    @property
    def scope(self) -> StepScope:
        """Who makes its output."""
        return self.config.scope

    @property
    def block(self) -> RuleBlock | None:
        """Its checks."""
        return self.config.rules

    def entry_at(self, *way: str | int) -> Node:
        """Return a place in its entry in the list of steps."""
        return Node.at(self.document, (*self.location, *way))

    def block_at(self, *way: str | int) -> Node:
        """Return a place in its checks."""
        return Node.at(self.document, (*BLOCKS, self.name, *way))

    @property
    def fields(self) -> SchemaFields | None:
        """What its schema says; `None` without one."""
        return None if self.schema is None else self.schema.fields

    def names_at(self, way: Sequence[PathPart]) -> frozenset[str]:
        """Return the fields that the step's schema names inside a place of its answer."""
        return frozenset() if self.fields is None else self.fields.names_at(way)

    def types_at(self, way: Sequence[PathPart]) -> frozenset[str] | None:
        """Return the types that a place of its answer may have; `None` where nothing says so."""
        said = None if self.fields is None else self.fields.types_at(way)
        if said is None and self.block is not None and len(way) == 1 and way[0] in self.block.types:
            return frozenset(self.block.types[str(way[0])])
        return said


def read_steps(file: PipelineFile, document: Document, folder: Path) -> list[StepReading]:
    """Read every step with its files; `folder`: where the pipeline file lies."""
    steps: dict[str, StepReading] = {}
    for position, entry in enumerate(file.pipeline.steps):
        location = ("pipeline", "steps", position)
        if entry.name in steps:
            document.error(location, "duplicate_step", f"a step {entry.name!r} is there already")
        else:
            steps[entry.name] = _read_step(entry, location, file, document, folder)
    _check_sections(steps.values(), document)
    _check_links(steps.values(), file, document)
    return list(steps.values())


def _read_step(
    entry: StepEntry, location: KeyPath, file: PipelineFile, document: Document, folder: Path
) -> StepReading:
    name, prompts, schemas = entry.name, file.prompts, file.schemas
    text = schema = template_path = None
    if name in prompts.templates:
        template_path = folder / prompts.template_dir / prompts.templates[name]
        text = read_template(document, (*TEMPLATES, name), template_path)
        if entry.prompt_template not in (None, prompts.templates[name]):
            message = "the step and prompts.templates name two different templates for it"
            document.error((*location, "prompt_template"), "prompt_template", message)
    if name in schemas.files:
        schema = read_schema(
            document,
            (*SCHEMAS, name),
            folder / schemas.schema_dir / schemas.files[name],
            checks_formats=schemas.check_formats,
        )
    return StepReading(
        config=StepConfig(
            name=name,
            scope=entry.scope,
            template=template_path,
            schema=None if schema is None else schema.fields.document,
            schema_name=None if schema is None else schema.path.name,
            checks_formats=schemas.check_formats,
            rules=file.validation.get(name),
            expressions=_expressions(entry) if entry.scope == "expression" else None,
        ),
        document=document,
        location=location,
        template=text,
        schema=schema,
    )


def _expressions(entry: StepEntry) -> StepExpressions:
    own = StepExpressions.model_fields
    return StepExpressions(**{name: value for name, value in entry if name in own})


def _check_sections(steps: Collection[StepReading], document: Document) -> None:
    """Report sections that are missing; without a model step the pipeline itself is enough."""
    listed = ("pipeline", "steps")
    is_doubtful = bool(document.reported_in(listed))
    asks_models = any(step.scope in MODEL_SCOPES for step in steps) or is_doubtful or not steps
    given = document.value if isinstance(document.value, dict) else {}
    for name in ("pipeline", *(_OF_MODELS if asks_models else ())):
        if name not in given and () not in document.reported_in((name,)):
            document.error((), "missing_section", f"the section {name!r} is missing")
    if not steps and "pipeline" in given and not is_doubtful:
        document.error(listed, "no_steps", "the pipeline has no steps")


def _check_links(steps: Collection[StepReading], file: PipelineFile, document: Document) -> None:
    """Report what model steps lack, each as one problem, and entries that belong to no step."""
    entries = {
        section: {way[0] for way in document.reported_in(section) if len(way) == 1}.union(known)
        for section, known in (
            (TEMPLATES, file.prompts.templates),
            (SCHEMAS, file.schemas.files),
            (BLOCKS, file.validation),
        )
    }
    asked = [step for step in steps if step.scope in MODEL_SCOPES]
    for step in asked:
        lacking = [section for section, known in entries.items() if step.name not in known]
        if lacking:
            parts = (f"{_LINKS[one]} ({dotted((*one, step.name))})" for one in lacking)
            message = f"the step {step.name!r} lacks {', '.join(parts)}"
            document.error(step.location, "four_point_link", message)
    names = [step.name for step in steps]
    for section, known in entries.items():
        without = [step.name for step in asked if step.name not in known]
        for name in sorted(map(str, known.difference(names))):
            message = f"the pipeline has no step {name!r}{_meant(name, names, without)}"
            document.error((*section, name), "orphan", message)


def _meant(name: str, steps: list[str], lacking: list[str]) -> str:
    """Return the step that an entry was most likely meant for; a single one that lacks it is."""
    hint = did_you_mean(name, lacking) or did_you_mean(name, steps)
    if not hint and len(lacking) == 1:
        hint = f"; did you mean {lacking[0]!r}, which has none?"
    return hint or (f"; steps: {', '.join(steps)}" if steps else "")
