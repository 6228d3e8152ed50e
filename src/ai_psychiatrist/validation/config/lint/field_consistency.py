"""Compare what a step's checks say of its fields with what its schema says."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.validation.checks.fields.field_checks import FieldChecks
from ai_psychiatrist.validation.checks.fields.paths import FieldPath, parts_of, top_name
from ai_psychiatrist.validation.checks.fields.specs import EnumRule
from ai_psychiatrist.validation.checks.host_fields import SET_ASIDE
from ai_psychiatrist.validation.checks.schema.messages import json_type
from ai_psychiatrist.validation.config.lint.known_names import KnownNames, described_names
from ai_psychiatrist.validation.config.lint.nearest import did_you_mean
from ai_psychiatrist.validation.config.lint.node import Node
from ai_psychiatrist.validation.config.lint.schema_fields import SchemaFields
from ai_psychiatrist.validation.config.lint.steps import StepReading
from ai_psychiatrist.validation.config.step import RuleBlock

_NUMBERS: Final = frozenset({"number", "integer"})


def check_fields(step: StepReading, names: KnownNames) -> None:
    """Report fields that no answer can have, and checks that no answer can pass."""
    fields = step.fields or SchemaFields.of({})
    if step.block is None or step.block_node is None:
        return
    if _are_paths(step.block_node, step.block):
        _check_compiles(step.block_node, step.block)
    described = described_names(step)
    if described or fields.is_closed:
        given = replace(names, answer=described)
        checker = _NameCheck(names=given, is_closed=fields.is_closed)
        checker.check(step.block_node, step.block)
    _check_types(step.block_node, step.block, fields)
    for name, enum in step.block.enums.items():
        node = _entry(step.block_node, "enums", name)
        if _check_enum(node, enum, _allowed(name, step.block, fields)):
            _check_enum_values(node, enum, fields.values_at(parts_of(name)))
    for name in step.block.ranges:
        _check_range(_entry(step.block_node, "ranges", name), _allowed(name, step.block, fields))


def _are_paths(node: Node, block: RuleBlock) -> bool:
    """Report names of fields that no field can have; return whether there are none."""
    sections = {
        "required": block.required,
        "types": block.types,
        "enums": block.enums,
        "ranges": block.ranges,
    }
    are_paths = True
    for section, names in sections.items():
        for name in names:
            try:
                FieldPath.parse(name)
            except ConfigurationError as error:
                _entry(node, section, name).error("field_path", str(error))
                are_paths = False
    return are_paths


def _check_compiles(node: Node, block: RuleBlock) -> None:
    """Report what only shows when the checks are put together."""
    try:
        FieldChecks(block)
    except ConfigurationError as error:
        node.error("field_checks", str(error))


def _entry(block: Node, section: str, name: str) -> Node:
    child = block.child(section)
    inner = None if child is None else child.child(name)
    return inner or child or block


@dataclass(frozen=True, slots=True, kw_only=True)
class _NameCheck:
    names: KnownNames
    """With the fields of the schema or the expressions alone as the step's own."""
    is_closed: bool
    """Whether there can be no others."""

    def check(self, block: Node, rules: RuleBlock) -> None:
        required = block.child("required")
        for node in required.items(of="field names") if required and rules.required else ():
            if node.value in rules.inherited:
                self.names.check_context(node, top_name(str(node.value)))
            else:
                self._required(node, top_name(str(node.value)))
        for section in ("types", "enums", "ranges"):
            child = block.child(section)
            if child is not None and isinstance(child.value, dict):
                for field, node in child.entries(of="fields").items():
                    self._checked(node, top_name(field))
        protected = block.child("protected")
        for name in rules.protected:
            self.names.check_context(protected or block, name)

    def _required(self, node: Node, name: str) -> None:
        if name in SET_ASIDE or self._is_refused(node, name, self.names.answer):
            return
        if name in self.names.context - self.names.answer:
            node.warn(
                "required_of_context",
                f"the context has {name!r} and the schema does not name it; list it under "
                "'inherited' too if the answer need not repeat it",
            )
        else:
            self.names.check_own(node, name)

    def _checked(self, node: Node, name: str) -> None:
        if name not in SET_ASIDE and not self._is_refused(node, name, self.names.all):
            self.names.check(node, name)

    def _is_refused(self, node: Node, name: str, known: frozenset[str]) -> bool:
        """Report a field that a closed schema does not let through."""
        if not self.is_closed or name in known:
            return False
        hint = did_you_mean(name, known)
        node.error("unknown_field", f"the schema allows no field {name!r}{hint}")
        return True


def _check_types(block: Node, rules: RuleBlock, fields: SchemaFields) -> None:
    for name, types in rules.types.items():
        allowed = fields.types_at(parts_of(name))
        if allowed is not None and not _widened(allowed) & _widened(frozenset(types)):
            _entry(block, "types", name).error(
                "type_conflict",
                f"the schema says {_listed(allowed)}, this {_listed(types)}: no answer is both",
            )


def _allowed(name: str, rules: RuleBlock, fields: SchemaFields) -> frozenset[str] | None:
    """Return the types that a field may have, by the block or else by the schema."""
    if name in rules.types:
        return frozenset(rules.types[name])
    return fields.types_at(parts_of(name))


def _check_enum(node: Node, enum: EnumRule, allowed: frozenset[str] | None) -> bool:
    """Report values of types that the field never has; return whether there are none."""
    if allowed is None:
        return True
    strange = [value for value in enum.values if json_type(value) not in _widened(allowed)]
    if not strange:
        return True
    kinds = _listed({json_type(value) for value in strange})
    message = f"{len(strange)} of {len(enum.values)} values are {kinds}, the field is "
    message += f"{_listed(allowed)}; yes, no, on, off, null and numbers are text only in quotes"
    report = node.error if len(strange) == len(enum.values) else node.warn
    report("enum_type", message)
    return False


def _check_enum_values(node: Node, enum: EnumRule, listed: Sequence[object] | None) -> None:
    if listed is None:
        return
    known = [_folded(value, enum) for value in listed]
    strange = [value for value in enum.values if _folded(value, enum) not in known]
    if len(strange) == len(enum.values):
        node.error("enum_conflict", "the schema allows none of these values")
    elif strange:
        shown = ", ".join(repr(value) for value in strange)
        node.warn("enum_conflict", f"the schema does not allow {shown}")


def _folded(value: object, enum: EnumRule) -> object:
    if isinstance(value, str) and enum.match == "casefold":
        return value.strip().casefold()
    return (type(value), value)


def _check_range(node: Node, allowed: frozenset[str] | None) -> None:
    if allowed is not None and not allowed & _NUMBERS:
        node.error("range_type", f"the field is {_listed(allowed)}; a range needs a number")


def _widened(types: frozenset[str]) -> frozenset[str]:
    """Count whole numbers among the numbers; a number may be a whole one."""
    return types | _NUMBERS if "number" in types else types


def _listed(types: frozenset[str] | set[str] | tuple[str, ...]) -> str:
    return " or ".join(sorted(types))
