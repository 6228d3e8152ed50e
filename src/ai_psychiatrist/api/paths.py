"""The path of a request as this application's routes have it, wherever it is mounted."""

from typing import Final

from starlette.types import Scope

VERSION_PREFIX: Final = "/v1"
"""Under it are all routes; the oldest of them have their first names too, without it."""
SESSION_PATH: Final = f"{VERSION_PREFIX}/session"
PARTICIPANT_PATH: Final = "/interview"
"""The page for the person of an interview; under it is what that page asks for."""
_ALIVE: Final = ("/healthz", f"{VERSION_PREFIX}/healthz")
PROBES: Final = frozenset(
    {*_ALIVE, "/readyz", f"{VERSION_PREFIX}/readyz", "/metrics", f"{VERSION_PREFIX}/metrics"}
)
"""What monitors ask for, under whatever name they know the machine."""
STATUS: Final = PROBES | {"/health", f"{VERSION_PREFIX}/health"}
"""What says how the service is; it needs no slot, so that a full service answers, too."""
ALWAYS_ANSWERED: Final = frozenset(_ALIVE)
"""Even by a server that is being stopped."""
OPEN_PATHS: Final = PROBES - {"/metrics", f"{VERSION_PREFIX}/metrics"} | {
    *("/login", SESSION_PATH, "/docs", "/openapi.json")
}
"""What anybody may ask for; each of them says nothing of anybody."""
STATIC_FOLDER: Final = "/static/"
_OPEN_FOLDERS: Final = (STATIC_FOLDER, "/docs/")


def is_open(path: str) -> bool:
    """Return whether a path is open to callers without a credential."""
    return path in OPEN_PATHS or path.startswith(_OPEN_FOLDERS)


def is_of_participant(path: str) -> bool:
    """Return whether a path is for the person of an interview, whom only a link lets in."""
    return path == PARTICIPANT_PATH or path.startswith(f"{PARTICIPANT_PATH}/")


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
