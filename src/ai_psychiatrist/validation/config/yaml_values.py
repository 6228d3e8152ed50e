"""Read YAML text into plain values and the places where they stand."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, TypeAlias

import yaml
from yaml.constructor import ConstructorError, SafeConstructor
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from ai_psychiatrist.validation.config.problem import FilePosition, KeyPath

_MAX_DEPTH: Final = 50
_MAX_ALIASES: Final = 200
_MAX_VALUES: Final = 20_000
"""Counted after aliases are followed, so that aliases of aliases cannot multiply unseen."""

_LONGEST_SCALAR: Final = 64
"""Characters of a value other than a text: reading a number takes the square of its length."""

_TEXT_TAG: Final = "tag:yaml.org,2002:str"
_MERGE_TAG: Final = "tag:yaml.org,2002:merge"
_UNREAD: Final = object()
"""In place of a value that was reported and is left out."""
_UNREADABLE: Final = (
    ConstructorError,
    ArithmeticError,
    AttributeError,
    LookupError,
    TypeError,
    ValueError,
)
"""What PyYAML raises for a value that does not fit its tag, such as `!!bool perhaps`."""
_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


Report: TypeAlias = Callable[[FilePosition | None, KeyPath, str, str], None]
"""Takes the place, the keys that lead there, a code and a message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spot:
    """Where a value stands in the file."""

    path: KeyPath
    """The keys that lead there."""
    key: FilePosition | None
    """The value's key, or the value itself in a list."""
    text: FilePosition | None = None
    """The first character of a text's content, where columns inside it can be told."""


class YamlUnusable(Exception):
    """The text leaves nothing to look at; the message says why."""

    def __init__(self, code: str, message: str, place: FilePosition | None = None) -> None:
        """`code`: the kind of problem."""
        super().__init__(message)
        self.code = code
        self.place = place


def read_yaml(text: str, report: Report) -> tuple[object, dict[KeyPath, Spot]]:
    """Read YAML text as plain values with their places; a value that cannot be read is left out.

    Raises `YamlUnusable`.
    """
    try:
        _check_bounds(text)
        root = yaml.compose(text, Loader=_LOADER)
    except yaml.YAMLError as error:
        raise _syntax(error) from None
    if root is None:
        raise YamlUnusable("empty_file", "the file is empty")
    builder = _Builder(text=text, report=report)
    return builder.build(root, ()), builder.spots


def _check_bounds(text: str) -> None:
    """Count what the file holds before anything is built from it."""
    depth = aliases = 0
    for event in yaml.parse(text, Loader=_LOADER):
        if isinstance(event, yaml.events.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.events.CollectionEndEvent):
            depth -= 1
        elif isinstance(event, yaml.events.AliasEvent):
            aliases += 1
        if depth > _MAX_DEPTH:
            raise _too_large(f"is nested deeper than {_MAX_DEPTH} levels")
        if aliases > _MAX_ALIASES:
            raise _too_large(f"has more than {_MAX_ALIASES} aliases")


def _too_large(how: str) -> YamlUnusable:
    return YamlUnusable("yaml_too_large", f"the file {how}")


def _syntax(error: yaml.YAMLError) -> YamlUnusable:
    """Say what the parser found; its own text would quote the file."""
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "not readable"
    place = None if mark is None else FilePosition(line=mark.line + 1, column=mark.column + 1)
    return YamlUnusable("yaml_syntax", f"the file is no YAML: {problem}", place)


@dataclass(slots=True, kw_only=True)
class _Builder:
    """Builds plain values from YAML nodes and keeps their places."""

    text: str
    report: Report
    spots: dict[KeyPath, Spot] = field(default_factory=dict)
    _count: int = 0
    _open: set[int] = field(default_factory=set)
    _constructor: SafeConstructor = field(default_factory=SafeConstructor)

    def build(self, node: Node, path: KeyPath) -> object:
        self._count += 1
        if self._count > _MAX_VALUES:
            raise _too_large(f"holds more than {_MAX_VALUES} values, aliases counted each time")
        if id(node) in self._open:
            self.report(None, path, "yaml_loop", "an alias stands inside its own anchor")
            return _UNREAD
        self._open.add(id(node))
        try:
            match node:
                case MappingNode():
                    return self._mapping(node, path)
                case SequenceNode():
                    return self._sequence(node, path)
                case _:
                    return self._constructed(node, path)
        finally:
            self._open.discard(id(node))

    def _placed(self, node: Node, path: KeyPath, marker: Node) -> object:
        """Build a value whose place is that of `marker`, its key or the value itself."""
        value = self.build(node, path)
        self.spots[path] = Spot(path=path, key=_start(marker), text=self._content(node, value))
        return value

    def _mapping(self, node: MappingNode, path: KeyPath) -> dict[str, object]:
        built: dict[str, object] = {}
        merged: dict[str, object] = {}
        for key_node, value_node in node.value:
            if key_node.tag == _MERGE_TAG:
                merged = self._merged(value_node, path) | merged
                continue
            key = self._key(key_node, path)
            if key is None:
                continue
            if key in built:
                message = f"the key {key!r} stands twice here; only one can count"
                self.report(_start(key_node), (*path, key), "duplicate_key", message)
                continue
            value = self._placed(value_node, (*path, key), key_node)
            if value is not _UNREAD:
                built[key] = value
        return merged | built

    def _merged(self, node: Node, path: KeyPath) -> dict[str, object]:
        """Return the keys that `<<` brings in; of several sources the first wins."""
        sources = node.value if isinstance(node, SequenceNode) else [node]
        merged: dict[str, object] = {}
        for source in sources:
            if not isinstance(source, MappingNode):
                self.report(_start(source), path, "merge", "`<<` needs a mapping")
                continue
            value = self.build(source, path)
            if isinstance(value, dict):
                merged = value | merged
        return merged

    def _key(self, node: Node, path: KeyPath) -> str | None:
        if isinstance(node, ScalarNode) and isinstance(self._constructed(node, path), str):
            return str(node.value)
        message = "a key is no text; write it in quotes"
        self.report(_start(node), path, "key_not_text", message)
        return None

    def _sequence(self, node: SequenceNode, path: KeyPath) -> list[object]:
        built: list[object] = []
        for position, item in enumerate(node.value):
            value = self._placed(item, (*path, position), item)
            built.append(None if value is _UNREAD else value)
        return built

    def _constructed(self, node: Node, path: KeyPath) -> object:
        if node.tag != _TEXT_TAG and len(node.value) > _LONGEST_SCALAR:
            message = f"a value of more than {_LONGEST_SCALAR} characters; write a text in quotes"
            self.report(_start(node), path, "value_type", message)
            return _UNREAD
        try:
            value: object = self._constructor.construct_object(node)
        except _UNREADABLE:
            message = "this value has a type that is not used here; write plain text or a number"
            self.report(_start(node), path, "value_type", message)
            return _UNREAD
        return value

    def _content(self, node: Node, value: object) -> FilePosition | None:
        """Return where a text begins if it stands in the file without escapes or folds."""
        if not isinstance(node, ScalarNode) or not isinstance(value, str):
            return None
        quote = 1 if node.style in {"'", '"'} else 0
        if not self.text.startswith(value, node.start_mark.index + quote):
            return None
        start = _start(node)
        return FilePosition(line=start.line, column=start.column + quote)


def _start(node: Node) -> FilePosition:
    return FilePosition(line=node.start_mark.line + 1, column=node.start_mark.column + 1)
