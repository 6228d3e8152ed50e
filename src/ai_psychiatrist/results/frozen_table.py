"""Tables of results, which cannot be changed, and records, which show none of their words."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, ClassVar, NoReturn, TypeAlias, TypeVar

from pydantic import AfterValidator

Key = TypeVar("Key")
Value = TypeVar("Value")


class FrozenDict(dict[Key, Value]):
    """A dict that stays as it was made; `dict(table)` gives one that can be changed."""

    def _refuse(self, *_given: object, **_named: object) -> NoReturn:
        msg = "results cannot be changed; dict(...) gives a copy that can"
        raise TypeError(msg)

    if not TYPE_CHECKING:
        __setitem__ = __delitem__ = __ior__ = _refuse
        clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> tuple[type, tuple[dict[Key, Value]]]:
        """Have copies made at once, not key by key."""
        return type(self), (dict(self),)


FrozenTable: TypeAlias = Annotated[dict[Key, Value], AfterValidator(FrozenDict)]
"""A dict in the schema, in JSON and to type checkers."""


class Record(FrozenDict[str, object]):
    """An object whose values are under its keys, and are not shown."""

    shown: ClassVar[tuple[str, ...]] = ()
    """Keys whose values are this program's own."""

    def __repr__(self) -> str:
        """Show the values that are shown, and how many there are."""
        values = "".join(f"{key}={self.get(key)!r}, " for key in self.shown)
        return f"{type(self).__name__}({values}<{len(self)}>)"

    def __rich_repr__(self) -> Iterator[tuple[str, object]]:
        """Yield the values that are shown."""
        for key in self.shown:
            yield key, self.get(key)
