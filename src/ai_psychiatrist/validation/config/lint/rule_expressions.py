"""Check the expressions and messages of a step's rules without any data."""

from dataclasses import dataclass

from ai_psychiatrist.validation.config.lint.field_reads import FieldReads, compiled
from ai_psychiatrist.validation.config.lint.known_names import NAMESPACES, KnownNames
from ai_psychiatrist.validation.config.lint.node import Node
from ai_psychiatrist.validation.config.lint.steps import StepReading
from ai_psychiatrist.validation.expressions import Expression, ExpressionKind, MessageTemplate
from ai_psychiatrist.validation.nearest import did_you_mean


def check_rules(step: StepReading, names: KnownNames) -> frozenset[str]:
    """Report rules that do not compile, read unknown names, or always end the same.

    Returns the names that the rules read.
    """
    if step.block is None:
        return frozenset()
    check = _RuleCheck(names=names, step=step)
    used = [check.rule(step.block_at("rules", number)) for number in range(len(step.block.rules))]
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
        both = [found for found in (expression, condition) if found is not None]
        return frozenset().union(*(_names_read(found) for found in both))

    def _expression(self, node: Node | None, *, is_optional: bool) -> Expression | None:
        expression = None if node is None else compiled(node, ExpressionKind.RULE)
        if node is not None and expression is not None:
            reads = FieldReads(names=self.names, step=self.step)
            reads.check_names(node, expression, is_optional=is_optional)
            reads.check_places(node, expression)
        return expression

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


def _names_read(expression: Expression) -> frozenset[str]:
    """Return the fields that an expression reads, those of a namespace by their own names."""
    return frozenset(
        str(read.keys[0]) if read.name in NAMESPACES and read.keys else read.name
        for read in expression.reads
    )
