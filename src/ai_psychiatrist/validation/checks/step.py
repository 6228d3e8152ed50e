"""One answer's way through the checks of a step: text, object, schema, fields, rules."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Self

from ai_psychiatrist.domain.errors import ConfigurationError, OutputRejected
from ai_psychiatrist.validation.checks.accumulation import accumulated, is_protected
from ai_psychiatrist.validation.checks.coercion.coercer import Coercer
from ai_psychiatrist.validation.checks.fields.checks import FieldChecks
from ai_psychiatrist.validation.checks.fields.paths import parts_of, top_name
from ai_psychiatrist.validation.checks.host_fields import (
    ALWAYS_PROTECTED,
    METADATA,
    RETRY_COUNT,
    SET_ASIDE,
    UNIT_ID,
    host_names,
)
from ai_psychiatrist.validation.checks.refusals import refusal, unread_answer
from ai_psychiatrist.validation.checks.rules import RuleSet
from ai_psychiatrist.validation.checks.schema.compiled import CompiledSchema, non_finite_errors
from ai_psychiatrist.validation.checks.verdict import Coercion, FailureStage, UnitError, Verdict
from ai_psychiatrist.validation.config.canonical import canonical_json
from ai_psychiatrist.validation.config.step import MODEL_SCOPES, RuleBlock, Schema, StepConfig
from ai_psychiatrist.validation.expressions import Scope, compile_expression
from ai_psychiatrist.validation.reply.limits import ParseLimits
from ai_psychiatrist.validation.reply.parse import parse_object

MAX_DEPTH: Final = 200
DEFAULT_LIMITS: Final = ParseLimits(max_depth=MAX_DEPTH)

HostFunctions = Mapping[str, Callable[..., object]]

_NOTHING: Final[Mapping[str, object]] = {}
_NO_FUNCTIONS: Final[HostFunctions] = {}
_NONE: Final[tuple[UnitError, ...]] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What belongs to a unit beside its answer."""

    context: Mapping[str, object] = field(default_factory=dict, repr=False)
    """What was known before the answer: earlier steps' output and the unit's own fields."""
    meta: Mapping[str, object] = field(default_factory=dict, repr=False)
    """`unit_id`, `retry_count` and `_metadata`, as far as they are known."""
    host: HostFunctions = field(default_factory=dict, repr=False)
    """Functions that rules may call beside the fixed table."""


NO_SURROUNDINGS: Final = Surroundings()


@dataclass(frozen=True, slots=True, kw_only=True)
class StructureFinding:
    """An answer after coercion, and what schema and fields say against it."""

    value: dict[str, object] = field(repr=False)
    coercions: tuple[Coercion, ...] = ()
    errors: tuple[UnitError, ...] = ()
    warnings: tuple[UnitError, ...] = ()


class StepValidator:
    """The compiled checks of one step."""

    def __init__(self, step: StepConfig, *, limits: ParseLimits = DEFAULT_LIMITS) -> None:
        """Compile a step that a model answers.

        Raises `ConfigurationError` when the step has no schema or no rules, or one of them is
        wrong.
        """
        schema, block = _schema_of(step), _rules_of(step)
        self.name = step.name
        self.limits = limits
        self.schema_digest = _digest(
            schema if step.checks_formats else {"schema": schema, "checks_formats": False}
        )
        self.ruleset_digest = _digest(block)
        self.known_fields = _known_fields(schema, block)
        """Fields of an answer that schema or checks name."""
        self._schema = CompiledSchema(
            schema, name=step.schema_name or step.name, checks_formats=step.checks_formats
        )
        required = frozenset(block.required) - frozenset(block.inherited)
        self._coercer = Coercer(
            self._schema, block.coerce, required=frozenset(map(top_name, required))
        )
        self._fields = FieldChecks.compile(
            required=block.required,
            types=block.types,
            enums=block.enums,
            ranges=block.ranges,
            inherited=block.inherited,
            schema=self._schema,
            profile=block.coerce,
        )
        self._rules = RuleSet.compile(block.rules) if block.rules else None
        self._protected = ALWAYS_PROTECTED | frozenset(block.protected)
        self._names = self._schema.field_names() | _names_of_checks(block)
        self._host_names = host_names(self.known_fields)
        self._injected = tuple(sorted(self.known_fields & SET_ASIDE))

    @classmethod
    def compile(cls, step: StepConfig, *, limits: ParseLimits = DEFAULT_LIMITS) -> Self:
        """Return the checks of a step; raises `ConfigurationError` as the constructor does."""
        return cls(step, limits=limits)

    def check_text(
        self,
        answer: str,
        *,
        context: Mapping[str, object] | None = None,
        meta: Mapping[str, object] | None = None,
        host: HostFunctions | None = None,
    ) -> Verdict:
        """Check a model's own words; fields that a host added are no part of the answer.

        `meta` holds `unit_id` and `retry_count`, as far as they are known. An answer that names
        another unit counts for the one in `meta` and carries a warning.
        """
        try:
            parsed = parse_object(answer, self.limits)
        except OutputRejected as rejection:
            return unread_answer(answer, rejection, self.limits).verdict
        around = Surroundings(
            context=context or _NOTHING, meta=meta or _NOTHING, host=host or _NO_FUNCTIONS
        )
        return replace(self.check_finite(parsed.value, around), repaired=parsed.repaired)

    def check_object(
        self,
        value: dict[str, object],
        *,
        context: Mapping[str, object] | None = None,
        meta: Mapping[str, object] | None = None,
        host: HostFunctions | None = None,
    ) -> Verdict:
        """Check an answer that is an object already; the object itself is never changed."""
        non_finite = tuple(non_finite_errors(value))
        if non_finite:
            return Verdict(value=value, stage=FailureStage.SCHEMA_VALIDATION, errors=non_finite)
        around = Surroundings(
            context=context or _NOTHING, meta=meta or _NOTHING, host=host or _NO_FUNCTIONS
        )
        return self.check_finite(value, around)

    def check_finite(self, value: dict[str, object], around: Surroundings) -> Verdict:
        """Check an object whose numbers are known to be finite."""
        try:
            return self.check_rules(self.check_structure(value, around), around)
        except Exception as error:  # noqa: BLE001 - one unit must not end the others
            return internal_error(error)

    def check_structure(
        self, value: dict[str, object], around: Surroundings = NO_SURROUNDINGS
    ) -> StructureFinding:
        """Coerce an answer and check it by schema and fields."""
        own = self._without_host_fields(value)
        warnings = () if own is value else self._host_clashes(value, around)
        given = self._with_injected(own, around.meta)
        if self._schema.is_valid(given) and not self._coercer.is_wrapped(given):
            coerced = self._coercer.normalise_whole_numbers(given)
            kept, schema_errors = coerced.value, list(_NONE)
        else:
            coerced = self._coercer.coerce(given)
            # An unwrapped answer can bring fields of a host with it.
            warnings = (*warnings, *self._host_clashes(coerced.value, around))
            kept = self._with_injected(self._without_host_fields(coerced.value), around.meta)
            schema_errors = self._schema.errors(kept)
        normal = self._fields.normalise(kept)
        if normal.coercions:
            schema_errors = self._schema.errors(normal.value)
        return StructureFinding(
            value=self._without_host_fields(normal.value),
            coercions=(*coerced.coercions, *normal.coercions),
            errors=(
                *schema_errors,
                *coerced.errors,
                *self._fields.apply(normal.value, around.context),
            ),
            warnings=warnings,
        )

    def check_rules(
        self, finding: StructureFinding, around: Surroundings = NO_SURROUNDINGS
    ) -> Verdict:
        """Apply the rules to an answer whose structure is sound, and return the verdict."""
        value, coercions = finding.value, finding.coercions
        inputs = _inputs(around)
        warnings = (*finding.warnings, *self._clashes(value, inputs))
        if finding.errors or self._rules is None:
            stage = FailureStage.SCHEMA_VALIDATION if finding.errors else None
            return Verdict(
                value=value,
                stage=stage,
                errors=finding.errors,
                warnings=warnings,
                coercions=coercions,
            )
        outcome = self._rules.apply(
            Scope(
                out=value,
                inp=inputs,
                meta=around.meta,
                protected=self._protected_in(inputs),
                host=around.host,
            )
        )
        errors, stage = tuple(outcome.errors), None
        if outcome.is_over_budget:
            errors, stage = (*errors, _OVER_BUDGET), FailureStage.PIPELINE_INTERNAL
        elif errors:
            stage = FailureStage.VALIDATION
        return Verdict(
            value=value,
            stage=stage,
            errors=errors,
            warnings=(*warnings, *outcome.warnings),
            coercions=coercions,
            skipped_rules=tuple(outcome.skipped),
        )

    def field_of(self, error: UnitError) -> str:
        """Return where an error is, for a table: items alike, and no name of the answer's own."""
        keys = ["[*]" if isinstance(part, int) else self._named(part) for part in error.parts]
        return "".join(keys).removeprefix(".") or "(whole)"

    def _named(self, key: str) -> str:
        return f".{key}" if key in self._names else ".(unknown)"

    def accumulated(
        self, context: Mapping[str, object], answer: Mapping[str, object]
    ) -> dict[str, object]:
        """Return the context of the next step: this one's, and over it what an answer found."""
        return accumulated(context, answer, protected=self._protected)

    def _without_host_fields(self, value: dict[str, object]) -> dict[str, object]:
        """Return the answer alone; the argument itself when it holds nothing else."""
        if self._host_names.isdisjoint(value):
            return value
        return {name: inner for name, inner in value.items() if name not in self._host_names}

    def _host_clashes(
        self, value: Mapping[str, object], around: Surroundings
    ) -> tuple[UnitError, ...]:
        """Return a warning for each field of the host that an answer gives another value."""
        counted = {RETRY_COUNT: value[RETRY_COUNT]} if RETRY_COUNT in value else {}
        clashes = self._clashes(counted, _inputs(around)) if counted else _NONE
        return (*_unit_mismatch(value, around.meta), *clashes)

    def _with_injected(
        self, value: dict[str, object], meta: Mapping[str, object]
    ) -> dict[str, object]:
        """Put back what the schema asks for of a host's fields."""
        if not self._injected:
            return value
        return value | {name: meta[name] for name in self._injected if name in meta}

    def _clashes(
        self, answer: Mapping[str, object], inputs: Mapping[str, object]
    ) -> tuple[UnitError, ...]:
        """Return a warning for each protected name to which the answer gives another value."""
        if inputs.keys().isdisjoint(answer):
            return _NONE
        return tuple(
            UnitError(
                parts=(name,),
                rule="protected_name",
                message=f"the answer gives {name!r} another value than the input, which counts",
            )
            for name, value in answer.items()
            if name in inputs
            and is_protected(name, self._protected)
            and _differ(value, inputs[name])
        )

    def _protected_in(self, inputs: Mapping[str, object]) -> frozenset[str]:
        hidden = [name for name in inputs if name.startswith("_")]
        return self._protected.union(hidden) if hidden else self._protected


_OVER_BUDGET: Final = UnitError(
    rule="budget_exceeded", message="the rules need more steps for this unit than are allowed"
)


def internal_error(error: Exception) -> Verdict:
    """Return the verdict on a unit whose check failed itself: the error's type and no more."""
    message = f"the check failed with {type(error).__name__}"
    return refusal(FailureStage.PIPELINE_INTERNAL, "internal_error", message)


def _schema_of(step: StepConfig) -> Schema:
    if step.scope not in MODEL_SCOPES:
        msg = f"step {step.name!r} has the scope {step.scope!r}: no model answers it"
        raise ConfigurationError(msg)
    if step.schema is None:
        msg = f"step {step.name!r} has no schema; name one under 'schemas.files'"
        raise ConfigurationError(msg)
    return step.schema


def _rules_of(step: StepConfig) -> RuleBlock:
    if step.rules is None:
        msg = f"step {step.name!r} has no rules; write them under 'validation.{step.name}'"
        raise ConfigurationError(msg)
    return step.rules


def _known_fields(schema: Schema, block: RuleBlock) -> frozenset[str]:
    named: set[str] = {*block.required, *block.types, *block.enums, *block.ranges}
    if isinstance(schema, Mapping):
        for keyword in ("properties", "required"):
            found = schema.get(keyword)
            if isinstance(found, Mapping | list | tuple):
                named.update(found)
    return frozenset(named)


def _names_of_checks(block: RuleBlock) -> frozenset[str]:
    """Return every name that checks and rules may report, at whatever depth it stands."""
    fields = (*block.required, *block.types, *block.enums, *block.ranges)
    names = {part for field in fields for part in parts_of(field) if isinstance(part, str)}
    reads = [read for spec in block.rules for read in compile_expression(spec.expr).reads]
    names |= {key for read in reads for key in (read.name, *read.keys) if isinstance(key, str)}
    return frozenset(names | SET_ASIDE | {RETRY_COUNT, "error"})


def _digest(config: object) -> str:
    """Return the SHA-256 of a configuration, whatever the order of its keys."""
    return hashlib.sha256(canonical_json(config)).hexdigest()


def _inputs(around: Surroundings) -> Mapping[str, object]:
    """Return the context together with what names the unit."""
    named = {
        name: around.meta[name] for name in (UNIT_ID, RETRY_COUNT, METADATA) if name in around.meta
    }
    return {**around.context, **named} if named else around.context


def _differ(one: object, other: object) -> bool:
    """Tell values apart that are equal in Python alone, such as 1 and true."""
    return one != other or type(one) is not type(other)


def _unit_mismatch(
    answer: Mapping[str, object], meta: Mapping[str, object]
) -> tuple[UnitError, ...]:
    if UNIT_ID not in answer or UNIT_ID not in meta or answer[UNIT_ID] == meta[UNIT_ID]:
        return ()
    if str(answer[UNIT_ID]) == str(meta[UNIT_ID]):
        return ()
    message = "the answer names another unit than the one that was asked, which counts"
    return (UnitError(parts=(UNIT_ID,), rule="unit_id_mismatch", message=message),)
