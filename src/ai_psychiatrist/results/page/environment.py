"""The templates of pages, and what they call: everything that they show is escaped."""

import re
from functools import cache
from typing import TYPE_CHECKING, Final

from ai_psychiatrist.results.page.belief_bars import bars_of
from ai_psychiatrist.results.page.sentences import (
    band_words,
    believed_total,
    failure_words,
    is_of_rules,
    made_by,
    model_words,
    total_note,
    total_words,
    why_missing,
)
from ai_psychiatrist.results.page.words import mode_words, note_words, words
from ai_psychiatrist.results.wording import danger_headline, read_first_words, unknown_words

if TYPE_CHECKING:
    from jinja2 import Environment

PACKAGE = "ai_psychiatrist.results.page"
_UNSEEN: Final = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e007f]"
)
"""Not those that join letters and pictures, nor the marks that only place punctuation."""


@cache
def environment() -> "Environment":
    """Return the templates with their filters."""
    from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415 - slow to load

    made = Environment(
        loader=PackageLoader(PACKAGE),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters |= FILTERS
    return made


def exact(text: str) -> str:
    """Return a text as HTML that a browser reads back character for character.

    Characters that steer and are not seen stand by themselves, with their number beside them: one
    that turns the direction of writing would let words be read that nobody said.
    """
    from markupsafe import Markup, escape  # noqa: PLC0415 - slow to load

    # A browser makes one line end of each carriage return that is not written as its number.
    escaped = str(escape(text)).replace("\r", "&#13;")
    return Markup(_UNSEEN.sub(_seen, escaped))  # noqa: S704 - escaped before


def _seen(found: re.Match[str]) -> str:
    character = found[0]
    # A browser leaves it out, and every place after it would be another one.
    kept = "\ufffd" if character == "\0" else character
    return f'<span class="unseen" data-code="U+{ord(character):04X}">{kept}</span>'


def clock(seconds: float) -> str:
    """Return a time of a recording, such as 1:02:03."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


FILTERS = {
    "words": words,
    "note_words": note_words,
    "mode_words": mode_words,
    "exact": exact,
    "clock": clock,
    "bars": bars_of,
    "total": total_words,
    "band": band_words,
    "total_note": total_note,
    "believed": believed_total,
    "made_by": made_by,
    "model_words": model_words,
    "danger_headline": danger_headline,
    "read_first_words": read_first_words,
    "unknown_words": unknown_words,
    "is_of_rules": is_of_rules,
    "why_missing": why_missing,
    "failure_words": failure_words,
}
"""For the templates of the live page, too."""
