"""The names that a unit's context brings with it before the first step."""

from dataclasses import dataclass
from pathlib import Path

from ai_psychiatrist.validation.config.document import Document, document_of
from ai_psychiatrist.validation.config.given_file import FileUnusable, read_bounded
from ai_psychiatrist.validation.config.pipeline_file import Processing


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What is known of the context's names."""

    names: frozenset[str]
    is_complete: bool
    """Whether `processing.inputs` lists them all, so that any other name is a mistake."""


def declared_names(processing: Processing, document: Document, folder: Path) -> Inputs:
    """Collect the names that positions, items and the list of inputs declare."""
    positions = (position.name for position in processing.positions)
    items = _items(processing, document, folder)
    return Inputs(
        names=items.union(processing.inputs, positions),
        is_complete="inputs" in processing.model_fields_set
        or bool(document.reported_in(("processing", "inputs"))),
    )


def _items(processing: Processing, document: Document, folder: Path) -> frozenset[str]:
    """Return the fields of the items; their file is not needed for validation, so it may lack."""
    name, key = processing.items.source, processing.items.key
    if name is None:
        return frozenset()
    place = ("processing", "items", "source")
    try:
        items = document_of(read_bounded(folder / name))
    except FileUnusable as error:
        document.warn(place, "items_file", f"the items {name!r} cannot be read: {error}")
        return frozenset()
    if items.has_errors:
        document.warn(place, "items_file", f"the items {name!r} are no YAML as it is used here")
    if key is None or not isinstance(items.value, dict):
        return frozenset()
    listed = items.value.get(key)
    if not isinstance(listed, list):
        place = ("processing", "items", "key")
        document.warn(place, "items_file", f"the items {name!r} have no list {key!r}")
        return frozenset()
    return frozenset(field for item in listed if isinstance(item, dict) for field in item)
