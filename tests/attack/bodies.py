"""Bodies of the largest size that cost most for it, and where each is sent."""

from collections.abc import Iterator, Mapping
from typing import Final

from tests.attack.callers import Call, posted
from tests.attack.hostile_texts import HOSTILE_TEXTS

LARGEST_BYTES: Final = 4_194_304
LARGEST_CHARACTERS: Final = 400_000
ROUTES: Final = ("/full_pipeline", "/assess/quantitative", "/v1/interviews")
_TEXT: Final = '{"transcript_text":'
_ASSESSED: Final = '{"protocol":"phq8","assessment":'
_QUOTES: Final = _ASSESSED + '{"items":{"PHQ8_Sleep":{"score":1,"evidence":['


def of_text(path: str, text: str) -> Call:
    """Return the request that has a route assess a text."""
    value: dict[str, object] = {"transcript_text": text}
    if path == "/v1/interviews":
        value["protocol"] = "phq8"
    return posted(path, value)


def text_calls(name: str, size: int = LARGEST_CHARACTERS) -> list[Call]:
    """Return one request for each route that reads transcripts."""
    text = HOSTILE_TEXTS[name](size)
    return [of_text(path, text) for path in ROUTES]


def hostile_bodies() -> Iterator[tuple[str, Call]]:
    """Yield the shapes of bodies that are no requests, by their names."""
    for path, before, after in (
        ("/full_pipeline", _TEXT, "}"),
        ("/v1/interviews", _QUOTES, "]}}}}"),
    ):
        for name, unit in _UNITS.items():
            yield f"{name} to {path}", Call(path=path, body=_filled(before, unit, after))
    for name, call in _OTHERS.items():
        yield name, call


def _filled(before: str, unit: str, after: str) -> bytes:
    opening, closing = ("", "") if unit in _BARE else ("[", "]")
    room = LARGEST_BYTES - len(f"{before}{opening}{closing}{after}".encode())
    whole = (unit * (room // len(unit.encode()))).rstrip(",")
    return f"{before}{opening}{whole}{closing}{after}".encode()


_BARE: Final = frozenset({"[", '{"a":', "9", '"', "\\", " "})
_UNITS: Final[Mapping[str, str]] = {
    "wrong values": "1,",
    "49,000 wrong values": f'"{"x" * 80}",',
    "empty lists": "[],",
    "empty objects": "{},",
    "objects": '{"a":1},',
    "numbers of many digits": "9" * 4290 + ",",
    "fractions": "0." + "1" * 4000 + ",",
    "exponents": "1e308,",
    "escapes": '"\\u0041\\n\\\\",',
    "half surrogates": '"\\ud800",',
    "lists in lists": "[",
    "objects in objects": '{"a":',
    "digits": "9",
    "quotation marks": '"',
    "backslashes": "\\",
    "blanks": " ",
}


def _of_size(form: str, unit: str) -> bytes:
    room = LARGEST_BYTES - len(form.encode()) + 1
    return form.replace("~", unit * (room // len(unit.encode()))).encode()


def _members(form: str, count: int) -> bytes:
    return form.replace("~", ",".join(f'"k{number}":1' for number in range(count))).encode()


_OTHERS: Final[Mapping[str, Call]] = {
    "330,000 unknown keys": Call(path="/full_pipeline", body=_members("{~}", 330_000)),
    "49,000 unknown keys": Call(path="/full_pipeline", body=_members("{~}", 49_000)),
    "49,000 unknown items": Call(
        path="/v1/interviews", body=_members(_ASSESSED + '{"items":{~}}}', 49_000)
    ),
    "49,000 inputs": Call(
        path="/v1/interviews", body=_members('{"protocol":"phq8","inputs":{~}}', 49_000)
    ),
    "300,000 quotes": Call(
        path="/v1/interviews",
        body=(_QUOTES + ",".join(['{"text":"a"}'] * 300_000) + "]}}}}").encode(),
    ),
    "16,000 quotes": Call(
        path="/v1/interviews",
        body=(_QUOTES + ",".join(['{"text":"a","source":"x"}'] * 16_000) + "]}}}}").encode(),
    ),
    "the same key": Call(path="/full_pipeline", body=_of_size("{~" + '"a":1}', '"a":1,')),
    "45,000 times the same key": Call(
        path="/full_pipeline", body=("{" + '"a":1,' * 45_000 + '"a":1}').encode()
    ),
    "a long key": Call(path="/full_pipeline", body=_of_size('{"~":1}', "k")),
    "a long wide string": Call(path="/full_pipeline", body=_of_size(_TEXT + '"😀~"}', "a")),
    "a string of escapes": Call(path="/full_pipeline", body=_of_size(_TEXT + '"~"}', "\\u00e9")),
    "a string of line breaks": Call(path="/full_pipeline", body=_of_size(_TEXT + '"~"}', "\\n")),
    "a long participant": Call(path="/full_pipeline", body=_of_size('{"participant_id":"~"}', "3")),
    "a long protocol": Call(path="/v1/interviews", body=_of_size('{"protocol":"~"}', "p")),
    "UTF-16": Call(path="/full_pipeline", body=("[" + "[]," * 600_000 + "[]]").encode("utf-16")),
    "zero bytes": Call(path="/full_pipeline", body=b"\0" * LARGEST_BYTES),
    "no UTF-8": Call(path="/full_pipeline", body=b'"' + b"\xff" * (LARGEST_BYTES - 2) + b'"'),
}
