"""What a reader meets on a page: the words of each block, marks, links and spoken labels."""

from base64 import b64encode
from dataclasses import dataclass, field
from hashlib import sha256
from html.parser import HTMLParser
from typing import Final

from tests.golden.answer import Json

_BLOCKS: Final = frozenset(
    "address article aside blockquote body button caption dd details dialog div dl dt fieldset "
    "figure footer form h1 h2 h3 h4 h5 h6 head header hr html legend li main nav ol p section "
    "summary svg table tbody td text tfoot th thead title tr ul".split()
)
_VOID: Final = frozenset({"br", "hr", "img", "input", "link", "meta", "rect"})
_UNREAD: Final = ("script", "style")
_PLACES: Final = frozenset("aside dialog footer head header main nav section table".split())
_NAMING: Final = ("lang", "dir", "data-item", "data-items", "data-start", "data-value", "data-code")
_STATE: Final = ("name", "http-equiv", "charset", "value", "scope")
_SPOKEN: Final = ("title", "alt", "aria-label", "placeholder", "content")
_ALWAYS_TOLD: Final = frozenset({"a", "mark", "meter", "input", "meta", "img", "link"})


def page_value(page: str) -> Json:
    """Return the blocks of a page, by the anchor or the part of the page that they are in.

    A block is its text; where it has marks, links or labels, a list of its pieces in their order.
    """
    read = _Reader()
    for place, digest in _digests(page).items():
        page = page.replace(digest, f"sha256-of-its-{place}")
    read.feed(page)
    read.close()
    read.end_block()
    value: dict[str, Json] = {place: blocks for place, blocks in read.places.items() if blocks}
    dead = sorted({link for link in read.links if link[1:] not in read.anchors})
    return {"places": value, "dead_links": dead, "left_open": [one.tag for one in read.open]}


def _digests(page: str) -> dict[str, str]:
    """Return what a policy has to name for the style and the script that are in the page."""
    found: dict[str, str] = {}
    for tag in _UNREAD:
        _, _, rest = page.partition(f"<{tag}>")
        text, _, _ = rest.partition(f"</{tag}>")
        found[tag] = f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class _Open:
    tag: str
    place: str


@dataclass
class _Reader(HTMLParser):
    places: dict[str, list[Json]] = field(default_factory=dict)
    open: list[_Open] = field(default_factory=list)
    anchors: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    """Those to anchors of this page."""
    pieces: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag in _BLOCKS:
            self.end_block()
        if tag not in _VOID:
            self.open.append(_Open(tag=tag, place=self._place_of(tag, given)))
        if "id" in given:
            self.anchors.add(given["id"])
        if given.get("href", "").startswith("#"):
            self.links.append(given["href"])
        self._tell(tag, given)

    def handle_endtag(self, tag: str) -> None:
        if tag in _BLOCKS:
            self.end_block()
        if self.open and self.open[-1].tag == tag:
            self.open.pop()
        if tag == "mark":
            self.pieces.append("/mark")

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1].tag in _UNREAD:
            return
        words = " ".join(data.split())
        if words:
            self.pieces.append(words)

    def end_block(self) -> None:
        if self.pieces:
            place = self.open[-1].place if self.open else "page"
            block: Json = self.pieces[0] if len(self.pieces) == 1 else self.pieces
            self.places.setdefault(place, []).append(block)
            self.pieces = []

    def _place_of(self, tag: str, given: dict[str, str]) -> str:
        if tag in _BLOCKS and "id" in given:
            return given["id"]
        if tag in _PLACES:
            return ".".join([tag, *given.get("class", "").split()[:1]])
        return self.open[-1].place if self.open else "page"

    def _tell(self, tag: str, given: dict[str, str]) -> None:
        """Note an element that people or scripts tell from others, in the form of a selector."""
        named = [f"[{name}={_joined(given[name])}]" for name in _NAMING if name in given]
        spoken = [(name, given[name]) for name in _SPOKEN if name in given]
        if tag in _ALWAYS_TOLD or named or spoken:
            style = "".join(f".{name}" for name in given.get("class", "").split())
            link = [f"[href={given['href']}]"] if "href" in given else []
            state = [f"[{name}={given[name]}]" for name in _STATE if name in given]
            self.pieces.append("".join([tag, style, *link, *state, *named]))
            for name, text in spoken:
                self.pieces += [f"@{name}", text]


def _joined(value: str) -> str:
    """Return a list of names without blanks: a text with some would count as a sentence."""
    return "+".join(value.split())
