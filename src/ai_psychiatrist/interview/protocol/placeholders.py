"""Places such as `{title}` in the fixed sentences of a protocol."""

import re
from collections.abc import Collection, Mapping
from typing import Final

from ai_psychiatrist.validation.config.document import Document
from ai_psychiatrist.validation.config.problem import KeyPath
from ai_psychiatrist.validation.nearest import did_you_mean

_PLACE: Final = re.compile(r"\{([^{}]*)\}")
_BRACE: Final = re.compile(r"[{}]")


def filled(sentence: str, inputs: Mapping[str, str | int]) -> str:
    """Put inputs into their places. Inputs that are not given leave nothing behind."""
    return _PLACE.sub(lambda place: str(inputs.get(place[1], "")), sentence)


def check_places(
    document: Document, location: KeyPath, sentence: str, known: Collection[str]
) -> None:
    """Report places of a sentence that no input fills, and braces that are no places."""
    for place in _PLACE.finditer(sentence):
        if place[1] not in known:
            message = f"no input is named {place[1]!r}{did_you_mean(place[1], known)}"
            document.error(location, "unknown_input", message, column=place.start() + 1)
    stray = _BRACE.search(_PLACE.sub(lambda place: " " * len(place[0]), sentence))
    if stray is not None:
        message = "a brace stands alone; a place is written {name}"
        document.error(location, "stray_brace", message, column=stray.start() + 1)


def check_no_places(document: Document, location: KeyPath, text: str, *, what: str) -> None:
    """Report braces in a text that is used as it stands; the line is the one in that text."""
    stray = _BRACE.search(text)
    if stray is not None:
        line = text.count("\n", 0, stray.start()) + 1
        message = f"{what} is used as it stands, so no input can be put into it (line {line} of it)"
        document.error(location, "place_not_filled", message)
