"""Whether a caller would rather be answered before the work is done, after RFC 7240."""

import re
from dataclasses import dataclass
from typing import Final

from fastapi import Request

ASYNC: Final = "respond-async"
RETRY_AFTER_SECONDS: Final = 2
_WHOLE: Final = re.compile(r"\d{1,9}", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Preferred:
    """What the header Prefer asks for, as far as it is known here."""

    is_async: bool
    wait_seconds: int
    """How long the caller waits for the result first; 0 where nothing, or nonsense, is said."""

    @property
    def applied(self) -> str:
        """The header Preference-Applied."""
        return f"{ASYNC}, wait={self.wait_seconds}" if self.wait_seconds else ASYNC


def preferred(request: Request) -> Preferred:
    """Return what is preferred; of a preference that comes twice the first counts."""
    given: dict[str, str] = {}
    for one in ",".join(request.headers.getlist("prefer")).split(","):
        name, _, value = one.partition(";")[0].partition("=")
        given.setdefault(name.strip().lower(), value.strip().strip('"'))
    wait = given.get("wait", "")
    seconds = int(wait) if _WHOLE.fullmatch(wait) else 0
    return Preferred(is_async=ASYNC in given, wait_seconds=seconds)
