"""Read a step's validation block."""

from collections.abc import Callable, Mapping
from typing import Final, TypeVar

from ai_psychiatrist.validation.checks.coercion.coercer import DEFAULT, STRICT, CoercionProfile
from ai_psychiatrist.validation.checks.rules import Level, RuleSpec
from ai_psychiatrist.validation.config.lint.field_settings import read_enum, read_range, read_types
from ai_psychiatrist.validation.config.lint.node import Node
from ai_psychiatrist.validation.config.nearest import did_you_mean
from ai_psychiatrist.validation.config.step import RuleBlock

NO_RULES: Final = "none"
"""What is written instead of a block to say that the schema is enough."""

_BLOCK_KEYS: Final = frozenset(
    {"required", "types", "enums", "ranges", "rules", "inherited", "protected", "coerce"}
)
_RULE_KEYS: Final = frozenset({"name", "expr", "error", "level", "when"})

_T = TypeVar("_T")


def read_rule_block(node: Node) -> RuleBlock:
    """Read a block; what is wrong in it is reported and left out."""
    if node.value == NO_RULES:
        return RuleBlock()
    if not isinstance(node.value, dict) or not node.value:
        node.error(
            "empty_block",
            "the block says nothing; list what is to be checked, "
            f"or write {NO_RULES!r} where the schema is enough",
        )
        return RuleBlock()
    node.refuse_unknown_keys(_BLOCK_KEYS)
    block = RuleBlock(
        required=_names(node, "required"),
        types=_by_field(node, "types", read_types),
        enums=_by_field(node, "enums", read_enum),
        ranges=_by_field(node, "ranges", read_range),
        rules=_read_rules(node),
        inherited=_names(node, "inherited"),
        protected=_names(node, "protected"),
        coerce=_read_profile(node),
    )
    _check_inherited(node, block)
    return block


def _names(node: Node, key: str) -> tuple[str, ...]:
    child = node.child(key)
    return () if child is None else child.names(of="field names")


def _by_field(node: Node, key: str, read: Callable[[Node], _T | None]) -> dict[str, _T]:
    child = node.child(key)
    if child is None:
        return {}
    values = {name: read(entry) for name, entry in child.entries(of="fields").items()}
    return {name: value for name, value in values.items() if value is not None}


def _check_inherited(node: Node, block: RuleBlock) -> None:
    child = node.child("inherited")
    for name in block.inherited:
        if child is not None and name not in block.required:
            child.error(
                "inherited_not_required",
                f"{name!r} is inherited but not required{did_you_mean(name, block.required)}",
            )


def _read_rules(node: Node) -> tuple[RuleSpec, ...]:
    child = node.child("rules")
    found: list[RuleSpec] = []
    seen: set[str] = set()
    for node_of_rule in [] if child is None else child.items(of="rules"):
        spec = _read_rule(node_of_rule)
        if spec is None:
            continue
        if spec.name in seen:
            node_of_rule.error("duplicate_rule", f"a rule {spec.name!r} is there already")
        seen.add(spec.name)
        found.append(spec)
    return tuple(found)


def _read_rule(node: Node) -> RuleSpec | None:
    if not isinstance(node.value, dict) or not node.value:
        node.error("empty_rule", "a rule is a mapping with `name`, `expr` and `error`")
        return None
    node.refuse_unknown_keys(_RULE_KEYS)
    texts = {key: _required_text(node, key) for key in ("name", "expr", "error")}
    when, level = node.child("when"), _read_level(node)
    condition = None if when is None else when.text()
    name, expression, message = texts["name"], texts["expr"], texts["error"]
    if name is None or expression is None or message is None:
        return None
    return RuleSpec(name=name, expr=expression, error=message, level=level, when=condition)


def _required_text(node: Node, key: str) -> str | None:
    child = node.child(key)
    if child is None:
        node.error("missing_key", f"the rule has no {key!r}")
        return None
    return child.text()


def _read_level(node: Node) -> Level:
    child = node.child("level")
    if child is None:
        return Level.ERROR
    known: Mapping[str, Level] = {level.value: level for level in Level}
    if isinstance(child.value, str) and child.value in known:
        return known[child.value]
    child.error("unknown_level", f"a rule's level is {' or '.join(known)}")
    return Level.ERROR


def _read_profile(node: Node) -> CoercionProfile:
    child = node.child("coerce")
    if child is None:
        return DEFAULT
    child.entries(of="settings")
    child.refuse_unknown_keys({"profile", "enum_prefixes", "enum_split"})
    name, prefixes = child.child("profile"), child.child("enum_prefixes")
    found = () if prefixes is None else prefixes.names(of="prefixes")
    split = child.child("enum_split")
    separator = None if split is None or split.value is None else split.text()
    if name is not None and name.value == "strict":
        if found or separator is not None:
            child.error("coerce_profile", "the strict profile coerces nothing: it has no settings")
        return STRICT
    if name is not None and name.value != "default":
        name.error("coerce_profile", "`profile` is 'strict' or 'default'")
    return CoercionProfile(enum_prefixes=found, enum_split=separator)
