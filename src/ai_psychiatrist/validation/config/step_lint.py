"""Check the names that a step uses, and the types of its fields, against what there is."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.validation.checks.field_paths import FieldPath, parts_of, top_name
from ai_psychiatrist.validation.checks.host_fields import (
    ALWAYS_PROTECTED,
    METADATA,
    RETRY_COUNT,
    SET_ASIDE,
    UNIT_ID,
)
from ai_psychiatrist.validation.checks.step_config import RuleBlock, StepExpressions
from ai_psychiatrist.validation.config.document import MOST_PROBLEMS, Document
from ai_psychiatrist.validation.config.problem import KeyPath
from ai_psychiatrist.validation.config.step_files import TEMPLATES, StepReading
from ai_psychiatrist.validation.expressions import (
    MOST_ITERATIONS,
    Expression,
    ExpressionKind,
    ExpressionRefused,
    FieldRead,
    MessageTemplate,
    compile_expression,
    is_local,
)
from ai_psychiatrist.validation.nearest import did_you_mean

ALWAYS_THERE: Final = frozenset({UNIT_ID, RETRY_COUNT, METADATA})

_NAMESPACES: Final = frozenset({"out", "inp", "meta"})
_NUMBERS: Final = frozenset({"number", "integer"})


def given_names(step: StepReading) -> frozenset[str]:
    """Return the fields that schema, expressions or checks of a step say its answer has."""
    block = step.config.rules or RuleBlock()
    values = (name for _, rules in block.kinds() for name in rules)
    required = set(block.required) - set(block.inherited)
    return described_names(step).union(map(top_name, (*required, *values)))


def described_names(step: StepReading) -> frozenset[str]:
    """Return the fields that a step's schema names, or that its expressions hand on."""
    found = step.config.expressions or StepExpressions()
    handed_on = {name for name in (*found.init, *found.expressions) if not is_local(name)}
    return step.names_at(()) | handed_on


@dataclass(frozen=True, slots=True, kw_only=True)
class StepLint:
    """The checks of one step."""

    document: Document = field(repr=False)
    step: StepReading
    own: frozenset[str]
    """Fields of the step's own answer."""
    context: Mapping[str, StepReading | None] = field(repr=False)
    """What inputs and earlier steps give, with the last step whose answer gives each."""
    protected: frozenset[str]
    """What no answer overrides, by any step's block."""
    is_complete: bool
    """Whether there can be no other names."""
    used: set[str]
    """Takes the names that are read."""

    def check(self) -> bool:
        """Report what is wrong; return whether the template shows all that it reads."""
        if self.step.config.rules is not None:
            self._check_block(self.step.config.rules)
        if self.step.config.expressions is not None:
            self._check_expressions(self.step.config.expressions)
        return self._check_template()

    def _check_block(self, block: RuleBlock) -> None:
        location, described = ("validation", self.step.name), described_names(self.step)
        is_closed = self.step.schema is not None and self.step.schema.compiled.is_closed
        self.used.update(block.required, block.types, block.protected)
        for way, name in _fields_of(block):
            try:
                FieldPath.parse(name)
            except ConfigurationError as error:
                where = location + (way[:1] if way[0] == "required" else way)
                self.document.error(where, "field_path", str(error))
            if described or is_closed:
                self._check_field(location + way, name, block, described, is_closed=is_closed)
        for name in block.protected if described or is_closed else ():
            self._check_name((*location, "protected"), name, self.context, _OF_CONTEXT)
        for name in set(block.inherited).difference(block.required):
            message = f"{name!r} is inherited but not required{did_you_mean(name, block.required)}"
            self.document.error((*location, "inherited"), "inherited_not_required", message)
        self._check_types(location, block)
        seen: set[str] = set()
        for position, rule in enumerate(block.rules):
            where = (*location, "rules", position)
            if rule.name in seen:
                message = f"a rule {rule.name!r} is there already"
                self.document.error(where, "duplicate_rule", message)
            seen.add(rule.name)
            self._check_rule(where, rule.expr, rule.when)
            self._check_message(where, rule.error if "error" in rule.model_fields_set else None)

    def _check_field(
        self,
        where: KeyPath,
        field: str,
        block: RuleBlock,
        described: frozenset[str],
        *,
        is_closed: bool,
    ) -> None:
        """Report a field of a check that nothing gives, or only the context."""
        name, is_required = top_name(field), where[2] == "required"
        if is_required and field in block.inherited:
            self._check_name(where, name, self.context, _OF_CONTEXT)
        elif name in SET_ASIDE or (name in described and is_required):
            return
        elif is_required and self.context.get(name) is not None:
            # An earlier step answers it.
            return
        elif not is_required:
            known = described.union(() if is_closed else self.context)
            meaning = _OF_ANSWER if is_closed else _OF_ALL
            self._check_name(where, name, known, meaning, is_complete=is_closed)
        elif name in self.context and not is_closed:
            message = (
                f"the context has {name!r} and the schema does not name it; list it under "
                "'inherited' too if the answer need not repeat it"
            )
            self.document.warn(where, "required_of_context", message)
        else:
            self._check_name(where, name, described, _OF_ANSWER, is_complete=is_closed)

    def _check_types(self, location: KeyPath, block: RuleBlock) -> None:
        """Report checks that no value of the field's types passes."""
        for kind, rules in block.kinds():
            for name, rule in rules.items():
                said = self.step.types_at(parts_of(name))
                if kind != "types" and name in block.types:
                    said = block.types[name].types
                if said is not None and not _widened(said) & _widened(rule.types):
                    code, advice = rule.conflict
                    message = f"the field is {_listed(said)}, this {_listed(rule.types)}: {advice}"
                    self.document.error((*location, kind, name), code, message)

    def _check_rule(self, where: KeyPath, source: str, condition: str | None) -> None:
        test = self._check_expression((*where, "expr"), source)
        if test is not None and test.constant is not None:
            outcome = "holds for" if test.constant else "fails"
            message = f"the rule {outcome} every answer"
            self.document.warn((*where, "expr"), "constant_rule", message)
        when = None if condition is None else self._check_expression((*where, "when"), condition)
        if when is not None and when.constant is False:
            message = "the condition never holds: the rule is never used"
            self.document.warn((*where, "when"), "unreachable_rule", message)

    def _check_expression(self, where: KeyPath, source: str) -> Expression | None:
        """Check an expression of a rule, whose condition may name what is not there."""
        expression = self._compiled(where, source, ExpressionKind.RULE)
        reads = () if expression is None else expression.reads
        for read in {(read.name, read.keys[:1]): read for read in reversed(reads)}.values():
            inner = read.keys[0] if read.keys else None
            is_optional = where[-1] == "when" or read.is_guarded
            if read.name not in _NAMESPACES:
                self._check_name(where, read.name, self._all, _OF_ALL, is_optional=is_optional)
            elif isinstance(inner, str) and read.name != "meta":
                known, meaning = (
                    (self.own, _OF_ANSWER) if read.name == "out" else (self.context, _OF_CONTEXT)
                )
                self._check_name(where, inner, known, meaning, is_optional=is_optional)
        return expression

    def _compiled(self, where: KeyPath, source: str, kind: ExpressionKind) -> Expression | None:
        """Return an expression, once the places that it reads inside of fields are checked."""
        try:
            expression = compile_expression(source, kind=kind)
        except ExpressionRefused as error:
            hint = "" if error.called is None else did_you_mean(error.called, error.offered)
            self.document.error(where, "expression", error.message + hint, column=error.column)
            return None
        for read in expression.reads:
            way, giver = _way(read), self._giver(read)
            self.used.add(str(way[0]) if way else read.name)
            for length in range(1, len(way)):
                known = frozenset() if giver is None else giver.names_at(way[:length])
                key = way[length]
                if isinstance(key, str) and known and key not in known:
                    hint = did_you_mean(key, known)
                    report = self.document.error if hint else self.document.warn
                    report(where, "unknown_name", f"the schema names no {key!r} there{hint}")
                    break
        for read, kind_of_constant in expression.compared_types:
            self._check_compared(where, read, kind_of_constant)
        return expression

    def _check_compared(self, where: KeyPath, read: FieldRead, kind: str) -> None:
        """Report a comparison with a constant of a type that the field never has."""
        way, giver = _way(read), self._giver(read)
        if giver is None:
            return
        types = giver.types_at(way)
        block = giver.config.rules
        if types is None and block is not None and len(way) == 1 and way[0] in block.types:
            types = block.types[str(way[0])].types
        if types is not None and not _widened([kind]) & types:
            source = "the schema" if giver is self.step else f"the step {giver.name!r}"
            message = f"{way[0]!r} is {_listed(types)} in {source}, here it is a {kind}"
            self.document.error(where, "type_conflict", message)

    def _giver(self, read: FieldRead) -> StepReading | None:
        """Return the step whose answer gives what is read; `None` for inputs of the context."""
        way = _way(read)
        name = str(way[0]) if way else ""
        is_own = read.name == "out" or (
            read.name != "inp" and name in self.own and name not in self.protected
        )
        return self.step if is_own else self.context.get(name)

    @property
    def _all(self) -> frozenset[str]:
        return self.own.union(self.context)

    def _check_name(
        self,
        where: KeyPath,
        name: str,
        known: Iterable[str],
        meaning: str,
        *,
        is_optional: bool = False,
        is_complete: bool = False,
    ) -> None:
        """Report a name that nothing gives; `is_optional`: the text allows for its absence.

        It is an error when it looks misspelt: what is skipped for a slip would never be missed.
        """
        if name in known:
            return
        hint, is_complete = did_you_mean(name, known), is_complete or self.is_complete
        is_error = bool(hint) or (is_complete and not is_optional)
        if not hint and not is_complete:
            hint = "; list it in processing.inputs if the context brings it"
        report = self.document.error if is_error else self.document.warn
        report(where, "unknown_name", f"{name!r} {meaning}{hint}")

    def _check_message(self, where: KeyPath, message: str | None) -> None:
        if message is None:
            self.document.error(where, "missing_key", "the rule has no 'error'")
            return
        where, template = (*where, "error"), MessageTemplate(message)
        if not message.strip():
            self.document.error(where, "wrong_shape", "the text is empty")
        for place in template.verbatim:
            text = f"{place!r} cannot be filled and stays as it is"
            self.document.warn(where, "unusable_placeholder", text)
        for name in template.fields:
            if name not in self._all | _NAMESPACES:
                hint = did_you_mean(name, self._all)
                text = f"{name!r} is no known field: its place stays as it is{hint}"
                self.document.warn(where, "unknown_placeholder", text)

    def _check_expressions(self, step: StepExpressions) -> None:
        """Report expressions of a step that are none, or that read names before they are set."""
        where = self.step.location
        if not step.expressions and not self.document.reported_in((*where, "expressions")):
            message = f"the expression step {self.step.name!r} has no 'expressions'"
            self.document.error(where, "missing_key", message)
        later = {*step.init, *step.expressions}
        before = set(self.context)
        for key, entries in (("init", step.init), ("expressions", step.expressions)):
            for name, source in entries.items():
                self._check_set_name((*where, key, name), name)
                self._check_step((*where, key, name), source, before, later)
                before.add(name)
        if step.loop_until is not None:
            self._check_step((*where, "loop_until"), step.loop_until, before, later)
        where, limit = (*where, "max_iterations"), step.max_iterations
        if limit is not None and limit > MOST_ITERATIONS:
            message = f"a loop has at most {MOST_ITERATIONS} rounds"
            self.document.error(where, "max_iterations", message)
        if limit is not None and step.loop_until is None:
            message = "there is no 'loop_until': the expressions are found once"
            self.document.error(where, "max_iterations", message)

    def _check_step(self, where: KeyPath, source: str, before: set[str], later: set[str]) -> None:
        expression = self._compiled(where, source, ExpressionKind.EXPRESSION_STEP)
        reads = () if expression is None else expression.reads
        guarded = {read.name for read in reads if read.is_guarded}
        for name in sorted({read.name for read in reads} - before):
            if name not in self.own | later:
                known = self._all | later
                self._check_name(where, name, known, _OF_ALL, is_optional=name in guarded)
            elif name not in guarded:
                message = f"{name!r} is set by this step only later"
                self.document.error(where, "used_before_set", message)

    def _check_set_name(self, where: KeyPath, name: str) -> None:
        if name in ALWAYS_PROTECTED | _NAMESPACES:
            message = f"{name!r} has a meaning of its own; choose another name"
            self.document.error(where, "expression_name", message)
        elif not name.isidentifier() or name.startswith("__"):
            rule = "use letters, digits and '_', not '__' first"
            message = f"no expression can read {name!r}: {rule}"
            self.document.error(where, "expression_name", message)

    def _check_template(self) -> bool:
        """Report variables that stand for nothing: a template shows them as empty."""
        where = (*TEMPLATES, self.step.name)
        if self.step.template is None:
            return False
        # Jinja2 is slow to load, and checks of answers need it only here.
        from ai_psychiatrist.validation.config import templates  # noqa: PLC0415

        try:
            template = templates.PromptTemplate(self.step.template)
        except templates.TemplateUnusable as error:
            self.document.error(where, "template_syntax", str(error))
            return False
        self.used.update(template.variables)
        for name in sorted(template.variables.difference(self.context))[:MOST_PROBLEMS]:
            hint = did_you_mean(name, self.context)
            if self.is_complete or hint:
                message = f"the template reads {name!r}, which no input and no earlier step gives"
                self.document.warn(where, "unknown_variable", message + hint)
        return not template.includes


_OF_ALL: Final = "is in no schema of this or an earlier step and in no input"
_OF_ANSWER: Final = "is no field of this step's own"
_OF_CONTEXT: Final = "is neither an input nor a field of an earlier step"


def _fields_of(block: RuleBlock) -> Iterable[tuple[KeyPath, str]]:
    """Yield every field that a block speaks of, with the way there."""
    for position, name in enumerate(block.required):
        yield ("required", position), name
    for kind, rules in block.kinds():
        yield from (((kind, name), name) for name in rules)


def _way(read: FieldRead) -> Sequence[str | int]:
    """Return the way from an answer or the context to the place that is read."""
    return read.keys if read.name in {"out", "inp"} else (read.name, *read.keys)


def _widened(types: Iterable[str]) -> frozenset[str]:
    """Count whole numbers among the numbers; a number may be a whole one."""
    named = frozenset(types)
    return named | _NUMBERS if "number" in named else named


def _listed(types: Iterable[str]) -> str:
    return " or ".join(sorted(types))
