"""Check the expressions and messages of a step's rules without any data."""

from dataclasses import dataclass

from ai_psychiatrist.validation.expressions import (
    Expression,
    ExpressionKind,
    ExpressionRefused,
    FieldRead,
    MessageTemplate,
    compile_expression,
)
from ai_psychiatrist.validation.lint.known_names import NAMESPACES, KnownNames
from ai_psychiatrist.validation.lint.nearest import did_you_mean, nearest
from ai_psychiatrist.validation.lint.node import Node
from ai_psychiatrist.validation.lint.schema_fields import SchemaFields
from ai_psychiatrist.validation.lint.steps import StepReading


def check_rules(step: StepReading, names: KnownNames) -> frozenset[str]:
    """Report rules that do not compile, read unknown names, or always end the same.

    Returns the names that the rules read.
    """
    rules = None if step.block_node is None else step.block_node.child("rules")
    if rules is None or not isinstance(rules.value, list):
        return frozenset()
    fields = None if step.schema is None else SchemaFields.of(step.schema.document)
    protected = () if step.block is None else step.block.protected
    check = _RuleCheck(names=names, fields=fields, protected=protected)
    used = [check.rule(node) for node in rules.items(of="rules")]
    return frozenset().union(*used)


@dataclass(frozen=True, slots=True, kw_only=True)
class _RuleCheck:
    names: KnownNames
    fields: SchemaFields | None
    protected: tuple[str, ...]
    """Names that are the context's, whatever the schema says of the answer's."""

    def rule(self, rule: Node) -> frozenset[str]:
        expression = self._expression(rule.child("expr"), is_optional=False)
        condition = self._expression(rule.child("when"), is_optional=True)
        if expression is not None and expression.constant is not None:
            outcome = "holds for" if expression.constant else "fails"
            (rule.child("expr") or rule).warn("constant_rule", f"the rule {outcome} every answer")
        if condition is not None and condition.constant is False:
            (rule.child("when") or rule).warn(
                "unreachable_rule", "the condition never holds: the rule is never used"
            )
        self._message(rule.child("error"))
        compiled = [found for found in (expression, condition) if found is not None]
        return frozenset().union(*(_names_read(found) for found in compiled))

    def _expression(self, node: Node | None, *, is_optional: bool) -> Expression | None:
        compiled = None if node is None else _compile(node)
        if node is not None and compiled is not None:
            self._reads(node, compiled, is_optional=is_optional)
            self._types(node, compiled)
        return compiled

    def _reads(self, node: Node, expression: Expression, *, is_optional: bool) -> None:
        reported: set[tuple[str, tuple[str | int, ...]]] = set()
        for read in expression.reads:
            key = (read.name, read.keys[:1])
            if key not in reported:
                reported.add(key)
                self.names.check_read(
                    node, read.name, read.keys, is_optional=is_optional or read.is_guarded
                )
            self._inner_keys(node, read)

    def _inner_keys(self, node: Node, read: FieldRead) -> None:
        """Report a key inside a field of the answer that the schema names otherwise."""
        way = _way(read)
        for length in range(1, len(way)):
            key = way[length]
            known = None if self.fields is None else self.fields.names_at(way[:length])
            if isinstance(key, str) and known and key not in known:
                report = node.warn if nearest(key, known) is None else node.error
                message = f"the schema names no {key!r} there{did_you_mean(key, known)}"
                report("unknown_name", message)
                return

    def _types(self, node: Node, expression: Expression) -> None:
        """Report comparisons with a constant of a type that the field never has."""
        for read, kind in expression.compared_types:
            if read.name in self.protected:
                continue
            allowed = None if self.fields is None else self.fields.types_at(_way(read))
            if allowed is None or kind in allowed or (kind == "number" and "integer" in allowed):
                continue
            types = " or ".join(sorted(allowed))
            message = f"{read.name!r} is {types} in the schema, here it is a {kind}"
            node.error("type_conflict", message)

    def _message(self, node: Node | None) -> None:
        if node is None or not isinstance(node.value, str):
            return
        template = MessageTemplate(node.value)
        for place in template.verbatim:
            node.warn("unusable_placeholder", f"{place!r} cannot be filled and stays as it is")
        for name in template.fields:
            if name not in self.names.all and name not in NAMESPACES:
                hint = did_you_mean(name, self.names.all)
                message = f"{name!r} is no known field: its place stays as it is{hint}"
                node.warn("unknown_placeholder", message)


def _compile(node: Node) -> Expression | None:
    if not isinstance(node.value, str) or not node.value.strip():
        return None
    try:
        return compile_expression(node.value, kind=ExpressionKind.RULE)
    except ExpressionRefused as error:
        node.error("expression", error.message, column=error.column)
        return None


def _names_read(expression: Expression) -> frozenset[str]:
    """Return the fields that an expression reads, those of a namespace by their own names."""
    return frozenset(
        str(read.keys[0]) if read.name in NAMESPACES and read.keys else read.name
        for read in expression.reads
    )


def _way(read: FieldRead) -> tuple[str | int, ...]:
    """Return the way from the answer to the place that is read."""
    return read.keys if read.name == "out" else (read.name, *read.keys)
