"""Compare what a step's checks say of its fields with what its schema says."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.validation.checks.fields.paths import FieldPath, parts_of, top_name
from ai_psychiatrist.validation.checks.fields.specs import EnumRule
from ai_psychiatrist.validation.checks.host_fields import SET_ASIDE
from ai_psychiatrist.validation.checks.schema.messages import json_type
from ai_psychiatrist.validation.checks.step_config import RuleBlock
from ai_psychiatrist.validation.config.lint.known_names import KnownNames, described_names
from ai_psychiatrist.validation.config.lint.node import Node
from ai_psychiatrist.validation.config.lint.schema_fields import SchemaFields
from ai_psychiatrist.validation.config.lint.steps import StepReading
from ai_psychiatrist.validation.nearest import did_you_mean

_NUMBERS: Final = frozenset({"number", "integer"})


def check_block(step: StepReading, names: KnownNames) -> None:
    """Report fields that no answer can have, checks that no answer can pass, and rules in doubt."""
    if step.block is None:
        return
    described, fields = described_names(step), step.fields or SchemaFields.of({})
    check = _BlockCheck(step=step, block=step.block, fields=fields)
    check.rules()
    check.paths()
    if described or fields.is_closed:
        check.names(replace(names, answer=described))
    for name, types in step.block.types.items():
        check.types(name, types)
    for name, enum in step.block.enums.items():
        check.enum(name, enum)
    for name in step.block.ranges:
        check.range(name)


@dataclass(frozen=True, slots=True, kw_only=True)
class _BlockCheck:
    step: StepReading
    block: RuleBlock
    fields: SchemaFields

    def rules(self) -> None:
        """Report rules of one name and without a message, and fields inherited for nothing."""
        seen: set[str] = set()
        for position, rule in enumerate(self.block.rules):
            node = self.step.block_at("rules", position)
            if rule.name in seen:
                node.error("duplicate_rule", f"a rule {rule.name!r} is there already")
            seen.add(rule.name)
            if "error" not in rule.model_fields_set:
                node.error("missing_key", "the rule has no 'error'")
            elif not rule.error.strip():
                self.step.block_at("rules", position, "error").error(
                    "wrong_shape", "the text is empty"
                )
        for name in self.block.inherited:
            if name not in self.block.required:
                hint = did_you_mean(name, self.block.required)
                message = f"{name!r} is inherited but not required{hint}"
                self.step.block_at("inherited").error("inherited_not_required", message)

    def paths(self) -> None:
        """Report names of fields that no field can have."""
        for node, name in self._named():
            try:
                FieldPath.parse(name)
            except ConfigurationError as error:
                is_required = node.path[-2] == "required"
                place = self.step.block_at("required") if is_required else node
                place.error("field_path", str(error))

    def names(self, names: KnownNames) -> None:
        """Report fields that nobody gives; `names`: as own those of schema or expressions alone."""
        for node, field in self._named():
            name, is_required = top_name(field), node.path[-2] == "required"
            if is_required and field in self.block.inherited:
                names.check_context(node, name)
                continue
            known = names.answer if is_required else names.all
            if name in SET_ASIDE:
                continue
            if self.fields.is_closed and name not in known:
                hint = did_you_mean(name, known)
                node.error("unknown_field", f"the schema allows no field {name!r}{hint}")
            elif not is_required:
                names.check(node, name)
            elif name in names.context - names.answer:
                node.warn(
                    "required_of_context",
                    f"the context has {name!r} and the schema does not name it; list it under "
                    "'inherited' too if the answer need not repeat it",
                )
            else:
                names.check_own(node, name)
        for name in self.block.protected:
            names.check_context(self.step.block_at("protected"), name)

    def types(self, name: str, types: tuple[str, ...]) -> None:
        """Report types that the schema does not let through."""
        allowed = self.fields.types_at(parts_of(name))
        if allowed is not None and not _widened(allowed) & _widened(types):
            message = (
                f"the schema says {_listed(allowed)}, this {_listed(types)}: no answer is both"
            )
            self.step.block_at("types", name).error("type_conflict", message)

    def enum(self, name: str, enum: EnumRule) -> None:
        """Report values that are of no type of the field, or that the schema does not list."""
        node, allowed = self.step.block_at("enums", name), self._allowed(name)
        strange = [
            value
            for value in enum.values
            if allowed is not None and json_type(value) not in _widened(allowed)
        ]
        if strange and allowed is not None:
            kinds = _listed({json_type(value) for value in strange})
            message = f"{len(strange)} of {len(enum.values)} values are {kinds}, the field is "
            message += (
                f"{_listed(allowed)}; yes, no, on, off, null and numbers are text only in quotes"
            )
            report = node.error if len(strange) == len(enum.values) else node.warn
            report("enum_type", message)
            return
        listed = self.fields.values_at(parts_of(name))
        if listed is None:
            return
        known = [_folded(value, enum) for value in listed]
        strange = [value for value in enum.values if _folded(value, enum) not in known]
        if len(strange) == len(enum.values):
            node.error("enum_conflict", "the schema allows none of these values")
        elif strange:
            shown = ", ".join(repr(value) for value in strange)
            node.warn("enum_conflict", f"the schema does not allow {shown}")

    def range(self, name: str) -> None:
        """Report the range of a field that is no number."""
        allowed = self._allowed(name)
        if allowed is not None and not allowed & _NUMBERS:
            message = f"the field is {_listed(allowed)}; a range needs a number"
            self.step.block_at("ranges", name).error("range_type", message)

    def _allowed(self, name: str) -> frozenset[str] | None:
        """Return the types that a field may have, by the block or else by the schema."""
        if name in self.block.types:
            return frozenset(self.block.types[name])
        return self.fields.types_at(parts_of(name))

    def _named(self) -> Iterable[tuple[Node, str]]:
        """Yield every field that the block speaks of, with its place."""
        for position, name in enumerate(self.block.required):
            yield self.step.block_at("required", position), name
        for section in ("types", "enums", "ranges"):
            for name in getattr(self.block, section):
                yield self.step.block_at(section, name), name


def _folded(value: object, enum: EnumRule) -> object:
    if isinstance(value, str) and enum.match == "casefold":
        return value.strip().casefold()
    return (type(value), value)


def _widened(types: Iterable[str]) -> frozenset[str]:
    """Count whole numbers among the numbers; a number may be a whole one."""
    return _NUMBERS.union(types) if "number" in types else frozenset(types)


def _listed(types: Iterable[str]) -> str:
    return " or ".join(sorted(types))
