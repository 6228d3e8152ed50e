"""One answer's way through the checks of a step: text, object, schema, fields, rules."""

import hashlib
import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Final

from pydantic_core import to_jsonable_python

from ai_psychiatrist.domain.errors import ConfigurationError, OutputRejected
from ai_psychiatrist.domain.failures import FailureStage, RejectionCode
from ai_psychiatrist.validation.checks.coercion.coercer import Coercer
from ai_psychiatrist.validation.checks.field_checks import FieldChecks
from ai_psychiatrist.validation.checks.field_paths import parts_of, top_name
from ai_psychiatrist.validation.checks.host_fields import (
    RETRY_COUNT,
    SET_ASIDE,
    HostFunctions,
    InjectedFields,
    UnitSurroundings,
    accumulated,
)
from ai_psychiatrist.validation.checks.rules import PASSED, RuleSet
from ai_psychiatrist.validation.checks.schema.compiled import CompiledSchema, non_finite_errors
from ai_psychiatrist.validation.checks.step_config import (
    MODEL_SCOPES,
    RuleBlock,
    Schema,
    StepConfig,
    StepExpressions,
)
from ai_psychiatrist.validation.checks.verdict import UnitError, Verdict, guarded, refusal
from ai_psychiatrist.validation.expressions import LOOP, Scope, compile_expression
from ai_psychiatrist.validation.reply.limits import ParseLimits
from ai_psychiatrist.validation.reply.parse import parse_object

MAX_DEPTH: Final = 200
DEFAULT_LIMITS: Final = ParseLimits(max_depth=MAX_DEPTH)


class StepValidator:
    """The compiled checks of one step."""

    def __init__(self, step: StepConfig, *, limits: ParseLimits = DEFAULT_LIMITS) -> None:
        """Compile a step; what expressions find needs neither schema nor rules.

        Raises `ConfigurationError` when the step has no schema or no rules, or one of them is
        wrong.
        """
        schema, block = _schema_and_rules(step)
        self.name = step.name
        self.limits = limits
        self.schema_digest = _digest(
            schema if step.checks_formats else {"schema": schema, "checks_formats": False}
        )
        self.ruleset_digest = _digest(_ruleset(block, step.expressions))
        self.known_fields = _known_fields(schema, block)
        """Fields of an answer that schema or checks name."""
        self._schema = CompiledSchema(
            schema, name=step.schema_name or step.name, checks_formats=step.checks_formats
        )
        self.warnings = self._schema.warnings
        """Keywords of the schema that look wrong; it is used all the same."""
        required = frozenset(block.required) - frozenset(block.inherited)
        self._coercer = Coercer(
            self._schema, block.coerce, required=frozenset(map(top_name, required))
        )
        self._fields = FieldChecks(block, self._schema)
        self._rules = RuleSet(block.rules) if block.rules else None
        self._names = self._schema.field_names() | _names_of_checks(block) | _expressions_of(step)
        self._host = InjectedFields(
            self.known_fields,
            protected=frozenset(block.protected),
            is_closed=isinstance(schema, Mapping) and schema.get("additionalProperties") is False,
        )

    def check_text(
        self,
        answer: str,
        *,
        context: Mapping[str, object] | None = None,
        meta: Mapping[str, object] | None = None,
    ) -> Verdict:
        """Check a model's own words; fields that a host added are no part of the answer.

        `meta` holds `unit_id` and `retry_count`, as far as they are known. An answer that names
        another unit counts for the one in `meta` and carries a warning.
        """
        around = UnitSurroundings.of(context, meta)
        return guarded(self.apply_rules, guarded(self.text_structure, answer, around), around)

    def check_object(
        self,
        value: dict[str, object],
        *,
        context: Mapping[str, object] | None = None,
        meta: Mapping[str, object] | None = None,
        host: HostFunctions | None = None,
    ) -> Verdict:
        """Check an answer that is an object already; the object itself is never changed."""
        if (refused := _not_finite(value)) is not None:
            return refused
        around = UnitSurroundings.of(context, meta, host)
        return guarded(self.apply_rules, guarded(self.structure, value, around), around)

    def text_structure(self, answer: str, around: UnitSurroundings) -> Verdict:
        """Return what coercion, schema and fields say about the answer in a model's own words."""
        try:
            parsed = parse_object(answer, self.limits)
        except OutputRejected as rejection:
            return unread_answer(answer, rejection, self.limits)
        return replace(self.structure(parsed.value, around), repaired=parsed.repaired)

    def structure(self, value: dict[str, object], around: UnitSurroundings) -> Verdict:
        """Return what coercion, schema and fields say about an answer of finite numbers."""
        own = self._host.strip(value, around.inputs)
        warnings = [] if own is value else self._host.clashes(value, around)
        coerced = self._coercer.coerce(self._host.restore(own, around.meta))
        kept = coerced.value
        if not coerced.is_sound:
            # An unwrapped answer can bring fields of a host with it.
            warnings += self._host.clashes(kept, around)
            kept = self._host.restore(self._host.strip(kept, around.inputs), around.meta)
        fields = self._fields.check(kept, around.inputs)
        is_sound = coerced.is_sound and not fields.coercions
        schema_errors = () if is_sound else self._schema.errors(fields.value)
        errors = (*schema_errors, *coerced.errors, *fields.errors)
        answer = self._host.strip(fields.value, around.inputs)
        return Verdict(
            value=answer,
            stage=FailureStage.SCHEMA_VALIDATION if errors else None,
            errors=errors,
            warnings=(*warnings, *self._host.overridden(answer, around.inputs)),
            coercions=(*coerced.coercions, *fields.coercions),
        )

    def apply_rules(self, found: Verdict, around: UnitSurroundings) -> Verdict:
        """Return the verdict on an answer of this structure; only a sound one meets the rules."""
        if found.stage is not None or found.value is None or self._rules is None:
            return found
        outcome = self._rules.apply(
            Scope(
                out=found.value,
                inp=around.inputs,
                meta=around.meta,
                protected=self._host.protected_in(around.inputs),
                host=around.host,
            )
        )
        if outcome is PASSED:
            return found
        errors, stage = outcome.errors, FailureStage.VALIDATION if outcome.errors else None
        if outcome.is_over_budget:
            errors, stage = (*errors, _OVER_BUDGET), FailureStage.PIPELINE_INTERNAL
        return replace(
            found,
            stage=stage,
            errors=errors,
            warnings=(*found.warnings, *outcome.warnings),
            skipped_rules=outcome.skipped,
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
        return accumulated(context, answer, protected=self._host.protected)


def unread_answer(text: str, rejection: OutputRejected, limits: ParseLimits) -> Verdict:
    """Return the verdict on a text that was refused as an answer.

    Numbers that are not finite are errors in their places, and the object is kept with them;
    anything else is one error of parsing.
    """
    if rejection.code is RejectionCode.NOT_FINITE:
        with suppress(OutputRejected):
            parsed = parse_object(text, replace(limits, keeps_non_finite=True))
            if not parsed.repaired and (refused := _not_finite(parsed.value)) is not None:
                return refused
    return refusal(FailureStage.PARSE, f"parse_{rejection.code.value}", rejection.feedback)


def _not_finite(value: dict[str, object]) -> Verdict | None:
    """Return the verdict on an object that holds NaN or infinities, `None` for any other."""
    errors = tuple(non_finite_errors(value))
    stage = FailureStage.SCHEMA_VALIDATION
    return Verdict(value=value, stage=stage, errors=errors) if errors else None


_OVER_BUDGET: Final = UnitError(
    rule="budget_exceeded", message="the rules need more steps for this unit than are allowed"
)


def _schema_and_rules(step: StepConfig) -> tuple[Schema, RuleBlock]:
    if step.expressions is not None:
        return True if step.schema is None else step.schema, step.rules or RuleBlock()
    problem = None
    if step.scope not in MODEL_SCOPES:
        problem = f"the scope {step.scope!r}: no model answers it"
    elif step.schema is None:
        problem = "no schema; name one under 'schemas.files'"
    elif step.rules is None:
        problem = f"no rules; write them under 'validation.{step.name}'"
    if problem is not None or step.schema is None or step.rules is None:
        msg = f"step {step.name!r} has {problem}"
        raise ConfigurationError(msg)
    return step.schema, step.rules


def _known_fields(schema: Schema, block: RuleBlock) -> frozenset[str]:
    named = set(block.field_names())
    if isinstance(schema, Mapping):
        for keyword in ("properties", "required"):
            found = schema.get(keyword)
            if isinstance(found, Mapping | list | tuple):
                named.update(found)
    return frozenset(named)


def _names_of_checks(block: RuleBlock) -> frozenset[str]:
    """Return every name that checks and rules may report, at whatever depth it stands."""
    parts = (part for field in block.field_names() for part in parts_of(field))
    names = {part for part in parts if isinstance(part, str)}
    reads = [read for spec in block.rules for read in compile_expression(spec.expr).reads]
    names |= {key for read in reads for key in (read.name, *read.keys) if isinstance(key, str)}
    return frozenset(names | SET_ASIDE | {RETRY_COUNT, "error"})


def _expressions_of(step: StepConfig) -> frozenset[str]:
    found = step.expressions
    return frozenset() if found is None else frozenset({*found.init, *found.expressions, LOOP})


def _ruleset(block: RuleBlock, found: StepExpressions | None) -> object:
    # A digest is the same for another order, which counts for expressions.
    return block if found is None else (block, found, tuple(found.expressions))


def _digest(config: object) -> str:
    """Return the SHA-256 of a configuration, whatever the order of its keys."""
    text = json.dumps(to_jsonable_python(config), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()
