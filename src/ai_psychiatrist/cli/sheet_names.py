"""Names of pages, each of which every file system can keep beside the others."""

import os
import unicodedata
from pathlib import Path
from typing import Final

from ai_psychiatrist.cli.result_folder import Unusable

_MOST_BYTES: Final = 200
"""A file system has room for 255, of which the ending and the draft of a file take some."""


class SheetNames:
    """The names that are given out in one folder."""

    def __init__(self) -> None:
        self._given: dict[str, str] = {}

    def taken_for(self, path: Path) -> str:
        """Return what the page of a result is called; raises `Unusable`."""
        if len(os.fsencode(path.stem)) > _MOST_BYTES:
            msg = f"its name is longer than {_MOST_BYTES} bytes; rename it"
            raise Unusable(msg)
        try:
            path.stem.encode()
        except UnicodeEncodeError:
            msg = "its name is no UTF-8; rename it"
            raise Unusable(msg) from None
        known = self._given.setdefault(_as_folders_compare(path.stem), path.name)
        if known != path.name:
            # Where upper and lower case are one, a page would take the place of the other.
            msg = f"many systems take its name for that of {known}; rename one of them"
            raise Unusable(msg)
        return f"{path.stem}.html"


def _as_folders_compare(name: str) -> str:
    composed = unicodedata.normalize("NFC", name).casefold()  # noqa: TID251  a name is short
    return unicodedata.normalize("NFC", composed)  # noqa: TID251  as above
