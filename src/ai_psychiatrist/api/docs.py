"""The page at /docs: Swagger's own files, which need no network, and a start script of ours."""

from functools import cache
from importlib.resources import files
from typing import Final

from fastapi import APIRouter, Response

from ai_psychiatrist.api.problems import Problem

_PAGE: Final = "index.html"
_OURS: Final = files("ai_psychiatrist.api") / "docs_page"
_SWAGGERS: Final = files("fastapi_offline") / "static"
_FILES: Final = {
    _PAGE: (_OURS, "text/html"),
    "start.js": (_OURS, "text/javascript"),
    "swagger-ui.css": (_SWAGGERS, "text/css"),
    "swagger-ui-bundle.js": (_SWAGGERS, "text/javascript"),
}
"""Where each file lies, and its media type."""

router = APIRouter(include_in_schema=False)


@router.get("/docs")
async def docs_page() -> Response:
    """Serve the page; it reads `openapi.json` beside it."""
    return _served(_PAGE)


@router.get("/docs/{name}")
async def docs_file(name: str) -> Response:
    """Serve a style sheet or a script of the page."""
    if name not in _FILES:
        raise Problem("not_found", "No such file; load the page again.")
    return _served(name)


def _served(name: str) -> Response:
    return Response(_content(name), media_type=_FILES[name][1])


@cache
def _content(name: str) -> bytes:
    return (_FILES[name][0] / name).read_bytes()
