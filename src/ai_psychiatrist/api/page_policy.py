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
_DOCUMENTATION: Final = (
    "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)
_DOCUMENTATION_PATH: Final = "/docs"


def forbid_to_browsers(headers: MutableHeaders, path: str) -> None:
    """Add the headers to those of an answer; the documentation alone may have a style."""
    for name, value in _ALWAYS.items():
        headers[name] = value
    headers[_POLICY] = _DOCUMENTATION if path == _DOCUMENTATION_PATH else _NOTHING
