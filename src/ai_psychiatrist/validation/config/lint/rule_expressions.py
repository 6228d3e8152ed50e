"""Check the expressions and messages of a step's rules without any data."""

from dataclasses import dataclass

from ai_psychiatrist.validation.config.lint.known_names import NAMESPACES, KnownNames
from ai_psychiatrist.validation.config.lint.node import Node
from ai_psychiatrist.validation.config.lint.steps import StepReading
from ai_psychiatrist.validation.config.nearest import did_you_mean, nearest
from ai_psychiatrist.validation.expressions import (
    Expression,
    ExpressionKind,
    ExpressionRefused,
    FieldRead,
    MessageTemplate,
    compile_expression,
)


def check_rules(step: StepReading, names: KnownNames) -> frozenset[str]:
    """Report rules that do not compile, read unknown names, or always end the same.

    Returns the names that the rules read.
    """
    rules = None if step.block_node is None else step.block_node.child("rules")
    if rules is None or not isinstance(rules.value, list):
        return frozenset()
    check = _RuleCheck(names=names, step=step)
    used = [check.rule(node) for node in rules.items(of="rules")]
    return frozenset().union(*used)


@dataclass(frozen=True, slots=True, kw_only=True)
class _RuleCheck:
    names: KnownNames
    step: StepReading

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
        """Report a key inside a field that the schema of its step names otherwise."""
        way, giver = _way(read), self._giver(read)
        for length in range(1, len(way)):
            key = way[length]
            known = None if giver is None else giver.names_at(way[:length])
            if isinstance(key, str) and known and key not in known:
                report = node.warn if nearest(key, known) is None else node.error
                message = f"the schema names no {key!r} there{did_you_mean(key, known)}"
                report("unknown_name", message)
                return

    def _types(self, node: Node, expression: Expression) -> None:
        """Report comparisons with a constant of a type that the field never has."""
        for read, kind in expression.compared_types:
            giver = self._giver(read)
            allowed = None if giver is None else giver.types_at(_way(read))
            if (
                giver is None
                or allowed is None
                or kind in allowed
                or (kind == "number" and "integer" in allowed)
            ):
                continue
            types = " or ".join(sorted(allowed))
            place = "the schema" if giver is self.step else f"the step {giver.name!r}"
            message = f"{_way(read)[0]!r} is {types} in {place}, here it is a {kind}"
            node.error("type_conflict", message)

    def _giver(self, read: FieldRead) -> StepReading | None:
        """Return the step whose answer gives what is read; `None` for inputs of the context."""
        way = _way(read)
        name = str(way[0]) if way else ""
        is_own = read.name == "out" or (
            read.name != "inp" and name in self.names.answer and name not in self.names.protected
        )
        return self.step if is_own else self.names.given_by.get(name)

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
    """Return the way from an answer or the context to the place that is read."""
    return read.keys if read.name in {"out", "inp"} else (read.name, *read.keys)
