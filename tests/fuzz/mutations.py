"""Damage a valid reply: its bytes, its JSON, its keys."""

import json
from random import Random
from typing import TypeAlias

from tests.fuzz.hostile import ANSI, CANARY

Json: TypeAlias = "dict[str, Json] | list[Json] | str | int | float | bool | None"

_MARKS = ('"', "{", "}", "[", "]", ",", ":", "\\", "<", ">", "</", "\n", "\x00", "```", "//", "/*")
ODD_VALUES: tuple[Json, ...] = (
    True,
    False,
    None,
    float("nan"),
    float("inf"),
    -0.0,
    1e308,
    1e-300,
    10**400,
    -(10**19),
    2**63,
    3.5,
    2.0,
    -1,
    4,
    "3",
    " 2 ",
    "٣",
    "n/a",
    "",
    CANARY,
    ANSI,
    "\ud800",
    [],
    {},
    [[[]]],
    [None],
    {"score": 3},
    ["yes", 1],
)


def mutated_bytes(draw: Random, text: str) -> str:
    """Drop, repeat, swap and insert bytes and marks; what is no UTF-8 then is replaced."""
    content = bytearray(text.encode("utf-8", "surrogatepass"))
    for _ in range(draw.choice((1, 1, 2, 4, 16))):
        at = draw.randrange(len(content) + 1)
        length = draw.choice((1, 1, 3, 40))
        match draw.randrange(5):
            case 0:
                del content[at : at + length]
            case 1:
                content[at:at] = content[at : at + length]
            case 2:
                other = draw.randrange(len(content) + 1)
                one, two = content[at : at + length], content[other : other + length]
                content[at : at + len(one)] = two
                content[other : other + len(two)] = one
            case 3:
                content[at:at] = draw.randbytes(length)
            case _:
                content[at:at] = draw.choice(_MARKS).encode()
    return content.decode("utf-8", "replace")


def cut(draw: Random, text: str) -> str:
    """Cut a text off somewhere."""
    return text[: draw.randrange(len(text) + 1)]


def with_json_changed(draw: Random, text: str) -> str:
    """Give values of the JSON in a text another type, drop and rename keys, wrap and nest."""
    start, end = text.find("{"), text.rfind("}") + 1
    try:
        value: Json = json.loads(text[start:end])
    except ValueError:
        return mutated_bytes(draw, text)
    for _ in range(draw.choice((1, 1, 2, 5))):
        value = _changed(draw, value)
    return text[:start] + json.dumps(value, ensure_ascii=draw.random() < 0.5) + text[end:]


def _changed(draw: Random, value: Json) -> Json:
    if draw.random() < 0.15:
        return draw.choice((draw.choice(ODD_VALUES), [value], {"answer": value}))
    match value:
        case dict() if value:
            return _with_key_changed(draw, value)
        case list() if value:
            at = draw.randrange(len(value))
            return [*value[:at], _changed(draw, value[at]), *value[at + 1 :]]
        case _:
            return draw.choice(ODD_VALUES)


def _with_key_changed(draw: Random, value: dict[str, Json]) -> Json:
    key = draw.choice(list(value))
    rest = {name: inner for name, inner in value.items() if name != key}
    match draw.randrange(6):
        case 0:
            return rest
        case 1:
            return rest | {draw.choice((key.lower(), key + " ", CANARY, "")): value[key]}
        case 2:
            return value | {f"{CANARY}-{draw.randrange(9)}": draw.choice(ODD_VALUES)}
        case _:
            return value | {key: _changed(draw, value[key])}


def with_keys_doubled(draw: Random, text: str) -> str:
    """Repeat a key of the JSON in a text with another value."""
    keys = [part for part in text.split('"') if part.startswith("PHQ8_")] or ["score"]
    key, value = draw.choice(keys), json.dumps(draw.choice(ODD_VALUES))
    opening = text.find("{") + 1
    return f'{text[:opening]}"{key}": {value}, {text[opening:]}'


def nested(depth: int) -> str:
    """Return brackets in brackets."""
    return "[" * depth + "]" * depth
