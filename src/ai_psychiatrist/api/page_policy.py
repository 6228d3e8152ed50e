"""What every answer forbids a browser to do with it."""

from typing import Final

from starlette.datastructures import MutableHeaders

from ai_psychiatrist.api.paths import PARTICIPANT_PATH, STATIC_FOLDER, is_of_participant
from ai_psychiatrist.results.page.pages import LIVE_STYLE, PARTICIPANT_STYLE, style_source

_ALWAYS: Final = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
}
_POLICY: Final = "Content-Security-Policy"
_NOTHING: Final = "default-src 'none'; frame-ancestors 'none'"
# Style sheets stand in the page, and no others are allowed.
_PAGE: Final = (
    "default-src 'none'; script-src 'self'; style-src {style}; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
# Swagger renders nothing under Trusted Types.
_DOCUMENTATION: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_DOCUMENTATION_PATH: Final = "/docs"
_PAGE_PATHS: Final = frozenset(
    {"/", "/find", "/new", "/login", "/logout", "/next", "/agreement", PARTICIPANT_PATH}
)
_PAGES_UNDER: Final = ("/assessments/", "/chosen/", "/danger/", "/interviews/")
_KEPT: Final = "public, max-age=31536000, immutable"


def forbid_to_browsers(headers: MutableHeaders, path: str) -> None:
    """Add the headers to those of an answer; pages for people alone may run scripts."""
    for name, value in _ALWAYS.items():
        headers[name] = value
    # A file, and nothing for one caller alone.
    is_file = headers.get("Content-Type", "").startswith(("text/", "image/"))
    if path.startswith(STATIC_FOLDER) and is_file and "Set-Cookie" not in headers:
        headers["Cache-Control"] = _KEPT
    headers[_POLICY] = _DOCUMENTATION if path == _DOCUMENTATION_PATH else _NOTHING
    if is_page(path):
        sheets = PARTICIPANT_STYLE if is_of_participant(path) else LIVE_STYLE
        headers[_POLICY] = _PAGE.format(style=style_source(*sheets))
        # Without a referrer a form of our own page would come from nowhere.
        headers["Referrer-Policy"] = "same-origin"


def is_page(path: str) -> bool:
    """Return whether a path is a page for people."""
    return path in _PAGE_PATHS or path.startswith(_PAGES_UNDER)
