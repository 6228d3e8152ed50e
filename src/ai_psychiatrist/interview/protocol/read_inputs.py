"""Read the inputs of a protocol, and the rules over them."""

import re
from enum import StrEnum
from typing import Final

from ai_psychiatrist.interview.protocol.fields import choice, flag, integer, required_text, whole
from ai_psychiatrist.interview.protocol.placeholders import check_places
from ai_psychiatrist.interview.protocol.records import Input, IntegerInput, TextInput
from ai_psychiatrist.validation.checks.rules import RuleSet, RuleSpec
from ai_psychiatrist.validation.config.lint.node import Node
from ai_psychiatrist.validation.config.nearest import did_you_mean
from ai_psychiatrist.validation.expressions import ExpressionRefused, compile_expression

_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,63}\Z")
_TEXT_KEYS: Final = frozenset({"type", "required", "max_length"})
_INTEGER_KEYS: Final = frozenset({"type", "low", "high", "default"})
_LONGEST_INPUT: Final = 20_000
_LARGEST: Final = 1_000_000
_RULE_KEYS: Final = frozenset({"name", "expr", "error"})


class _InputType(StrEnum):
    TEXT = "text"
    INTEGER = "integer"


def read_inputs(root: Node) -> tuple[Input, ...]:
    """Read the inputs that an interview is created with."""
    node = root.child("inputs")
    if node is None:
        return ()
    found = [_read_input(name, entry) for name, entry in node.entries(of="inputs").items()]
    return tuple(one for one in found if one is not None)


def _read_input(name: str, node: Node) -> Input | None:
    if _NAME.match(name) is None:
        node.error("input_name", "an input's name is lower-case letters, digits and underscores")
    if not isinstance(node.value, dict):
        node.entries(of="settings")
        return None
    kind = choice(node, "type", _InputType)
    if kind is None:
        return None
    if kind is _InputType.INTEGER:
        return _integer_input(name, node)
    node.refuse_unknown_keys(_TEXT_KEYS)
    longest = integer(node, "max_length", low=1, high=_LONGEST_INPUT)
    is_required = flag(node, "required", default=True)
    return (
        None
        if longest is None
        else TextInput(name=name, is_required=is_required, max_length=longest)
    )


def _integer_input(name: str, node: Node) -> IntegerInput | None:
    node.refuse_unknown_keys(_INTEGER_KEYS)
    low = integer(node, "low", low=0, high=_LARGEST)
    high = integer(node, "high", low=0, high=_LARGEST)
    if low is None or high is None:
        return None
    if low > high:
        node.error("empty_range", "no number is as large as `low` and as small as `high`")
        return None
    given = node.child("default")
    default = None if given is None else whole(given, low=low, high=high)
    return IntegerInput(name=name, low=low, high=high, default=default)


def read_rules(root: Node, inputs: tuple[Input, ...]) -> RuleSet:
    """Read the rules that the inputs have to keep; what does not compile is reported."""
    node = root.child("rules")
    known = {one.name for one in inputs}
    listed = [] if node is None else node.items(of="rules")
    found = [spec for spec in (_read_rule(item, known) for item in listed) if spec is not None]
    return RuleSet.compile(found)


def _read_rule(node: Node, known: set[str]) -> RuleSpec | None:
    if not isinstance(node.value, dict):
        node.error("wrong_shape", "a rule is a mapping with `name`, `expr` and `error`")
        return None
    node.refuse_unknown_keys(_RULE_KEYS)
    name, source, message = (required_text(node, key) for key in ("name", "expr", "error"))
    expression, wording = node.child("expr"), node.child("error")
    if name is None or source is None or message is None or expression is None or wording is None:
        return None
    try:
        compiled = compile_expression(source)
    except ExpressionRefused as error:
        expression.error("expression", error.message, column=error.column)
        return None
    for unknown in sorted({read.name for read in compiled.reads} - known):
        hint = did_you_mean(unknown, known)
        expression.error("unknown_input", f"no input is named {unknown!r}{hint}")
    # What a rule says goes into an error, and errors hold no words of the person.
    check_places(wording, ())
    return RuleSpec(name=name, expr=source, error=message)
