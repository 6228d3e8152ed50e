"""Draws one score under six changes of the interview, and what they say together.

`python docs/images/ablation.py` draws `ablation.svg` anew; a test compares the two.
"""

from html import escape
from pathlib import Path
from typing import Final

PICTURE: Final = Path(__file__).with_suffix(".svg")

ROWS: Final = (
    ("as it was", "I can't sleep, most nights.", "2", "2"),
    ("struck out", "_ ___'_ _____, ____ ______.", "no score", "2"),
    ("alone", "I can't sleep, most nights.", "2", "2"),
    ("reversed", "I can sleep, most nights.", "0", "2"),
    ("ten years back", "Ten years ago, I couldn't sleep, most nights.", "no score", "2"),
    ("asked otherwise", "I can't sleep, most nights.", "2", "2"),
    ("nothing said", "_ ___'_ _____, ____ ______.", "no score", "2"),
    ("verdict", "", "evidence-driven", "not evidence-driven"),
)
"""The change, what the participant says after it, the score of an honest model and of a prior."""

_COLUMNS: Final = (12, 150, 520, 660)
_HEADS: Final = ("change", "the participant says", "an honest model", "a model with a prior")
_ROW: Final = 28
_WIDTH: Final = 830
_STYLE: Final = """\
text { font: 13px sans-serif; fill: #222 }
.head { font-weight: bold }
.said { font-family: monospace; font-size: 12px }
.good { fill: #1a7f4b; font-weight: bold }
.bad { fill: #b3261e; font-weight: bold }
.line { stroke: #e3e3e3 }"""


def draw() -> str:
    """Return the picture."""
    height = _ROW * (len(ROWS) + 1) + 16
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" role="img">',
        "<title>A score of two models under six changes of the interview</title>",
        f"<style>{_STYLE}</style>",
        f'<rect width="{_WIDTH}" height="{height}" fill="#fff"/>',
        *_row(0, _HEADS, ("head",) * 4),
    ]
    for place, row in enumerate(ROWS, start=1):
        is_verdict = row is ROWS[-1]
        kinds = ("head", "said", "good" if is_verdict else "", "bad" if is_verdict else "")
        y = _ROW * place + 8
        lines.append(f'<path class="line" d="M{_COLUMNS[0]},{y} H{_WIDTH - 12}"/>')
        lines += _row(place, row, kinds)
    return "\n".join([*lines, "</svg>\n"])


def _row(place: int, cells: tuple[str, ...], kinds: tuple[str, ...]) -> list[str]:
    y = _ROW * place + 27
    return [
        f'<text x="{x}" y="{y}" class="{kind}">{escape(cell)}</text>'
        for x, cell, kind in zip(_COLUMNS, cells, kinds, strict=True)
    ]


if __name__ == "__main__":
    PICTURE.write_text(draw(), "utf-8")
