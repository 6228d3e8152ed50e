"""What an artefact holds, in counts."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.services.retrieval.arrays import read_array
from ai_psychiatrist.services.retrieval.artefact import NOT_SCORED, READINGS_FILE
from ai_psychiatrist.services.retrieval.chunks import Reading
from ai_psychiatrist.services.retrieval.manifest import Manifest


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemAccount:
    """How many chunks there are for an item."""

    read: int
    """Those whose words were read as about it."""
    scored: int
    shown: int
    """Those that are both."""


def account_of(folder: Path, manifest: Manifest) -> Mapping[Item, ItemAccount]:
    """Count the chunks of every item; raises `ArtifactMismatch` for files that hold no arrays."""
    items = tuple(Item)
    is_read = read_array(folder / READINGS_FILE, np.uint8, columns=len(items)) != Reading.NOTHING
    is_scored = np.zeros_like(is_read)
    if manifest.scoring is not None:
        is_scored = (
            read_array(folder / manifest.scoring.file, np.int8, columns=len(items)) != NOT_SCORED
        )
    return {
        item: ItemAccount(
            read=int(is_read[:, column].sum()),
            scored=int(is_scored[:, column].sum()),
            shown=int((is_read[:, column] & is_scored[:, column]).sum()),
        )
        for column, item in enumerate(items)
    }
