"""The path of a request as this application's routes have it, wherever it is mounted."""

from typing import Final

from starlette.types import Scope

VERSION_PREFIX: Final = "/v1"
"""Under it are all routes; the oldest of them have their first names too, without it."""


def mounted_at(scope: Scope) -> str:
    """Return what the application is mounted under, empty at the top."""
    root: str = scope.get("root_path", "")
    return root.rstrip("/")


def own_path(scope: Scope) -> str:
    """Return the path without what it is mounted under."""
    path: str = scope["path"]
    return path.removeprefix(mounted_at(scope))


def route_path(scope: Scope, path: str) -> str | None:
    """Return the path of the route that was found for this own path, `None` where none was."""
    found: str | None = getattr(scope.get("route"), "path", None)
    # A router that is included twice has the same routes under both prefixes.
    if found is None or found.startswith(VERSION_PREFIX) or not path.startswith(VERSION_PREFIX):
        return found
    return VERSION_PREFIX + found
