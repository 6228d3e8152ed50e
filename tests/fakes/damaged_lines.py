"""Files of JSON lines, damaged as careless programs damage them, and what each line was made of."""

import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

LONGEST_LINE: Final = 600
BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"


@dataclass(frozen=True, kw_only=True)
class MadeLine:
    """One line, and what a reader may make of it."""

    content: bytes
    ids: tuple[object, ...] = ()
    """The units that were put on it."""
    is_intact: bool = False
    """Whether it is one sound object."""
    has_sure_id: bool = True
    """Whether an id that is read from it can only be one of `ids`."""
    may_be_valid: bool = True


@dataclass(frozen=True, kw_only=True)
class MadeFile:
    """A file, and its lines as they were made."""

    data: bytes
    lines: tuple[MadeLine, ...]


def made_file(choose: random.Random) -> MadeFile:
    """Return a file of up to some ten lines, most of them sound."""
    lines: list[MadeLine] = []
    for number in range(choose.randint(0, 7)):
        maker = _sound if choose.random() < 0.4 else choose.choice(_MAKERS)
        lines += maker(choose, number)
    end = choose.choice([b"\n", b"\n", b"\n", b"\r\n"])
    data = end.join(line.content for line in lines)
    if lines and choose.random() < 0.8:
        data += end
    if choose.random() < 0.15:
        data = BYTE_ORDER_MARK + data
    return MadeFile(data=data, lines=tuple(lines))


def _unit(choose: random.Random, number: int) -> tuple[object, bytes]:
    unit_id: object = choose.choice(
        [f"u{number}", f"u{number}", number, str(number), f"ü-{number}"]
    )
    fields: dict[str, object] = {"unit_id": unit_id, "score": choose.choice([2, "2", 0, 9])}
    if choose.random() < 0.3:
        fields["note"] = choose.choice(
            ["}{", '"unit_id":"x"', "],[", "\u2028", "\x00", "a\nb", "\\", "é", "{'a': 1}"]
        )
    if choose.random() < 0.2:
        fields = dict(reversed(fields.items()))
    if choose.random() < 0.2:
        fields["retry_count"] = 1
    is_ascii = choose.random() < 0.5
    return unit_id, json.dumps(fields, ensure_ascii=is_ascii).encode()


def _sound(choose: random.Random, number: int) -> list[MadeLine]:
    unit_id, content = _unit(choose, number)
    return [MadeLine(content=content, ids=(unit_id,), is_intact=True)]


def _several(choose: random.Random, number: int) -> tuple[list[object], list[bytes]]:
    units = [_unit(choose, 10 * number + place) for place in range(choose.randint(2, 4))]
    return [unit_id for unit_id, _ in units], [content for _, content in units]


def _on_one_line(choose: random.Random, number: int) -> list[MadeLine]:
    ids, contents = _several(choose, number)
    between = choose.choice(
        [
            b"",
            b" ",
            b",",
            b", ",
            b",,",
            b";",
            b"\t",
            b"\r",
            b"\x00",
            "\u2028".encode(),
            b"\x0c",
            b"][",
        ]
    )
    return [MadeLine(content=between.join(contents), ids=tuple(ids), may_be_valid=False)]


def _array(choose: random.Random, number: int) -> list[MadeLine]:
    ids, contents = _several(choose, number)
    if choose.random() < 0.3:
        ids, contents = ids[:1], contents[:1]
    end = choose.choice([b"]", b",]", b"", b",", b"],", b"]]", b"}"])
    content = b"[" + b",".join(contents) + end
    return [MadeLine(content=content, ids=tuple(ids), may_be_valid=False)]


def _pretty_array(choose: random.Random, number: int) -> list[MadeLine]:
    ids, contents = _several(choose, number)
    lines = [
        MadeLine(content=content + b",", ids=(unit_id,))
        for unit_id, content in zip(ids, contents, strict=True)
    ]
    if choose.random() < 0.5:
        first = MadeLine(content=b"[" + lines[0].content, ids=lines[0].ids, may_be_valid=False)
        last = MadeLine(content=contents[-1] + b"]", ids=lines[-1].ids)
        return [first, *lines[1:-1], last]
    brackets = [MadeLine(content=mark, may_be_valid=False) for mark in (b"[", b"]")]
    return [brackets[0], *lines, brackets[1]]


def _named_twice(choose: random.Random, number: int) -> list[MadeLine]:
    ids, contents = _several(choose, number)
    joined = contents[0][: -1 if choose.random() < 0.5 else None] + b"," + contents[1][1:]
    return [MadeLine(content=joined, ids=tuple(ids[:2]), may_be_valid=False)]


def _nested(choose: random.Random, number: int) -> list[MadeLine]:
    unit_id, content = _unit(choose, number)
    _, inner = _unit(choose, 99)
    content = content[:-1] + b', "note2": ' + inner + b"}"
    return [MadeLine(content=content, ids=(unit_id,))]


def _truncated(choose: random.Random, number: int) -> list[MadeLine]:
    unit_id, content = _unit(choose, number)
    kept = content[: choose.randint(1, len(content) - 1)]
    return [MadeLine(content=kept, ids=(unit_id,), may_be_valid=False)]


def _torn(choose: random.Random, number: int) -> list[MadeLine]:
    unit_id, content = _unit(choose, number)
    place = choose.randint(1, len(content) - 1)
    return [
        MadeLine(content=content[:place], ids=(unit_id,), may_be_valid=False),
        # Such an end may name a unit of the note alone.
        MadeLine(content=content[place:], ids=(unit_id,), may_be_valid=False, has_sure_id=False),
    ]


def _scrambled(choose: random.Random, number: int) -> list[MadeLine]:
    unit_id, content = _unit(choose, number)
    damaged = bytearray(content)
    for _ in range(choose.randint(1, 3)):
        place = choose.randrange(len(damaged))
        match choose.randrange(3):
            case 0:
                damaged[place] = choose.choice(b'\x00\xff{}[]",:\\ x1')
            case 1:
                del damaged[place]
            case _:
                damaged.insert(place, choose.choice(b'\x00\xff\xc3{}[]",:\\ x1'))
    return [MadeLine(content=bytes(damaged), ids=(unit_id,), has_sure_id=False)]


def _mark_inside(choose: random.Random, number: int) -> list[MadeLine]:
    unit_id, content = _unit(choose, number)
    mark = choose.choice([b"\x00", BYTE_ORDER_MARK, b"\x1e", b"\xc2\xa0", b"\r"])
    content = mark + content if choose.random() < 0.5 else content + mark
    return [MadeLine(content=content, ids=(unit_id,))]


def _other_id(choose: random.Random, number: int) -> list[MadeLine]:
    unit_id: object = choose.choice(
        [None, True, 1.5, "", [], {}, ["u1"], -number, 10**30 + number, "0" * 50]
    )
    content = json.dumps({"unit_id": unit_id, "score": 2}).encode()
    is_one = isinstance(unit_id, str | int) and not isinstance(unit_id, bool) and unit_id != ""
    return [MadeLine(content=content, ids=(unit_id,) if is_one else (), may_be_valid=is_one)]


def _no_unit(choose: random.Random, _: int) -> list[MadeLine]:
    words = ["42", "null", '"u1"', "{}", "[]", "oops", "{", "}", "\x00", "```json", "\ufeff"]
    content = choose.choice(
        [*map(str.encode, words), '{"unit_id":"u1","score":2}'.encode("utf-16")]
    )
    # The two bytes of a line feed in UTF-16 would end the line.
    return [MadeLine(content=content.replace(b"\n", b" "), may_be_valid=False)]


def _blank(choose: random.Random, _: int) -> list[MadeLine]:
    return [
        MadeLine(content=choose.choice([b"", b" ", b"\t  ", b"\r", b"\x0b"]), may_be_valid=False)
    ]


def _huge(choose: random.Random, number: int) -> list[MadeLine]:
    unit_id, content = _unit(choose, number)
    padding = b" " * LONGEST_LINE if choose.random() < 0.5 else b"[" * LONGEST_LINE
    content = content[:-1] + padding + b"}"
    return [MadeLine(content=content, ids=(unit_id,), may_be_valid=False)]


def _again(choose: random.Random, number: int) -> list[MadeLine]:
    return _sound(choose, choose.randint(0, max(number - 1, 0)))


_MAKERS: Final[tuple[Callable[[random.Random, int], list[MadeLine]], ...]] = (
    _on_one_line,
    _array,
    _pretty_array,
    _named_twice,
    _nested,
    _truncated,
    _torn,
    _scrambled,
    _mark_inside,
    _other_id,
    _no_unit,
    _blank,
    _huge,
    _again,
)
