"""The names that a unit's context brings with it before the first step."""

from dataclasses import dataclass
from pathlib import Path

from ai_psychiatrist.validation.config.document import document_of
from ai_psychiatrist.validation.config.given_file import FileUnusable, read_bounded
from ai_psychiatrist.validation.config.lint.node import Node


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What is known of the context's names."""

    names: frozenset[str]
    is_complete: bool
    """Whether `processing.inputs` lists them all, so that any other name is a mistake."""
    declared: Node | None = None
    """The list of `processing.inputs`."""


def read_inputs(processing: Node | None, folder: Path) -> Inputs:
    """Collect the names that positions, items and the list of inputs declare."""
    if processing is None:
        return Inputs(names=frozenset(), is_complete=False)
    declared = processing.child("inputs")
    listed = () if declared is None else declared.names(of="names of the context")
    return Inputs(
        names=frozenset(listed) | _positions(processing) | _items(processing, folder),
        is_complete=declared is not None,
        declared=declared,
    )


def _positions(processing: Node) -> frozenset[str]:
    listed = processing.child("positions")
    positions = [] if listed is None else listed.items(of="positions")
    names = [position.child("name") for position in positions]
    return frozenset(str(name.value) for name in names if name is not None)


def _items(processing: Node, folder: Path) -> frozenset[str]:
    """Return the fields of the items; their file is not needed for validation, so it may lack."""
    items = processing.child("items")
    source = None if items is None else items.child("source")
    if items is None or source is None:
        return frozenset()
    name, key = source.text(), items.child("key")
    if name is None:
        return frozenset()
    try:
        document = document_of(read_bounded(folder / name))
    except FileUnusable as error:
        source.warn("items_file", f"the items {name!r} cannot be read: {error}")
        return frozenset()
    if document.has_errors:
        source.warn("items_file", f"the items {name!r} are no YAML as it is used here")
    if key is None or not isinstance(document.value, dict):
        return frozenset()
    listed = document.value.get(str(key.value))
    if not isinstance(listed, list):
        key.warn("items_file", f"the items {name!r} have no list {key.value!r}")
        return frozenset()
    return frozenset(field for item in listed if isinstance(item, dict) for field in item)
