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
    *(ConstructorError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError),
)
"""What PyYAML raises for a value that does not fit its tag, such as `!!bool perhaps`."""
_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


Report: TypeAlias = Callable[[FilePosition | None, KeyPath, str, str], None]
"""Takes the place, the keys that lead there, a code and a message."""


@dataclass(slots=True, kw_only=True)
class Mark:
    """Where a value stands in the file."""

    path: KeyPath
    """The keys that lead there in the file."""
    key: FilePosition | None = None
    """The value's key, or the value itself in a list."""
    text: FilePosition | None = None
    """The first character of a text's content, where columns inside it can be told."""
    inner: dict[str | int, "Mark"] = field(default_factory=dict, repr=False)
    """Those of the values inside, by key or position."""


class YamlUnusable(Exception):
    """The text leaves nothing to look at; the message says why."""

    def __init__(self, code: str, message: str, place: FilePosition | None = None) -> None:
        """`code`: the kind of problem."""
        super().__init__(message)
        self.code = code
        self.place = place


def read_yaml(text: str, report: Report) -> tuple[object, Mark]:
    """Read YAML text as plain values with their places; a value that cannot be read is left out.

    Raises `YamlUnusable`.
    """
    try:
        _check_bounds(text)
        root = yaml.compose(text, Loader=_LOADER)
    except yaml.YAMLError as error:
        # The parser's own text would quote the file.
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or getattr(error, "reason", None)
        place = None if mark is None else FilePosition(line=mark.line + 1, column=mark.column + 1)
        message = f"the file is no YAML: {problem or 'not readable'}"
        raise YamlUnusable("yaml_syntax", message, place) from None
    if root is None:
        raise YamlUnusable("empty_file", "the file is empty")
    whole = Mark(path=())
    return _Builder(text=text, report=report).build(root, whole), whole


def _check_bounds(text: str) -> None:
    """Count what the file holds before anything is built from it."""
    depth = aliases = 0
    for event in yaml.parse(text, Loader=_LOADER):
        depth += isinstance(event, yaml.events.CollectionStartEvent)
        depth -= isinstance(event, yaml.events.CollectionEndEvent)
        aliases += isinstance(event, yaml.events.AliasEvent)
        if depth > _MAX_DEPTH:
            raise _too_large(f"is nested deeper than {_MAX_DEPTH} levels")
        if aliases > _MAX_ALIASES:
            raise _too_large(f"has more than {_MAX_ALIASES} aliases")


def _too_large(how: str) -> YamlUnusable:
    return YamlUnusable("yaml_too_large", f"the file {how}")


@dataclass(slots=True, kw_only=True)
class _Builder:
    """Builds plain values from YAML nodes and marks their places."""

    text: str
    report: Report
    _count: int = 0
    _open: set[int] = field(default_factory=set)
    _constructor: SafeConstructor = field(default_factory=SafeConstructor)

    def build(self, node: Node, mark: Mark) -> object:
        self._count += 1
        if self._count > _MAX_VALUES:
            raise _too_large(f"holds more than {_MAX_VALUES} values, aliases counted each time")
        if id(node) in self._open:
            self.report(None, mark.path, "yaml_loop", "an alias stands inside its own anchor")
            return _UNREAD
        self._open.add(id(node))
        match node:
            case MappingNode():
                value: object = self._mapping(node, mark)
            case SequenceNode():
                items = [self._placed(item, mark, at, item) for at, item in enumerate(node.value)]
                value = [None if item is _UNREAD else item for item in items]
            case _:
                value = self._constructed(node, mark.path)
        self._open.discard(id(node))
        return value

    def _placed(self, node: Node, around: Mark, key: str | int, marker: Node) -> object:
        """Build a value whose place is that of `marker`, its key or the value itself."""
        mark = around.inner[key] = Mark(path=(*around.path, key), key=_start(marker))
        value = self.build(node, mark)
        quote = 1 if isinstance(node, ScalarNode) and node.style in {"'", '"'} else 0
        # Columns inside a text count where it stands in the file without escapes or folds.
        if isinstance(value, str) and self.text.startswith(value, node.start_mark.index + quote):
            start = _start(node)
            mark.text = FilePosition(line=start.line, column=start.column + quote)
        return value

    def _mapping(self, node: MappingNode, mark: Mark) -> dict[str, object]:
        built: dict[str, object] = {}
        merged: dict[str, object] = {}
        for key_node, value_node in node.value:
            if key_node.tag == _MERGE_TAG:
                merged = self._merged(value_node, mark) | merged
                continue
            key = self._key(key_node, mark.path)
            if key in built:
                message = f"the key {key!r} stands twice here; only one can count"
                self.report(_start(key_node), (*mark.path, key), "duplicate_key", message)
            elif key is not None:
                value = self._placed(value_node, mark, key, key_node)
                built |= {} if value is _UNREAD else {key: value}
        return merged | built

    def _merged(self, node: Node, mark: Mark) -> dict[str, object]:
        """Return the keys that `<<` brings in; of several sources the first wins."""
        sources = node.value if isinstance(node, SequenceNode) else [node]
        merged: dict[str, object] = {}
        for source in sources:
            if not isinstance(source, MappingNode):
                self.report(_start(source), mark.path, "merge", "`<<` needs a mapping")
                continue
            value = self.build(source, mark)
            merged = value | merged if isinstance(value, dict) else merged
        return merged

    def _key(self, node: Node, path: KeyPath) -> str | None:
        if isinstance(node, ScalarNode) and isinstance(self._constructed(node, path), str):
            return str(node.value)
        message = "a key is no text; write it in quotes"
        self.report(_start(node), path, "key_not_text", message)
        return None

    def _constructed(self, node: Node, path: KeyPath) -> object:
        message = "this value has a type that is not used here; write plain text or a number"
        try:
            if node.tag == _TEXT_TAG or len(node.value) <= _LONGEST_SCALAR:
                value: object = self._constructor.construct_object(node)
                return value
            message = f"a value of more than {_LONGEST_SCALAR} characters; write a text in quotes"
        except _UNREADABLE:
            pass
        self.report(_start(node), path, "value_type", message)
        return _UNREAD


def _start(node: Node) -> FilePosition:
    return FilePosition(line=node.start_mark.line + 1, column=node.start_mark.column + 1)
