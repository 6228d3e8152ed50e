"""Who is the same person in several runs."""

from collections.abc import Sequence


class SamePeople:
    """Names of people, of which those given together are of one and the same."""

    def __init__(self) -> None:
        self._first: dict[str, str] = {}
        """Name → another of the same person; the one that all lead to leads to itself."""

    def join(self, names: Sequence[str]) -> str:
        """Say that these, at least one, are names of one person; return one of them."""
        roots = [self.one_of(name) for name in names]
        for root in roots[1:]:
            self._first[root] = roots[0]
        return names[0]

    def one_of(self, name: str) -> str:
        """Return the same name for all names of a person."""
        path = []
        while (following := self._first.setdefault(name, name)) != name:
            path.append(name)
            name = following
        self._first.update(dict.fromkeys(path, name))
        return name
