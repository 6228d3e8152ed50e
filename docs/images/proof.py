"""Draws what a certificate holds, and what its verifier does with each part.

`python docs/images/proof.py` draws `proof.svg` anew; a test compares the two.
"""

from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Final

PICTURE: Final = Path(__file__).with_suffix(".svg")

STEPS: Final = (
    ("transcript", "SHA-256 of its text, the participant's turns", "recomputed"),
    ("quotes", "places, and a keyed digest of the words there", "recomputed"),
    ("facts", "about whom, is it so, how often, when", "on trust, named by rule set"),
    ("reply", "the score that a model or the baseline gave", "on trust, named by model"),
    ("rows", "the clinical rules: which scores these facts allow", "derived again"),
    ("score", "0-3, or unknown and why", "derived again"),
    ("total", "its range, its bands, the interval believed", "derived again"),
    ("digest", "SHA-256 over all of it, and a signature", "compared with yours"),
)
_ROW: Final = 34
_WIDTH: Final = 760
_TOP: Final = 16
_STYLE: Final = """\
text { font: 13px sans-serif; fill: #222 }
.name { font-weight: bold }
.note { font-size: 12px; fill: #555 }
.box { fill: #eef3f8 }
.checked { fill: #2f6690 }
.trusted { fill: #b3671e }"""


def draw() -> str:
    """Return the picture."""
    height = 2 * _TOP + _ROW * len(STEPS)
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" role="img">',
            "<title>What a certificate holds, and what is done with it</title>",
            f"<style>{_STYLE}</style>",
            f'<rect width="{_WIDTH}" height="{height}" fill="#fff"/>',
            *_rows(),
            "</svg>\n",
        )
    )


def _rows() -> Iterator[str]:
    for place, (name, holds, fate) in enumerate(STEPS):
        y = _TOP + _ROW * place
        kind = "trusted" if fate.startswith("on trust") else "checked"
        yield f'<rect class="box" x="16" y="{y}" width="490" height="{_ROW - 6}"/>'
        yield _text(28, y + 19, name, "name")
        yield _text(120, y + 19, holds, "note")
        yield f'<circle class="{kind}" cx="532" cy="{y + 14}" r="6"/>'
        yield _text(550, y + 19, fate, "note")


def _text(x: int, y: int, text: str, kind: str) -> str:
    return f'<text x="{x}" y="{y}" class="{kind}">{escape(text)}</text>'


if __name__ == "__main__":
    PICTURE.write_text(draw(), "utf-8")
