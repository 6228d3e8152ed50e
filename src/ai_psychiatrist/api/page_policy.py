"""What every answer forbids a browser to do with it."""

from typing import Final

from starlette.datastructures import MutableHeaders

_ALWAYS: Final = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
}
_POLICY: Final = "Content-Security-Policy"
_NOTHING: Final = "default-src 'none'; frame-ancestors 'none'"
_PAGE: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
_DOCUMENTATION: Final = (
    "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)
_DOCUMENTATION_PATH: Final = "/docs"
_PAGE_PATHS: Final = frozenset({"/", "/new", "/login", "/logout", "/next", "/agreement"})
_PAGES_UNDER: Final = "/assessments/"
_STATIC: Final = "/static/"
_KEPT: Final = "public, max-age=31536000, immutable"


def forbid_to_browsers(headers: MutableHeaders, path: str) -> None:
    """Add the headers to those of an answer; pages for people alone may run scripts."""
    for name, value in _ALWAYS.items():
        headers[name] = value
    if path.startswith(_STATIC) and _may_be_kept(headers):
        headers["Cache-Control"] = _KEPT
    if is_page(path):
        # Without a referrer a form of our own page would come from nowhere.
        headers["Referrer-Policy"] = "same-origin"
    headers[_POLICY] = policy_of(path)


def _may_be_kept(headers: MutableHeaders) -> bool:
    """Return whether it is a file, and nothing for one caller alone."""
    is_file = headers.get("Content-Type", "").startswith(("text/", "image/"))
    return is_file and "Set-Cookie" not in headers


def policy_of(path: str) -> str:
    """Return what a browser may load and run for the answer to a path."""
    if path == _DOCUMENTATION_PATH:
        return _DOCUMENTATION
    return _PAGE if is_page(path) else _NOTHING


def is_page(path: str) -> bool:
    """Return whether a path is a page for people."""
    return path in _PAGE_PATHS or path.startswith(_PAGES_UNDER)
