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
# FastAPI's pages fetch their scripts from there, and start them with a script of their own.
_DOCUMENTATION: Final = (
    "default-src 'none'; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; "
    "form-action 'none'; script-src https://cdn.jsdelivr.net 'unsafe-inline'; "
    "style-src https://cdn.jsdelivr.net https://fonts.googleapis.com 'unsafe-inline'; "
    "font-src https://fonts.gstatic.com; worker-src blob:; "
    "img-src data: https://fastapi.tiangolo.com https://cdn.redoc.ly"
)
_DOCUMENTATION_PATHS: Final = frozenset({"/docs", "/redoc"})


def forbid_to_browsers(headers: MutableHeaders, path: str) -> None:
    """Add the headers to those of an answer; the documentation's pages alone may run scripts."""
    for name, value in _ALWAYS.items():
        headers[name] = value
    headers[_POLICY] = _DOCUMENTATION if path in _DOCUMENTATION_PATHS else _NOTHING
