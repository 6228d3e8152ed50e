"""Check the expressions of steps: that they compile, and that what they read is there by then."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from ai_psychiatrist.validation.checks.host_fields import ALWAYS_PROTECTED
from ai_psychiatrist.validation.checks.step_config import StepExpressions
from ai_psychiatrist.validation.config.lint.field_reads import FieldReads, compiled
from ai_psychiatrist.validation.config.lint.known_names import NAMESPACES, KnownNames
from ai_psychiatrist.validation.config.lint.node import Node
from ai_psychiatrist.validation.config.lint.steps import StepReading
from ai_psychiatrist.validation.expressions import MOST_ITERATIONS, ExpressionKind

_TAKEN: Final = ALWAYS_PROTECTED | NAMESPACES


def check_step_expressions(step: StepReading, names: KnownNames) -> frozenset[str]:
    """Report expressions of a step that are none, or that read names before they are set.

    Returns the names that the expressions read.
    """
    expressions = step.config.expressions
    if expressions is None:
        return frozenset()
    listed = (*step.location, "expressions")
    if not expressions.expressions and not step.document.reported_in(listed):
        step.entry_at().error(
            "missing_key", f"the expression step {step.name!r} has no 'expressions'"
        )
    own = frozenset({*expressions.init, *expressions.expressions})
    check = _StepCheck(step=step, names=replace(names, answer=names.answer | own))
    before = names.context
    used = check.each("init", expressions.init, before)
    before |= expressions.init.keys()
    used |= check.each("expressions", expressions.expressions, before)
    if expressions.loop_until is not None:
        used |= check.one(step.entry_at("loop_until"), before | own)
    _check_limit(step, expressions)
    return used


class _StepCheck:
    def __init__(self, *, step: StepReading, names: KnownNames) -> None:
        self.step = step
        self.names = names
        self.reads = FieldReads(names=names, step=step)

    def each(self, key: str, entries: Iterable[str], before: frozenset[str]) -> frozenset[str]:
        used: frozenset[str] = frozenset()
        for name in entries:
            node = self.step.entry_at(key, name)
            _check_name(name, node)
            used |= self.one(node, before)
            before |= {name}
        return used

    def one(self, node: Node, before: frozenset[str]) -> frozenset[str]:
        """Check an expression; `before`: the names that there are when it is evaluated."""
        expression = compiled(node, ExpressionKind.EXPRESSION_STEP)
        if expression is None:
            return frozenset()
        guarded = {read.name for read in expression.reads if read.is_guarded}
        for name in sorted(expression.names - before):
            if name not in self.names.answer:
                self.names.check(node, name, is_optional=name in guarded)
            elif name not in guarded:
                node.error("used_before_set", f"{name!r} is set by this step only later")
        self.reads.check_places(node, expression)
        return expression.names


def _check_name(name: str, node: Node) -> None:
    if name in _TAKEN:
        node.error("expression_name", f"{name!r} has a meaning of its own; choose another name")
    elif not name.isidentifier() or name.startswith("__"):
        message = f"no expression can read {name!r}: use letters, digits and '_', not '__' first"
        node.error("expression_name", message)


def _check_limit(step: StepReading, expressions: StepExpressions) -> None:
    node, limit = step.entry_at("max_iterations"), expressions.max_iterations
    if limit is not None and limit > MOST_ITERATIONS:
        node.error("max_iterations", f"a loop has at most {MOST_ITERATIONS} rounds")
    if limit is not None and expressions.loop_until is None:
        node.error("max_iterations", "there is no 'loop_until': the expressions are found once")
