"""What the people of a tenant are called who rate, adjudicate or confirm reading danger."""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Final

from sqlalchemy import func, select, union_all

from ai_psychiatrist.domain.access import LOCAL
from ai_psychiatrist.store.access_rows import KEY_NAMES
from ai_psychiatrist.store.database import TenantDatabase, own
from ai_psychiatrist.store.schema import (
    acknowledgements,
    begun,
    interview_acknowledgements,
    reviews,
)

_SAID: Final = union_all(
    *(
        select(table.c[column].label("person"), table.c.at).where(own(table))
        for table, column in (
            (begun, "rater"),
            (reviews, "rater"),
            (acknowledgements, "reader"),
            (interview_acknowledgements, "reader"),
        )
    )
).subquery()
_PEOPLE: Final = (
    select(_SAID.c.person).group_by(_SAID.c.person).order_by(func.min(_SAID.c.at), _SAID.c.person)
)
"""Everybody who began a review or confirmed anything, the first one first."""
_NAMED_BY_THEMSELVES: Final = frozenset({"local", "import"})
"""Where an id comes from that is the name that somebody gave; others are those of a key or a
token, and tell nothing."""

_UNNAMED: Final = "Somebody without a name"


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonNames:
    """The names of people by their `Principal.id`."""

    of_keys: Mapping[str, str] = field(repr=False)
    """The names of keys by their holder."""
    on_pages: Mapping[str, str] = field(repr=False)
    """Of everybody who has said something; of two with one name the second has a number."""

    def known(self, person: str) -> str | None:
        """Return the name of a person's key or the one that they gave, `None` without one."""
        source, _, given = person.partition(":")
        name = given or None if source in _NAMED_BY_THEMSELVES else None
        return self.of_keys.get(person, name)

    def shown(self, person: str) -> str:
        """Return what a page calls a person: their name, or a number in place of one."""
        other = self.known(person) or (person if person == LOCAL.id else _UNNAMED)
        return self.on_pages.get(person, other)


def person_names(database: TenantDatabase, people: Collection[str] | None) -> PersonNames:
    """Return the names as they are now; `people`: those who are named, `None` for any.

    Who has none is `Rater 1`, `Rater 2` … in the order in which these first rated or confirmed.
    """
    if people is not None and not people:
        # All that anybody ever said is looked through for that order.
        return PersonNames(of_keys={}, on_pages={})
    with database.reading():
        of_keys = {row.principal: row.name for row in database.all(KEY_NAMES)}
        people = [row.person for row in database.all(_PEOPLE)]
    names = PersonNames(of_keys=of_keys, on_pages={})
    on_pages: dict[str, str] = {}
    seen: Counter[str] = Counter()
    unnamed = 0
    for person in people:
        name = names.known(person)
        if person == LOCAL.id:
            name = person
        elif name is None:
            unnamed += 1
            name = f"Rater {unnamed}"
        seen[name] += 1
        on_pages[person] = name if seen[name] == 1 else f"{name} ({seen[name]})"
    return PersonNames(of_keys=of_keys, on_pages=on_pages)
