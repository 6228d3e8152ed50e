"""A page as a parser reads it: its elements, and the text of some of them."""

from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Final

_VOID: Final = frozenset({"meta", "br", "img", "input", "link", "hr"})


@dataclass(slots=True)
class Element:
    """One element; `text` holds that of its children, too."""

    tag: str
    attributes: dict[str, str]
    text: str = field(default="", repr=False)


class ParsedPage(HTMLParser):
    """All elements of a page in the order in which they begin."""

    def __init__(self, page: str) -> None:
        """Read a whole page."""
        super().__init__(convert_charrefs=True)
        self.elements: list[Element] = []
        self._open: list[Element] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Open an element."""
        element = Element(tag, {name: value or "" for name, value in attrs})
        self.elements.append(element)
        if tag not in _VOID:
            self._open.append(element)

    def handle_endtag(self, tag: str) -> None:
        """Close an element; those that are not closed in order fail the test."""
        if tag in _VOID:
            return
        assert self._open[-1].tag == tag, f"</{tag}> closes <{self._open[-1].tag}>"
        self._open.pop()

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element without content."""
        self.elements.append(Element(tag, {name: value or "" for name, value in attrs}))

    def handle_data(self, data: str) -> None:
        """Add text to all elements that are open."""
        for element in self._open:
            element.text += data

    def of(self, tag: str) -> list[Element]:
        """Return the elements of a tag."""
        return [one for one in self.elements if one.tag == tag]

    def with_class(self, name: str) -> list[Element]:
        """Return the elements of a class."""
        return [one for one in self.elements if name in one.attributes.get("class", "").split()]

    @property
    def shape(self) -> list[tuple[str, tuple[tuple[str, str], ...]]]:
        """Every element with its attributes, and none of the text.

        Without those that show a character which would not be seen: their kind is told here.
        """
        unseen = self.with_class("unseen")
        for one in unseen:
            assert (one.tag, sorted(one.attributes)) == ("span", ["class", "data-code"])
            assert one.attributes["data-code"][2:].isalnum()
        others = (one for one in self.elements if one not in unseen)
        return [(one.tag, tuple(one.attributes.items())) for one in others]
