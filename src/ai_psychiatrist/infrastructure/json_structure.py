"""How much JSON is made of, found without making an object of any of it."""

from typing import Final

MOST_VALUES: Final = 50_000
"""Members and elements; a result of this service, or a model's reply, has a few thousand."""
MOST_LEVELS: Final = 64
SMALL_BYTES: Final = 65_536
"""So much is looked at and read within a millisecond or two."""
_STRUCTURE: Final = b'"[]{},'
_ONE_KIND_OF_BRACKET: Final = bytes.maketrans(b"{}", b"[]")
_ALL_ELSE: Final = bytes(set(range(256)) - set(_STRUCTURE))


class TooManyValues(ValueError):
    """There are more than `MOST_VALUES`."""


class BadlyNested(ValueError):
    """There are more than `MOST_LEVELS`, or brackets without another end."""


def refuse_costly(content: bytes) -> None:
    """Raise `TooManyValues` or `BadlyNested` for what would cost far more than its size.

    What escapes a quotation mark goes first, then all but structure, then what is in strings: each
    a single pass. Then every round takes away the innermost brackets.
    """
    escaped = content.replace(rb"\\", b"").replace(rb"\"", b"")
    structure = escaped.translate(_ONE_KIND_OF_BRACKET, _ALL_ELSE)
    # A member is at most two strings, its key and its value.
    if structure.count(b'"') > 4 * MOST_VALUES:
        raise TooManyValues
    outside = b"".join(structure.split(b'"')[::2])
    if outside.count(b",") + outside.count(b"[") > MOST_VALUES:
        raise TooManyValues
    brackets = outside.translate(None, b",")
    for _ in range(MOST_LEVELS):
        brackets = brackets.replace(b"[]", b"")
    if brackets:
        raise BadlyNested
