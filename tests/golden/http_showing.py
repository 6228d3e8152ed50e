"""What is kept of an HTTP answer: its status, the headers that callers act upon, and its body."""

import csv
import json
import re
from collections.abc import Callable, Mapping, Sequence
from html.parser import HTMLParser
from typing import Final

import httpx

from tests.golden.answer import Json, text_answer

_SHOWN: Final = frozenset(
    {
        "access-control-allow-headers",
        "access-control-allow-methods",
        "access-control-allow-origin",
        "access-control-expose-headers",
        "allow",
        "cache-control",
        "connection",
        "content-disposition",
        "content-type",
        "etag",
        "location",
        "preference-applied",
        "retry-after",
        "set-cookie",
        "vary",
        "www-authenticate",
        "x-left-out",
    }
)
_NO_STORE: Final = "cache-control: no-store"
_USUAL: Final = (
    "content-security-policy",
    "referrer-policy",
    "x-content-type-options",
    "x-frame-options",
    "x-request-id",
)
_NAMED: Final = {
    (_NO_STORE, "content-length", *_USUAL): "usual",
    (_NO_STORE, *_USUAL): "usual-without-length",
}
"""What almost all answers have beside; told in one word."""
_RANDOM: Final = (
    (re.compile(r"aip_[0-9a-f]+_[\w-]+"), "<key>"),
    (re.compile(r"msg_[0-9a-f]{12,}"), "msg_<digest>"),
    (re.compile(r"assessment-[0-9a-f]{8}\.html"), "assessment-<id>.html"),
    (re.compile(r"sha256-[\w+/]{43}="), "sha256-of-its-style"),
    (re.compile(r"((?:aip_|__Host-)session)=[^;\"]+"), r"\1=<token>"),
    (re.compile(r"(?<=\?cursor=|&cursor=)[\w%-]+|(?<=cursor=)[\w-]{20,}"), "<cursor>"),
)
"""What `answer.py` knows nothing of."""
_MOVING: Final = {"next": "<cursor>", "csrf": "<token>", "subject_id": "<id>", "state_hash": "<id>"}
"""Fields whose text is drawn anew each time."""


def shown(response: httpx.Response, *, all_headers: bool = False, body: bool = True) -> Json:
    """Return an answer as it is kept; of further headers only the names, unless all are wanted."""
    headers = {name.lower(): value for name, value in response.headers.items()}
    if response.status_code == 429:
        # To the end of the day, or of a wait.
        headers["retry-after"] = "<seconds>"
    seen = {
        name: _header(fixed(value))
        for name, value in sorted(headers.items())
        if name in _SHOWN or (all_headers and name not in {"x-request-id", "content-length"})
    }
    others = sorted(headers.keys() - seen.keys())
    if not all_headers and headers.get("cache-control") == "no-store":
        others = [_NO_STORE, *others]
        del seen["cache-control"]
    named: Json = _NAMED.get(tuple(others), others)
    rest: dict[str, Json] = {"body": body_of(response)} if body else {}
    return {"status": response.status_code, "headers": {**seen, "others": named}, **rest}


def _header(value: str) -> Json:
    """Return a header; one of many parts as a list, for it is no sentence."""
    return re.split(r"[;,] ", value) if value.count(" ") > 1 else value


def fixed(text: str) -> str:
    """Return a text without what is drawn anew each time."""
    for pattern, mask in _RANDOM:
        text = pattern.sub(mask, text)
    return text


def body_of(response: httpx.Response) -> Json:
    """Return the body of an answer as a value, by its content type; `None` for an empty one."""
    kind = response.headers.get("content-type", "").partition(";")[0]
    text = response.text
    read = _READ.get(kind, _lines)
    return read(text) if text else None


def _json(text: str) -> Json:
    return still(json.loads(text))


def _json_lines(text: str) -> Json:
    return [_json(line) for line in text.splitlines()]


def _events(text: str) -> Json:
    return [line for line in text.splitlines() if line.startswith(("id", "event"))]


def _rows(text: str) -> Json:
    return [[fixed(cell) for cell in row] for row in csv.reader(text.splitlines())]


def _lines(text: str) -> Json:
    return [fixed(line) for line in text_answer(text)]


def page_of(text: str) -> Json:
    """Return what a page shows: its lines, what it loads, where it leads, and its forms."""
    page = _Page()
    page.feed(text)
    page.close()
    return {
        "lines": page.ended(),
        "assets": [fixed(one) for one in page.assets],
        "links": [fixed(one) for one in dict.fromkeys(page.links)],
        "forms": [fixed(one) for one in page.forms],
    }


_READ: Final[Mapping[str, Callable[[str], Json]]] = {
    "application/fhir+json": _json,
    "application/fhir+ndjson": _json_lines,
    "application/json": _json,
    "application/jsonl": _json_lines,
    "application/problem+json": _json,
    "text/csv": _rows,
    "text/event-stream": _events,
    "text/html": page_of,
}


def counted(text: str) -> Json:
    """Return Prometheus's text as a table: metric → labels → value, times left out."""
    found: dict[str, dict[str, Json]] = {}
    bounds: dict[str, dict[str, None]] = {}
    for line in text.splitlines():
        if not line or line.startswith("#"):
            continue
        series, _, value = line.rpartition(" ")
        name, _, labels = series.partition("{")
        bound = _BOUND.search(labels)
        if bound is not None:
            bounds.setdefault(name, {})[bound[1]] = None
            continue
        if name.endswith("_created"):
            continue
        is_time = name.endswith("_seconds_sum")
        is_of_process = name.startswith(("process_", "python_"))
        found.setdefault(name, {})[fixed(labels.rstrip("}"))] = (
            "<time>" if is_time else "<varies>" if is_of_process else float(value)
        )
    kinds = sorted(line.split(" ", 2)[2] for line in text.splitlines() if line.startswith("# TYPE"))
    samples: dict[str, Json] = {name: dict(sorted(found[name].items())) for name in sorted(found)}
    return {
        "types": kinds,
        "bounds": {name: ",".join(found) for name, found in sorted(bounds.items())},
        "samples": samples,
    }


_BOUND: Final = re.compile(r'le="([^"]+)"')


def still(value: Json) -> Json:
    """Return a value of JSON without what is drawn anew each time, or in no certain order."""
    if isinstance(value, str):
        return fixed(value)
    if isinstance(value, Mapping):
        return {
            fixed(key): _MOVING[key] if key in _MOVING and isinstance(one, str) else still(one)
            for key, one in {**value, **_in_order(value)}.items()
        }
    if isinstance(value, Sequence):
        return [still(one) for one in value]
    return value


def _in_order(value: Mapping[str, Json]) -> Mapping[str, Json]:
    """Return the stages of a job, those that are made at once in the order of their names."""
    stages = value.get("stages")
    if not isinstance(stages, list):
        return {}
    at_once = [one for one in stages if isinstance(one, dict) and one.get("stage") in _AT_ONCE]
    names = iter(sorted(at_once, key=lambda one: str(one["stage"])))
    return {"stages": [next(names) if one in at_once else one for one in stages]}


_AT_ONCE: Final = frozenset({"findings", "scores"})


class _Page(HTMLParser):
    _INLINE: Final = frozenset(
        "a abbr b bdi button cite code em i kbd label mark q s small span strong sub sup time u"
        " wbr".split()
    )
    _ID: Final = re.compile(r"(\d{4}-\d\d-\d\d \d\d:\d\d) [0-9a-f]{8}\b")
    _SECONDS: Final = re.compile(r"\b\d+\.\d s\b")
    _HIDDEN: Final = frozenset({"script", "style", "template"})
    _FIELDS: Final = frozenset({"button", "input", "select", "textarea"})

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []
        self.assets: list[str] = []
        self.links: list[str] = []
        self.forms: list[str] = []
        self._words: list[str] = []
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag not in self._INLINE:
            self._end_line()
        if tag in self._HIDDEN:
            self._hidden += 1
        if tag in {"link", "script", "img"} and (place := given.get("href", given.get("src"))):
            self.assets.append(place if not place.startswith("data:") else "data:")
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if tag == "form":
            self.forms.append(f"{given.get('method', 'get')} {given.get('action', '')}")
        if tag in self._FIELDS and "name" in given and given.get("type") != "radio":
            kind = given.get("type", tag)
            value = "" if given["name"] in {"csrf", "id"} else given.get("value", "")
            self.forms.append(f"{kind}:{given['name']}={value}")

    def handle_endtag(self, tag: str) -> None:
        if tag in self._HIDDEN:
            self._hidden -= 1
        if tag not in self._INLINE:
            self._end_line()

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self._words.append(data)

    def ended(self) -> list[str]:
        """Return the lines, the last one too."""
        self._end_line()
        return self.lines

    def _end_line(self) -> None:
        line = " ".join("".join(self._words).split())
        self._words.clear()
        if line:
            line = self._ID.sub(r"\1 <id>", fixed(line))
            self.lines.append(self._SECONDS.sub("<time> s", line))
