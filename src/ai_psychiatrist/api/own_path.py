"""The path of a request as this application's routes have it, wherever it is mounted."""

from starlette.types import Scope


def own_path(scope: Scope) -> str:
    """Return the path without what it is mounted under."""
    path: str = scope["path"]
    return path.removeprefix(scope.get("root_path", "").rstrip("/"))
