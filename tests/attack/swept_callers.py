"""Who calls a swept server: people with keys of every scope, with a session, and with nothing."""

from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Final

import httpx

from ai_psychiatrist.api.authorization import KEY_HEADER
from ai_psychiatrist.domain.access import Scope
from tests.fakes.access import key_for

Headers = dict[str, str]

_HOLDERS: Final = (tuple(Scope), *((scope,) for scope in Scope))
_EXTRAS: Final[tuple[Headers, ...]] = (
    {"Prefer": "respond-async"},
    {"Accept": "application/fhir+json"},
    {"Accept": "text/html"},
    {"Accept": "image/png"},
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Callers:
    """Headers of callers; without keys everybody is let in."""

    keys: tuple[str, ...]
    """The first opens everything."""
    client: httpx.Client
    random: Random

    @property
    def owner(self) -> Headers:
        """Return the headers of whoever may do everything."""
        return {KEY_HEADER: self.keys[0]} if self.keys else {}

    def next(self) -> Headers:
        """Return the headers of the next request."""
        extra = self.random.choice(_EXTRAS) if self.random.random() < 0.1 else {}
        return self._credential() | extra

    def _credential(self) -> Headers:
        if not self.keys:
            return {}
        kind = self.random.random()
        if kind < 0.6:
            return self.owner
        if kind < 0.9:
            return {KEY_HEADER: self.random.choice(self.keys[1:])}
        return self._session() if kind < 0.95 else {}

    def _session(self) -> Headers:
        answer = self.client.post("/v1/session", json={"key": self.keys[0]})
        self.client.cookies.clear()
        if answer.status_code != 201:
            return {}
        cookie = answer.headers["set-cookie"].partition(";")[0]
        return {"Cookie": cookie, "X-CSRF-Token": answer.json()["csrf"]}


def keys_in(state_dir: Path) -> tuple[str, ...]:
    """Make a key with all scopes and one with each, and return their texts."""
    return tuple(key_for(state_dir, *scopes).text for scopes in _HOLDERS)
