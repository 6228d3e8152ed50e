"""Check the syntax and the names of expression steps; their expressions are never run."""

from ai_psychiatrist.validation.config.lint.known_names import KnownNames
from ai_psychiatrist.validation.config.lint.node import Node
from ai_psychiatrist.validation.config.lint.steps import StepReading
from ai_psychiatrist.validation.expressions import (
    ExpressionKind,
    ExpressionRefused,
    compile_expression,
)


def check_step_expressions(step: StepReading, names: KnownNames) -> frozenset[str]:
    """Report expressions of a step that are none, or that read names before they are set.

    Returns the names that the expressions read.
    """
    if step.scope != "expression":
        return frozenset()
    listed = step.node.child("expressions")
    if listed is None:
        step.node.error("missing_key", f"the expression step {step.name!r} has no 'expressions'")
    loop = step.node.child("loop_until")
    before, used = set(names.context), set[str]()
    for key in ("init", "expressions"):
        child = step.node.child(key)
        entries = {} if child is None else child.entries(of="expressions")
        if loop is not None and key == "expressions":
            # A loop comes round: what is set later is there from the second time on.
            before |= set(entries)
        for name, node in entries.items():
            used |= _check(node, names, before)
            before.add(name)
    if loop is not None:
        used |= _check(loop, names, before)
    limit = step.node.child("max_iterations")
    if limit is not None:
        limit.whole_number()
    return frozenset(used)


def _check(node: Node, names: KnownNames, known: set[str]) -> frozenset[str]:
    source = node.text()
    if source is None:
        return frozenset()
    try:
        checked = compile_expression(source, kind=ExpressionKind.EXPRESSION_STEP)
    except ExpressionRefused as error:
        node.error("expression", error.message, column=error.column)
        return frozenset()
    used = checked.names
    for name in sorted(used - known):
        if name in names.answer:
            node.error("used_before_set", f"{name!r} is set by this step only later")
        else:
            names.check(node, name)
    return used
