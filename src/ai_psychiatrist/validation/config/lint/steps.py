"""Read the steps of a pipeline and what the other sections say about each."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from ai_psychiatrist.validation.checks.verdict import PathPart
from ai_psychiatrist.validation.config.lint.node import Node
from ai_psychiatrist.validation.config.lint.rule_block import read_rule_block
from ai_psychiatrist.validation.config.lint.schema_fields import SchemaFields
from ai_psychiatrist.validation.config.lint.sections import (
    Sections,
    entries_under,
    read_check_formats,
    read_folder,
    report_orphans,
)
from ai_psychiatrist.validation.config.lint.step_files import (
    SchemaFile,
    TemplateFile,
    read_schema,
    read_template,
)
from ai_psychiatrist.validation.config.step import (
    MODEL_SCOPES,
    STEP_NAME,
    RuleBlock,
    StepConfig,
    StepExpressions,
    StepScope,
)

_SCOPES: Final[dict[str, StepScope]] = {
    "llm": "llm",
    "chunk": "llm",
    "expression": "expression",
    "run": "run",
    "fan_out": "fan_out",
}
_STEP_KEYS: Final = frozenset(
    {
        "name",
        "scope",
        "description",
        "prompt_template",
        "expressions",
        "init",
        "loop_until",
        "max_iterations",
        "model",
        "provider",
        "temperature",
        "max_tokens",
        "fan_out",
        "script",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class StepReading:
    """One step with the places that its parts were read from."""

    name: str
    scope: StepScope
    node: Node = field(repr=False)
    template: TemplateFile | None
    schema: SchemaFile | None
    fields: SchemaFields | None
    """What the schema says; `None` without one."""
    checks_formats: bool
    block: RuleBlock | None
    block_node: Node | None = field(repr=False)

    def names_at(self, way: Sequence[PathPart]) -> frozenset[str]:
        """Return the fields that the step's schema names inside a place of its answer."""
        return frozenset() if self.fields is None else self.fields.names_at(way)

    def types_at(self, way: Sequence[PathPart]) -> frozenset[str] | None:
        """Return the types that a place of its answer may have; `None` where nothing says so."""
        said = None if self.fields is None else self.fields.types_at(way)
        if said is None and self.block is not None and len(way) == 1 and way[0] in self.block.types:
            return frozenset(self.block.types[str(way[0])])
        return said

    @property
    def config(self) -> StepConfig:
        """The step without its places."""
        return StepConfig(
            name=self.name,
            scope=self.scope,
            template=None if self.template is None else self.template.path,
            schema=None if self.schema is None else self.schema.document,
            schema_name=None if self.schema is None else self.schema.path.name,
            checks_formats=self.checks_formats,
            rules=self.block,
            expressions=_expressions(self.node) if self.scope == "expression" else None,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Links:
    """The entries of the other sections by step name."""

    templates: dict[str, Node]
    schemas: dict[str, Node]
    blocks: dict[str, Node]
    template_folder: Path
    schema_folder: Path
    checks_formats: bool


def read_steps(sections: Sections, folder: Path) -> list[StepReading]:
    """Read every step; `folder`: where the pipeline file lies."""
    nodes = _step_nodes(sections.pipeline)
    links = _read_links(sections, folder)
    steps = [_read_step(name, node, links) for name, node in nodes.items()]
    for kind in (links.templates, links.schemas, links.blocks):
        lacking = [
            step.name for step in steps if step.scope in MODEL_SCOPES and step.name not in kind
        ]
        report_orphans(kind, steps=[step.name for step in steps], lacking=lacking)
    for name in links.blocks.keys() - nodes.keys():
        # Read for its problems: they come in the same pass as those of its name.
        read_rule_block(links.blocks[name])
    return steps


def _step_nodes(pipeline: Node | None) -> dict[str, Node]:
    if pipeline is None:
        return {}
    pipeline.suspect_unknown_keys({"steps", "name", "description"})
    listed = pipeline.child("steps")
    if listed is None:
        pipeline.error("no_steps", "the pipeline has no list of steps")
        return {}
    nodes: dict[str, Node] = {}
    for node in listed.items(of="steps"):
        name = _step_name(node)
        if name in nodes:
            node.error("duplicate_step", f"a step {name!r} is there already")
        elif name is not None:
            nodes[name] = node
    if listed.value == []:
        listed.error("no_steps", "the pipeline has no steps")
    return nodes


def _step_name(node: Node) -> str | None:
    node.entries(of="settings of a step")
    node.suspect_unknown_keys(_STEP_KEYS)
    child = node.child("name")
    if child is None:
        if isinstance(node.value, dict):
            node.error("missing_key", "the step has no 'name'")
        return None
    name = child.text()
    if name is not None and not STEP_NAME.match(name):
        child.error(
            "step_name",
            f"{name!r} cannot name a step: files are named after it; "
            "use letters, digits, '_', '-' and '.', at most 100",
        )
        return None
    return name


def _read_links(sections: Sections, folder: Path) -> _Links:
    return _Links(
        templates=entries_under(sections.prompts, "templates"),
        schemas=entries_under(sections.schemas, "files"),
        blocks={} if sections.validation is None else sections.validation.entries(of="steps"),
        template_folder=folder / read_folder(sections.prompts, "template_dir", default="templates"),
        schema_folder=folder / read_folder(sections.schemas, "schema_dir", default="schemas"),
        checks_formats=read_check_formats(sections.schemas),
    )


def _read_step(name: str, node: Node, links: _Links) -> StepReading:
    scope = _read_scope(node)
    template, schema = links.templates.get(name), links.schemas.get(name)
    block = links.blocks.get(name)
    if scope in MODEL_SCOPES:
        _check_links(name, node, template=template, schema=schema, block=block)
    _check_prompt_template(node, template)
    file = None
    if schema is not None:
        file = read_schema(schema, links.schema_folder, checks_formats=links.checks_formats)
    return StepReading(
        name=name,
        scope=scope,
        node=node,
        template=None if template is None else read_template(template, links.template_folder),
        schema=file,
        fields=None if file is None else SchemaFields.of(file.document),
        checks_formats=links.checks_formats,
        block=None if block is None else read_rule_block(block),
        block_node=block,
    )


def _expressions(node: Node) -> StepExpressions:
    """Return the expressions of a step, each of which was checked."""

    def listed(key: str) -> dict[str, str]:
        child = node.child(key)
        entries = {} if child is None else child.entries(of="expressions")
        return {name: str(entry.value) for name, entry in entries.items()}

    loop, limit = node.child("loop_until"), node.child("max_iterations")
    return StepExpressions(
        init=listed("init"),
        expressions=listed("expressions"),
        loop_until=None if loop is None else loop.text(),
        max_iterations=None if limit is None else limit.whole_number(),
    )


def _read_scope(node: Node) -> StepScope:
    child = node.child("scope")
    if child is None:
        return "llm"
    if isinstance(child.value, str) and child.value in _SCOPES:
        return _SCOPES[child.value]
    child.error("unknown_scope", f"a step's scope is one of {', '.join(_SCOPES)}")
    return "llm"


def _check_links(
    name: str, node: Node, *, template: Node | None, schema: Node | None, block: Node | None
) -> None:
    """Report all that a model step lacks as one problem."""
    links = {
        f"a template (prompts.templates.{name})": template,
        f"a schema (schemas.files.{name})": schema,
        f"validation rules (validation.{name})": block,
    }
    lacking = [what for what, entry in links.items() if entry is None]
    if lacking:
        node.error("four_point_link", f"the step {name!r} lacks {', '.join(lacking)}")


def _check_prompt_template(node: Node, template: Node | None) -> None:
    child = node.child("prompt_template")
    if child is not None and template is not None and child.value != template.value:
        child.error(
            "prompt_template",
            "the step and prompts.templates name two different templates for it",
        )
