"""Join what the sections of a pipeline file say about each step, and read the files it names."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from json import JSONDecodeError
from pathlib import Path
from typing import Final

from ai_psychiatrist.validation.checks.coercion.coercer import Coercer
from ai_psychiatrist.validation.checks.schema.compiled import CompiledSchema
from ai_psychiatrist.validation.checks.schema.references import ALL_TYPES, SchemaInvalid
from ai_psychiatrist.validation.checks.step_config import MODEL_SCOPES, StepConfig, StepExpressions
from ai_psychiatrist.validation.checks.verdict import PathPart
from ai_psychiatrist.validation.config.document import (
    MOST_TEMPLATE_BYTES,
    Document,
    FileUnusable,
    decoded,
    read_bounded,
    with_line_feeds,
)
from ai_psychiatrist.validation.config.pipeline_file import PipelineFile, StepEntry
from ai_psychiatrist.validation.config.problem import KeyPath, dotted
from ai_psychiatrist.validation.nearest import did_you_mean

TEMPLATES: Final = ("prompts", "templates")
_SCHEMAS: Final = ("schemas", "files")
_STEPS: Final = ("pipeline", "steps")
_LINKS: Final[Mapping[KeyPath, str]] = {
    TEMPLATES: "a template",
    _SCHEMAS: "a schema",
    ("validation",): "validation rules",
}
_OF_MODELS: Final = ("prompts", "schemas", "api", "processing")
"""Sections that only pipelines with a model step need."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaFile:
    """A schema that compiles."""

    path: Path
    content: bytes = field(repr=False)
    compiled: CompiledSchema = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class StepReading:
    """One step with the files that it names."""

    config: StepConfig
    location: KeyPath
    """Where the list of steps has it."""
    template: str | None = field(repr=False)
    """The text of its template."""
    schema: SchemaFile | None

    @property
    def name(self) -> str:
        """The step's name."""
        return self.config.name

    def names_at(self, way: Sequence[PathPart]) -> frozenset[str]:
        """Return the fields that its schema names inside a place of its answer."""
        return frozenset() if self.schema is None else self.schema.compiled.names_at(way)

    def types_at(self, way: Sequence[PathPart]) -> frozenset[str] | None:
        """Return the JSON types that a place may hold; `None` where its schema does not say."""
        types = ALL_TYPES if self.schema is None else self.schema.compiled.types_at(way)
        return types if types and types != ALL_TYPES else None


def read_steps(file: PipelineFile, document: Document, folder: Path) -> list[StepReading]:
    """Read every step with its files; `folder`: where the pipeline file lies."""
    steps: dict[str, StepReading] = {}
    for position, entry in enumerate(file.pipeline.steps):
        location = (*_STEPS, position)
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
    text = schema = path = None
    if name in prompts.templates:
        path = folder / prompts.template_dir / prompts.templates[name]
        text = _read_template(document, (*TEMPLATES, name), path)
        if entry.prompt_template not in (None, prompts.templates[name]):
            message = "the step and prompts.templates name two different templates for it"
            document.error((*location, "prompt_template"), "prompt_template", message)
    if name in schemas.files:
        place, checks_formats = folder / schemas.schema_dir, schemas.check_formats
        schema = _read_schema(
            document, (*_SCHEMAS, name), place / schemas.files[name], checks_formats=checks_formats
        )
    own = StepExpressions.model_fields
    expressions = StepExpressions(**{key: value for key, value in entry if key in own})
    config = StepConfig(
        name=name,
        scope=entry.scope,
        template=path,
        schema=None if schema is None else schema.compiled.document,
        schema_name=None if schema is None else schema.path.name,
        checks_formats=schemas.check_formats,
        rules=file.validation.get(name),
        expressions=expressions if entry.scope == "expression" else None,
    )
    return StepReading(config=config, location=location, template=text, schema=schema)


def _read_template(document: Document, location: KeyPath, path: Path) -> str | None:
    """Read a template; what is wrong is reported at `location`, which names it."""
    try:
        return decoded(read_bounded(path, most_bytes=MOST_TEMPLATE_BYTES))
    except FileUnusable as error:
        shown = f"{path.parent.name}/{path.name}"
        document.error(location, "template_file", f"the template {shown!r} cannot be used: {error}")
        return None


def _read_schema(
    document: Document, location: KeyPath, path: Path, *, checks_formats: bool
) -> SchemaFile | None:
    """Read and compile a schema; what is wrong is reported at `location`, which names it."""
    try:
        content = read_bounded(path)
        schema = parse_json(content)
    except FileUnusable as error:
        shown = f"{path.parent.name}/{path.name}"
        document.error(location, "schema_file", f"the schema {shown!r} cannot be used: {error}")
        return None
    if not isinstance(schema, dict | bool):
        message = f"the schema {path.name!r} is neither an object nor true or false"
        document.error(location, "schema_invalid", message)
        return None
    try:
        compiled = CompiledSchema(schema, name=path.name)
        Coercer(compiled)
    except SchemaInvalid as error:
        document.error(location, "schema_invalid", str(error))
        return None
    for unknown in sorted(compiled.unchecked_formats()) if checks_formats else ():
        message = f"{unknown!r} is no format of the standard: it is not checked"
        document.warn(location, "unknown_format", message)
    for warning in compiled.warnings:
        document.warn(location, "unknown_keyword", warning)
    return SchemaFile(
        path=path,
        content=with_line_feeds(content),
        compiled=compiled,
    )


def parse_json(content: bytes) -> object:
    """Return what a file of JSON holds; raises `FileUnusable` for anything else."""
    try:
        return json.loads(
            decoded(content), object_pairs_hook=_without_duplicates, parse_constant=_refuse_constant
        )
    except JSONDecodeError as error:
        msg = f"it is no JSON, line {error.lineno} column {error.colno}: {error.msg}"
    except RecursionError:
        msg = "it is nested too deeply"
    except ValueError:
        msg = "it holds a number of too many digits"
    raise FileUnusable(msg)


def _without_duplicates(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found: dict[str, object] = {}
    for key, value in pairs:
        if key in found:
            msg = f"the key {key!r} stands twice in one object"
            raise FileUnusable(msg)
        found[key] = value
    return found


def _refuse_constant(name: str) -> object:
    msg = f"{name} is no JSON number"
    raise FileUnusable(msg)


def _check_sections(steps: Collection[StepReading], document: Document) -> None:
    """Report sections that are missing; without a model step the pipeline itself is enough."""
    is_doubtful = bool(document.reported_in(_STEPS))
    asks_models = any(_is_asked(step) for step in steps) or is_doubtful or not steps
    given = document.value if isinstance(document.value, dict) else {}
    for name in ("pipeline", *(_OF_MODELS if asks_models else ())):
        if name not in given and () not in document.reported_in((name,)):
            document.error((), "missing_section", f"the section {name!r} is missing")
    if not steps and "pipeline" in given and not is_doubtful:
        document.error(_STEPS, "no_steps", "the pipeline has no steps")


def _check_links(steps: Collection[StepReading], file: PipelineFile, document: Document) -> None:
    """Report what model steps lack, each as one problem, and entries that belong to no step."""
    given: list[Mapping[str, object]] = [
        *(file.prompts.templates, file.schemas.files, file.validation)
    ]
    entries = {
        section: {way[0] for way in document.reported_in(section) if len(way) == 1}.union(known)
        for section, known in zip(_LINKS, given, strict=True)
    }
    asked = [step for step in steps if _is_asked(step)]
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


def _is_asked(step: StepReading) -> bool:
    return step.config.scope in MODEL_SCOPES


def _meant(name: str, steps: list[str], lacking: list[str]) -> str:
    """Return the step that an entry was most likely meant for; a single one that lacks it is."""
    hint = did_you_mean(name, lacking) or did_you_mean(name, steps)
    if not hint and len(lacking) == 1:
        hint = f"; did you mean {lacking[0]!r}, which has none?"
    return hint or (f"; steps: {', '.join(steps)}" if steps else "")
