"""Pages of results as HTML files that need nothing else: no network, no other file."""

import re
from base64 import b64encode
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING, Final

from markupsafe import Markup, escape

from ai_psychiatrist.domain.assessment import Assessment
from ai_psychiatrist.domain.risk import RiskGroup, RiskLevel, RiskReport
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
from ai_psychiatrist.results.page.views import SheetView
from ai_psychiatrist.results.page.words import mode_words, note_words, spoken_of, words
from ai_psychiatrist.results.wording import (
    counted_words,
    danger_headline,
    has_denials_alone,
    parts_words,
    read_first_words,
    sentence_parts,
    unknown_words,
)

if TYPE_CHECKING:
    from jinja2 import Environment


PACKAGE = "ai_psychiatrist.results.page"
LIVE_STYLE: Final = ("sheet.css", "live.css")
"""Of the live pages; the participant of an interview has a page that looks otherwise."""
PARTICIPANT_STYLE: Final = ("interview.css",)
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


def exact(text: str) -> Markup:
    """Return a text as HTML that a browser reads back character for character.

    Characters that steer and are not seen stand by themselves, with their number beside them: one
    that turns the direction of writing would let words be read that nobody said.
    """
    # What is not seen is not printable, nor is the end of a line.
    if text.isprintable():
        return escape(text)
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


def danger_words(risk: RiskReport) -> str:
    """Return the level of the signs, or that all of them were denied."""
    is_denied = risk.level is RiskLevel.NONE and has_denials_alone(risk)
    return words(RiskGroup.DENIED).lower() if is_denied else words(risk.level)


FILTERS = {
    "words": words,
    "note_words": note_words,
    "mode_words": mode_words,
    "exact": exact,
    "clock": clock,
    "total": total_words,
    "band": band_words,
    "total_note": total_note,
    "believed": believed_total,
    "made_by": made_by,
    "model_words": model_words,
    "danger_headline": danger_headline,
    "danger_words": danger_words,
    "read_first_words": read_first_words,
    "sentence_parts": sentence_parts,
    "spoken_of": spoken_of,
    "unknown_words": unknown_words,
    "is_of_rules": is_of_rules,
    "why_missing": why_missing,
    "failure_words": failure_words,
    "counted": counted_words,
    "parts_words": parts_words,
}
"""For the templates of the live page, too."""


_POLICY: Final = (
    "default-src 'none'; style-src {style}; script-src {script}; base-uri 'none'; "
    "form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)


def sheet_html(view: SheetView) -> str:
    """Return the page of an assessment, which holds what was said."""
    return file_html("sheet.html", script="sheet.js", view=view)


def file_html(template: str, *, script: str, **shown: object) -> str:
    """Return a page with its style and its script in it, and a policy that allows no others."""
    script_text = packaged(script)
    policy = _POLICY.format(style=style_source("sheet.css"), script=_source(script_text))
    return (
        environment()
        .get_template(template)
        .render(
            policy=policy,
            style=style("sheet.css"),
            script=Markup(script_text),  # noqa: S704 - a file of this package
            **shown,
        )
    )


@cache
def packaged(name: str) -> str:
    """Return a static file of the package."""
    return (files(PACKAGE) / "templates" / name).read_text("utf-8")


@cache
def style(*sheets: str) -> Markup:
    """Return style sheets for the `<style>` of a page, which is painted without asking for them."""
    return Markup("".join(map(packaged, sheets)))  # noqa: S704 - files of this package


@cache
def style_source(*sheets: str) -> str:
    """Return what allows a page exactly these style sheets, in the words of its policy."""
    return _source(style(*sheets))


def _source(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexRow:
    """One assessment in the table: written at once, so that no result has to be held for it."""

    name: str = field(repr=False)
    danger: RiskLevel
    html: str = field(repr=False)


def index_row(result: Assessment, *, name: str, href: str, has_transcript: bool) -> IndexRow:
    """Return the row of a result.

    `href`: where its page is, relative to the table, ready for a link.
    """
    row = environment().get_template("_index_row.html")
    html = row.render(result=result, name=name, href=href, has_transcript=has_transcript)
    return IndexRow(name=name, danger=result.risk.level, html=html)


def index_html(rows: Sequence[IndexRow]) -> str:
    """Return the table as a page that needs nothing else, in the order of the names."""
    in_order = sorted(rows, key=lambda row: row.name)
    found = Counter(row.danger for row in rows)
    return file_html(
        "index.html",
        script="index.js",
        rows=[Markup(row.html) for row in in_order],  # noqa: S704 - a template made it
        dangers=[(level, found[level]) for level in reversed(RiskLevel) if found[level]],
    )
