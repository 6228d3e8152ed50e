"""How the paragraphs of a Word document look: what is hidden, and looks that tell voices apart."""

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from docx.oxml.xmlchemy import BaseOxmlElement

WORD: Final = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_VALUE: Final = f"{WORD}val"
_OFF: Final = frozenset({"0", "false", "none", "off"})
_UNSAID: Final = tuple(f"{WORD}{name}" for name in ("vanish", "strike", "dstrike"))
_OF_RUN: Final = tuple(f"{WORD}{name}" for name in ("b", "i", "u", "color", "highlight", "shd"))
_OF_PARAGRAPH: Final = tuple(f"{WORD}{name}" for name in ("jc", "ind", "pStyle", "numPr"))
_HEADINGS: Final = ("heading", "title", "subtitle", "berschrift", "titre", "kop")
_FEWEST: Final = 2
_FEWEST_CHANGES: Final = 2


def is_unsaid(run: "BaseOxmlElement") -> bool:
    """Return whether what a run holds is hidden, or struck out."""
    properties = run.find(f"{WORD}rPr")
    return properties is not None and any(
        mark is not None and mark.get(_VALUE) not in _OFF for mark in map(properties.find, _UNSAID)
    )


def looks_of_several(body: "BaseOxmlElement") -> bool:
    """Return whether paragraphs of two looks take turns, as those of two speakers may."""
    looks = [look for paragraph in body.findall(f"{WORD}p") if (look := _look(paragraph))]
    times = Counter(looks)
    changes = sum(1 for one, other in pairwise(looks) if one != other)
    return sum(1 for count in times.values() if count >= _FEWEST) > 1 and changes > _FEWEST_CHANGES


def _look(paragraph: "BaseOxmlElement") -> frozenset[tuple[str, str]]:
    """Return by what a paragraph looks; nothing for a heading and for one without words."""
    runs = [run for run in paragraph.iter(f"{WORD}r") if any(run.itertext())]
    if not runs:
        return frozenset()
    look = frozenset(_marks(paragraph.find(f"{WORD}pPr"), _OF_PARAGRAPH))
    if any(name == f"{WORD}pStyle" and _is_heading(value) for name, value in look):
        return frozenset()
    shared = [frozenset(_marks(run.find(f"{WORD}rPr"), _OF_RUN)) for run in runs]
    return look | frozenset.intersection(*shared) | {("", "")}


def _marks(
    properties: "BaseOxmlElement | None", names: tuple[str, ...]
) -> Iterator[tuple[str, str]]:
    for name in names if properties is not None else ():
        mark = properties.find(name) if properties is not None else None
        if mark is not None and mark.get(_VALUE) not in _OFF:
            yield name, str(sorted(mark.attrib.items()))


def _is_heading(value: str) -> bool:
    return any(word in value.casefold() for word in _HEADINGS)
