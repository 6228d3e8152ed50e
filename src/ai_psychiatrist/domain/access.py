"""Who calls, and what they may do."""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

_TENANT: Final = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?", re.ASCII)
TENANT_CURE: Final = "a tenant is 1-63 lower-case letters, digits and dashes, such as clinic-1"


class Scope(StrEnum):
    """What a credential lets its holder do."""

    ASSESS = "assess"
    """Begin assessments, and hold interviews."""
    READ = "read"
    """See results."""
    REVIEW = "review"
    """Rate, blind first."""
    ADMIN = "admin"
    """Erase, see what subjects are called, and export what others rated."""
    METRICS = "metrics"
    """See what is counted of the service, and of no person."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """The caller of a request, as identified by its credential alone."""

    id: str
    """The same for each request of one person or program; no name of anybody."""
    name: str
    """What it is shown as to itself and in lists of keys."""
    tenant: str
    """Whose records it works with: as `is_tenant` has it."""
    scopes: frozenset[Scope]


LOCAL: Final = Principal(id="local", name="local", tenant="local", scopes=frozenset(Scope))
"""Whoever can reach a server that asks for no credential."""


def is_tenant(name: str) -> bool:
    """Return whether a tenant may be called so: the name is that of a file, too."""
    return _TENANT.fullmatch(name) is not None
