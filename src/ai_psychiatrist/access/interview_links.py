"""Links that open one interview to its person: made, opened once by one browser, and revoked.

A link is a token in an address. The first browser that shows it gets a cookie in exchange, which
opens that interview until the link expires; from then on the token opens nothing.
"""

import hmac
import re
import secrets
import time
from base64 import urlsafe_b64encode
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Final

from ai_psychiatrist.access.keys import Clock, digest_of
from ai_psychiatrist.domain.access import Principal
from ai_psychiatrist.store.access_rows import (
    ADD_KEY,
    LINK,
    LINK_OF,
    LINK_SCOPE,
    OPEN_LINK,
    REMOVE_LINKS,
    REVOKE_LINK,
    link_holder,
)
from ai_psychiatrist.store.database import Database, Found

_HOUR_SECONDS: Final = 3_600
_TOKEN_BYTES: Final = 24
_ID_CHARACTERS: Final = 24
_TOKEN: Final = re.compile(r"[A-Za-z0-9_-]{32}", re.ASCII)
_COOKIE: Final = re.compile(r"([0-9a-f]{24})\.([A-Za-z0-9_-]{43})", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class InterviewLink:
    """What is kept of a link; neither its token nor its cookie is."""

    id: str
    """Tells nothing of the token; it may be logged."""
    tenant: str
    interview: str
    """Hash of the interview's id, under which the interview is stored."""
    expires_at: int
    """Seconds since 1970, like the moments below."""
    opened_at: int | None
    revoked_at: int | None

    def is_unopened(self, now: float) -> bool:
        """Return whether it lasts still, and no browser has opened it."""
        return self.opened_at is None and self.revoked_at is None and now < self.expires_at

    @property
    def principal(self) -> Principal:
        """The participant who opened the link, who may only answer in this interview."""
        holder = f"{LINK_SCOPE}:{self.id}"
        return Principal(id=holder, name=LINK_SCOPE, tenant=self.tenant, scopes=frozenset())


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeLink:
    """A new link, and the only sight of its token."""

    link: InterviewLink
    token: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedLink:
    """A link that a browser has opened, and the cookie that it is given for it."""

    link: InterviewLink
    cookie: str = field(repr=False)
    lasts_seconds: int


@dataclass(frozen=True, slots=True, kw_only=True)
class InterviewLinks:
    """The links of all tenants, one an interview at most. Blocking.

    `interview`: the hash of an interview's id. Every method raises `ConfigurationError` and
    `StoreUnusable` for a database that cannot be used.
    """

    database: Callable[[], Database]
    clock: Clock = time.time

    def create(self, tenant: str, interview: str, *, hours: int) -> MadeLink:
        """Make a link in the place of the one there is, whose cookie ends as well."""
        database, now = self.database(), int(self.clock())
        token, holder = secrets.token_urlsafe(_TOKEN_BYTES), link_holder(interview)
        with database.among_tenants(is_alone=False):
            database.change(REMOVE_LINKS, of_holder=holder, of_now=now)
            database.change(
                ADD_KEY,
                id=_id_of(token),
                secret_digest=digest_of(token),
                principal=holder,
                name=LINK_SCOPE,
                tenant=tenant,
                scopes=LINK_SCOPE,
                created_at=now,
                expires_at=now + hours * _HOUR_SECONDS,
            )
            (row,) = database.across_tenants(LINK_OF, of_holder=holder)
        return MadeLink(link=_link(row), token=token)

    def open(self, token: str, key: str | None = None) -> OpenedLink | None:
        """Exchange a token for a cookie, once; `None` for one that opens nothing.

        `key`: made up by the page and kept in it alone. Shown again with the token it gives the
        same cookie again, for an answer that was lost on its way.
        """
        if not _TOKEN.fullmatch(token):
            return None
        link_id, now = _id_of(token), int(self.clock())
        mixed = hmac.digest(token.encode(), (key or secrets.token_hex()).encode(), "sha256")
        secret = urlsafe_b64encode(mixed).decode().rstrip("=")
        self.database().change(
            OPEN_LINK,
            of_key=link_id,
            of_token=digest_of(token),
            of_secret=digest_of(secret),
            of_now=now,
        )
        cookie = f"{link_id}.{secret}"
        link = self.find(cookie)
        if link is None:
            return None
        return OpenedLink(link=link, cookie=cookie, lasts_seconds=link.expires_at - now)

    def find(self, cookie: str) -> InterviewLink | None:
        """Return the link that a browser has opened and that still lasts."""
        given = _COOKIE.fullmatch(cookie)
        if given is None:
            return None
        query = {"of_key": given[1], "of_now": int(self.clock())}
        for row in self.database().across_tenants(LINK, **query):
            if hmac.compare_digest(digest_of(given[2]), row.secret_digest):
                return _link(row)
        return None

    def of(self, interview: str) -> InterviewLink | None:
        """Return the link of an interview, expired and revoked ones as well."""
        rows = self.database().across_tenants(LINK_OF, of_holder=link_holder(interview))
        return _link(rows[0]) if rows else None

    def revoke(self, interview: str) -> bool:
        """End the link of an interview with its cookie; returns whether there was one."""
        holder, now = link_holder(interview), int(self.clock())
        return self.database().change(REVOKE_LINK, of_holder=holder, of_now=now) > 0


def link_address(server: str, token: str) -> str:
    """Return the address of a link; what stands behind `#` reaches no server, log or proxy."""
    return f"{server.rstrip('/')}/interview#{token}"


def is_of_token(link: InterviewLink, token: str) -> bool:
    """Return whether a link is the one that was made with this token."""
    return _TOKEN.fullmatch(token) is not None and hmac.compare_digest(link.id, _id_of(token))


def _id_of(token: str) -> str:
    """Return the id of the link of a token, which does not lead back to it."""
    return sha256(f"link {token}".encode()).hexdigest()[:_ID_CHARACTERS]


def _link(row: Found) -> InterviewLink:
    return InterviewLink(
        id=row.id,
        tenant=row.tenant,
        interview=row.principal.partition(":")[2],
        expires_at=row.expires_at,
        opened_at=row.used_at,
        revoked_at=row.revoked_at,
    )
