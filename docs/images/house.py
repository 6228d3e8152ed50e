"""Draws the packages as a house: its floors from the import contract, its doors from the imports.

`python docs/images/house.py` draws `house.svg` anew; a test compares the two.
"""

import tomllib
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Final

import grimp

PICTURE: Final = Path(__file__).with_suffix(".svg")
ROOT: Final = PICTURE.parents[2]
PACKAGE: Final = "ai_psychiatrist"

HOLDS: Final = {
    "cli": "the command line: parse, call one function, print",
    "api": "the HTTP server: routes, limits, problems",
    "interface": "Python: assess, evaluate, ground, validate",
    "wiring": "settings in, services out; opened and closed",
    "config": "the one reader of the environment",
    "evaluation": "datasets, runs, scores, metrics, reports",
    "jobs": "work that outlives its request",
    "reviews": "who rates what, and how raters agree",
    "access": "who calls, what they may, what they did",
    "proof": "certificates of results, and their verifier",
    "results": "the shapes that callers see",
    "distribution": "how sure each score is",
    "interview": "questions for what is still unknown",
    "assessment": "the straight line from text to result",
    "pipelines": "runs of pipelines that are declared in files",
    "agents": "prompts, readers of replies, the rule baseline",
    "llm": "from a prompt to a reply: routes, retries, slots",
    "store": "what is stored of assessments and runs, sealed",
    "services": "transcripts, language, grounding, danger",
    "statistics": "arrays in, figures out",
    "validation": "untrusted text in, typed value out",
    "infrastructure": "logs, digests, private files",
    "domain": "plain Python: PHQ-8, transcript, evidence",
}
"""What is in each room, in a few words."""

_ROW: Final = 28
_TOP: Final = 112
_LEFT: Final = 12
_HOUSE_WIDTH: Final = 470
_DOORS_LEFT: Final = _LEFT + _HOUSE_WIDTH + 26
_COLUMN: Final = 22
_STYLE: Final = """\
text { font: 13px sans-serif; fill: #222 }
.name { font-weight: bold }
.note { font-size: 12px; fill: #555 }
.floor { fill: #eef3f8; stroke: #fff; stroke-width: 3 }
.roof { fill: #c9d8e6 }
.line { stroke: #e3e3e3 }
.door { fill: #2f6690 }"""


def floors() -> list[list[str]]:
    """Return the rooms of each floor, from the top, as the contract names them."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    contracts = project["tool"]["importlinter"]["contracts"]
    (layers,) = (each["layers"] for each in contracts if each["type"] == "layers")
    return [[room.strip() for room in layer.split("|")] for layer in layers]


def doors() -> set[tuple[str, str]]:
    """Return each room with a room from which it imports."""
    graph = grimp.build_graph(PACKAGE, cache_dir=None)
    rooms = [room for floor in floors() for room in floor]
    return {
        (above, below)
        for above in rooms
        for below in rooms
        if above != below
        and graph.direct_import_exists(
            importer=f"{PACKAGE}.{above}", imported=f"{PACKAGE}.{below}", as_packages=True
        )
    }


def draw() -> str:
    """Return the picture."""
    rooms = [room for floor in floors() for room in floor]
    width = _DOORS_LEFT + _COLUMN * len(rooms) + 60
    height = _TOP + _ROW * len(rooms) + 12
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">',
            "<title>The packages, one floor a layer, and which imports which</title>",
            f"<style>{_STYLE}</style>",
            f'<rect width="{width}" height="{height}" fill="#fff"/>',
            *_house(),
            *_doors(rooms),
            "</svg>\n",
        )
    )


def _house() -> Iterator[str]:
    eaves, right = _TOP - 4, _LEFT + _HOUSE_WIDTH
    yield f'<path class="roof" d="M{_LEFT},{eaves} L{(_LEFT + right) / 2},24 L{right},{eaves} Z"/>'
    yield _text((_LEFT + right) / 2, eaves - 14, PACKAGE, "name", 'text-anchor="middle"')
    top = _TOP
    for floor in floors():
        height = _ROW * len(floor)
        yield (
            f'<rect class="floor" x="{_LEFT}" y="{top}" width="{_HOUSE_WIDTH}" height="{height}"/>'
        )
        for place, room in enumerate(floor):
            middle = top + _ROW * place + _ROW / 2 + 4
            yield _text(_LEFT + 14, middle, room, "name")
            yield _text(_LEFT + 130, middle, HOLDS[room], "note")
        top += height


def _doors(rooms: list[str]) -> Iterator[str]:
    opened = doors()
    bottom = _TOP + _ROW * len(rooms)
    for column, room in enumerate(rooms):
        x = _DOORS_LEFT + _COLUMN * column
        y = _TOP + _ROW * column + _ROW / 2
        end = _DOORS_LEFT + _COLUMN * len(rooms)
        yield f'<path class="line" d="M{_DOORS_LEFT - 14},{y} H{end} M{x},{_TOP} V{bottom}"/>'
        yield _text(x, _TOP - 8, room, "note", f'transform="rotate(-55 {x} {_TOP - 8})"')
        for row, importer in enumerate(rooms):
            if (importer, room) in opened:
                yield f'<circle class="door" cx="{x}" cy="{_TOP + _ROW * row + _ROW / 2}" r="5"/>'


def _text(x: float, y: float, text: str, kind: str, more: str = "") -> str:
    return f'<text x="{x}" y="{y}" class="{kind}" {more}>{escape(text)}</text>'


if __name__ == "__main__":
    PICTURE.write_text(draw(), "utf-8")
