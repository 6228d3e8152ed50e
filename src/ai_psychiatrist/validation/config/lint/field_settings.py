"""Read what a block says of single fields: types, enums and ranges."""

from typing import Final

from ai_psychiatrist.validation.checks.fields.specs import EnumRule, RangeRule
from ai_psychiatrist.validation.config.lint.nearest import did_you_mean
from ai_psychiatrist.validation.config.lint.node import Node

_TYPES: Final = ("string", "number", "integer", "boolean", "object", "array", "null")
_OTHER_TYPE_NAMES: Final = {
    "int": "integer",
    "float": "number",
    "double": "number",
    "str": "string",
    "text": "string",
    "bool": "boolean",
    "dict": "object",
    "list": "array",
    "none": "null",
}
_RANGE_KEYS: Final = frozenset({"min", "max", "exclusive_min", "exclusive_max"})


def read_types(node: Node) -> tuple[str, ...] | None:
    """Read the types of a field: one, several with `|` between them, or a list."""
    match node.value:
        case str() as text:
            names: list[object] = [name.strip() for name in text.split("|")]
        case list() as values:
            # An unquoted null in a list is YAML's null, and plainly means the type.
            names = ["null" if value is None else value for value in values]
        case _:
            names = []
    if not names:
        node.error("unknown_type", f"a type is one of {', '.join(_TYPES)}, or a list of them")
        return None
    unknown = [name for name in names if name not in _TYPES]
    for name in unknown:
        node.error("unknown_type", _about_type(name))
    return None if unknown else tuple(dict.fromkeys(str(name) for name in names))


def _about_type(name: object) -> str:
    known = f"types are {', '.join(_TYPES)}"
    if not isinstance(name, str):
        return f"a type is written as its name; {known}"
    usual = _OTHER_TYPE_NAMES.get(name.casefold())
    meant = f"; did you mean {usual!r}?" if usual else did_you_mean(name, _TYPES)
    return f"{name!r} is no type{meant or '; ' + known}"


def read_enum(node: Node) -> EnumRule | None:
    """Read the allowed values of a field: a list, or a mapping that says how they are matched."""
    values, match = node, "casefold"
    if isinstance(node.value, dict):
        node.refuse_unknown_keys({"values", "match"})
        inner = node.child("values")
        if inner is None:
            node.error("missing_key", "an enum written as a mapping needs `values`")
            return None
        values, match = inner, _read_match(node)
    allowed = [item.value for item in values.items(of="allowed values")]
    if isinstance(values.value, list) and not allowed:
        values.error("empty_enum", "an enum without values allows nothing")
    if not allowed or not _are_distinct(values, allowed, is_folded=match == "casefold"):
        return None
    return EnumRule(values=tuple(allowed), match="none" if match == "none" else "casefold")


def _read_match(node: Node) -> str:
    child = node.child("match")
    if child is None:
        return "casefold"
    if child.value not in ("casefold", "none"):
        child.error("unknown_match", "`match` is 'casefold' or 'none'")
        return "casefold"
    return str(child.value)


def _are_distinct(node: Node, values: list[object], *, is_folded: bool) -> bool:
    """Check that each value can be told from the others and is a plain one."""
    seen: set[object] = set()
    for position, value in enumerate(values):
        if not isinstance(value, str | int | float | bool | None):
            node.error("enum_value", f"value {position + 1} is no plain value; write it in quotes")
            return False
        is_text = is_folded and isinstance(value, str)
        key = value.strip().casefold() if is_text and isinstance(value, str) else value
        if (type(key), key) in seen:
            node.error(
                "enum_value",
                f"value {position + 1} is there already"
                + (" but for its case; give `match: none`" if is_text else ""),
            )
            return False
        seen.add((type(key), key))
    return True


def read_range(node: Node) -> RangeRule | None:
    """Read the range of a field."""
    match node.value:
        case [_, _]:
            low, high = (_bound(item) for item in node.items(of="two bounds"))
            rule = RangeRule(low=low, high=high)
        case dict():
            node.refuse_unknown_keys(_RANGE_KEYS)
            rule = _range_of_mapping(node)
        case _:
            node.error(
                "range_shape", "a range is `[low, high]`, null for an open end, or a mapping"
            )
            return None
    if rule.low is None and rule.high is None:
        node.error("empty_range", "a range open at both ends checks nothing")
    elif rule.is_empty:
        node.error("empty_range", f"no number lies between {rule.low} and {rule.high}")
    else:
        return rule
    return None


def _bound(node: Node | None) -> int | float | None:
    return None if node is None or node.value is None else node.number()


def _range_of_mapping(node: Node) -> RangeRule:
    for plain, exclusive in (("min", "exclusive_min"), ("max", "exclusive_max")):
        if node.child(plain) is not None and node.child(exclusive) is not None:
            node.error("range_shape", f"give {plain!r} or {exclusive!r}, not both")
    low, open_low = _bound(node.child("min")), _bound(node.child("exclusive_min"))
    high, open_high = _bound(node.child("max")), _bound(node.child("exclusive_max"))
    return RangeRule(
        low=low if open_low is None else open_low,
        high=high if open_high is None else open_high,
        is_low_open=open_low is not None,
        is_high_open=open_high is not None,
    )
