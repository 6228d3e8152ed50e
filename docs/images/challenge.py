"""Draws the charged errors that `benchmarks/challenge.json` keeps: of systems, and by difficulty.

`python docs/images/challenge.py` draws `challenge.svg` anew; a test compares the two.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any, Final

PICTURE: Final = Path(__file__).with_suffix(".svg")
FIGURES: Final = Path(__file__).parents[2] / "benchmarks" / "challenge.json"
MEASURED: Final = "baseline"
"""The system that is shown by difficulty."""

_ROW: Final = 24
_WIDTH: Final = 740
_LEFT: Final = 190
_RIGHT: Final = 650
_TOP: Final = 40
_MOST: Final = 1.5
"""The error at the right edge of the scale."""
_STYLE: Final = """\
text { font: 13px sans-serif; fill: #222 }
.head { font-weight: bold }
.tick { font-size: 11px; fill: #666; text-anchor: middle }
.grid { stroke: #e3e3e3 }
.interval { stroke: #2f6690; stroke-width: 3; stroke-linecap: round }
.value { fill: #2f6690 }"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of the picture."""

    name: str
    value: float
    interval: tuple[float, float]
    """Its low and its high end."""


def rows_of_systems() -> list[Row]:
    """Return the systems, the one with the least error first."""
    return _sorted({one["name"]: one["all"]["charged_error"] for one in _systems()})


def rows_of_difficulties() -> list[Row]:
    """Return what the measured system makes of each kind of patient."""
    (measured,) = (one for one in _systems() if one["name"] == MEASURED)
    kinds = measured["by_difficulty"]
    return _sorted({name: figures["charged_error"] for name, figures in kinds.items()})


def draw() -> str:
    """Return the picture."""
    systems, difficulties = rows_of_systems(), rows_of_difficulties()
    below = _TOP + _ROW * len(systems) + _TOP + 16
    height = below + _ROW * len(difficulties) + 16
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" role="img">',
            "<title>Charged error of five systems, and of the baseline by difficulty</title>",
            f"<style>{_STYLE}</style>",
            f'<rect width="{_WIDTH}" height="{height}" fill="#fff"/>',
            *_part("charged error", systems, top=_TOP),
            *_part(f"{MEASURED}, by difficulty", difficulties, top=below),
            "</svg>\n",
        )
    )


def _part(head: str, rows: list[Row], *, top: int) -> Iterator[str]:
    bottom = top + _ROW * len(rows)
    yield f'<text x="12" y="{top - 12}" class="head">{escape(head)}</text>'
    for tick in (0, 0.5, 1, _MOST):
        yield f'<path class="grid" d="M{_x(tick)},{top} V{bottom}"/>'
        yield f'<text x="{_x(tick)}" y="{top - 12}" class="tick">{tick:g}</text>'
    for place, row in enumerate(rows):
        y = top + _ROW * place + _ROW // 2
        low, high = row.interval
        yield f'<text x="12" y="{y + 4}">{escape(row.name)}</text>'
        yield f'<path class="interval" d="M{_x(low)},{y} H{_x(high)}"/>'
        yield f'<circle class="value" cx="{_x(row.value)}" cy="{y}" r="5"/>'
        yield f'<text x="{_RIGHT + 24}" y="{y + 4}">{row.value:.2f}</text>'


def _x(error: float) -> str:
    return f"{_LEFT + (_RIGHT - _LEFT) * error / _MOST:.1f}"


def _systems() -> list[dict[str, Any]]:
    systems: list[dict[str, Any]] = json.loads(FIGURES.read_bytes())["whole"]["systems"]
    return systems


def _sorted(figures: dict[str, dict[str, Any]]) -> list[Row]:
    rows = [
        Row(name=name, value=one["value"], interval=(one["interval"][0], one["interval"][1]))
        for name, one in figures.items()
    ]
    return sorted(rows, key=lambda row: row.value)


if __name__ == "__main__":
    PICTURE.write_text(draw(), "utf-8")
