"""Who calls, and what they may do."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Scope(StrEnum):
    """What a credential lets its holder do."""

    ASSESS = "assess"
    """Start assessments and interviews."""
    READ = "read"
    """See results."""
    REVIEW = "review"
    """Rate, blind first."""
    ADMIN = "admin"
    """Erase, export what others rated, and look after keys."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """Whoever a request comes from, as its credential says and nothing else."""

    id: str
    """The same for each request of one person or program; no name of anybody."""
    name: str
    """What it is shown as to itself and in lists of keys."""
    tenant: str
    """Whose records it works with: lower-case letters, digits and dashes."""
    scopes: frozenset[Scope]


LOCAL: Final = Principal(id="local", name="local", tenant="local", scopes=frozenset(Scope))
"""Whoever can reach a server that asks for no credential."""
