"""The style sheets and modules of the pages: under one digest, so that browsers may keep them."""

import hashlib
from functools import cache
from importlib.resources import files
from typing import Final

from fastapi import APIRouter
from fastapi.responses import Response

from ai_psychiatrist.api.problems import Refusal, problem
from ai_psychiatrist.results.page.environment import PACKAGE

STATIC: Final = "/static/"
_MEDIA_TYPES: Final = {
    ".css": "text/css",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
}

_FOLDERS: Final = ("templates", "static")

router = APIRouter(include_in_schema=False)


@cache
def _assets() -> dict[str, bytes]:
    place = files(PACKAGE)
    found = (one for name in _FOLDERS for one in (place / name).iterdir())
    return {one.name: one.read_bytes() for one in found if _suffix(one.name) in _MEDIA_TYPES}


@cache
def assets_path() -> str:
    """Return the path that all are under; another one as soon as any of them changes."""
    digest = hashlib.sha256()
    for name, content in sorted(_assets().items()):
        digest.update(f"{name} {len(content)} ".encode())
        digest.update(content)
    return f"{STATIC}{digest.hexdigest()[:16]}/"


@router.head("/static/{digest}/{name}")
@router.get("/static/{digest}/{name}")
async def asset(digest: str, name: str) -> Response:
    """Serve one; modules name one another by relative paths, so that the digest is in each."""
    content = _assets().get(name)
    if content is None or f"{STATIC}{digest}/" != assets_path():
        raise Refusal(problem(404, "not_found", "No such file; load the page again."))
    return Response(content, media_type=_MEDIA_TYPES[_suffix(name)])


def _suffix(name: str) -> str:
    return name[name.rfind(".") :]
