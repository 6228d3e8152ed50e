"""Requests made from an OpenAPI document: as it says, and not."""

import json
import re
import string
from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final

import jsonschema_rs

from tests.attack.schema_values import WORD, Json, SchemaValues

# The parser refuses words that are no methods.
_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND")
_TEXTS = (
    "Interviewer: How do you sleep?\nParticipant: Badly, nearly every night.\n",
    "Participant: I feel tired nearly every day, and I eat well.",
    f"I am hopeless. {WORD}",
    f"Interviewer: {WORD}?\nParticipant: I want to kill myself.",
    "Participant: e\u0301\u0316 \u202e 😀 {evidence} </transcript>",
)
_PROTOCOLS = ("phq8", "incident")
_ANSWERS = ("nearly every day", "never", f"{WORD} perhaps")
_JSON_TYPES = ("application/json", "application/json; charset=utf-8", "APPLICATION/JSON")
_OTHER_TYPES = (
    "",
    "text/plain",
    f"text/{WORD}",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/json, application/json",
    "application",
)
_HOSTS = ("127.0.0.1", "localhost:8000", "testserver", "[::1]:80")
_OTHER_HOSTS = ("", f"{WORD}.example", f"127.0.0.1.{WORD}.example", "127.0.0.1, localhost", "a/b")
_BROKEN: Final = (
    b"",
    b"{",
    b'{"mode": 0, "mode": 0}',
    b'{"transcript_text": "\xff"}',
    b"[" * 5_000,
    b"[" * 200 + b"]" * 200,
    b"NaN",
    b"-Infinity",
    b'{"participant_id": 1e999999}',
    b'{"participant_id": ' + b"9" * 5_000 + b"}",
    b'{"transcript_text": "\\ud800"}',
    b"[" + b"1," * 60_000 + b"1]",
    f"{WORD}={WORD}".encode(),
    b'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\nb\r\n--x--\r\n',
    b"\x00" * 1_000,
    b"[1, 2",
    b"null",
    b'"',
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """What the document says of a method of a path."""

    method: str
    path: str
    body: jsonschema_rs.Validator | None
    body_schema: Json = field(default_factory=dict)
    media_types: frozenset[str] = frozenset()
    responses: Mapping[str, Json]

    def matches(self, path: str) -> bool:
        """Whether it is an operation of this path, which is decoded."""
        return bool(re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", self.path), path))


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeRequest:
    """A request, and what is known of it."""

    is_for_this_host: bool
    method: str
    path: str
    query: str
    headers: Mapping[str, str]
    content: bytes
    is_valid: bool | None
    """Whether its body is as the schema says; `None` where that cannot be told, or none is."""
    is_usable: bool
    """Whether all that it says can be used too, as far as the schema cannot tell."""


@dataclass(slots=True)
class Requests:
    """Makes requests; learns from answers which interviews there are, so as to go on with them."""

    document: Json
    operations: tuple[Operation, ...]
    random: Random
    snapshots: list[Json] = field(default_factory=list)
    _current: Json | None = None

    def learn(self, result: object) -> None:
        """Keep an interview as it stands, of the last twenty."""
        if isinstance(result, dict) and "version" in result and "interview_id" in result:
            self.snapshots = [*self.snapshots[-19:], result]

    def forget(self, path: str) -> None:
        """Let go of an interview that was removed."""
        self.snapshots = [one for one in self.snapshots if one["interview_id"] not in path]

    def make(self) -> MadeRequest:
        """Return the next request."""
        random = self.random
        weights = [1 if one.body is None else 4 for one in self.operations]
        (operation,) = random.choices(self.operations, weights)
        self._current = random.choice(self.snapshots) if self.snapshots else None
        method, path = operation.method, self._path(operation.path)
        if random.random() < 0.05:
            method = random.choice(_METHODS)
        if random.random() < 0.05:
            path = self._other_path(path)
        query = f"?{WORD}={WORD}&mode=1&mode=2" if random.random() < 0.05 else ""
        value, content, is_valid = self._body(operation)
        is_json = operation.body is not None and random.random() < 0.93
        media_type = random.choice(_JSON_TYPES if is_json else _OTHER_TYPES)
        if not is_json and operation.body is not None:
            # Whether a text is a transcript cannot be told from a schema.
            is_valid = None if media_type in operation.media_types else False
        if query:
            # It may be refused for its query; of bodies nothing is told then.
            is_valid = None
        headers = {"Content-Type": media_type} if media_type else {}
        if random.random() < 0.1:
            name = random.choice(("X-Request-ID", "Origin", "Accept", "Cookie", "X-Forwarded-For"))
            headers[name] = random.choice((WORD, f"https://{WORD}", "*/*", "a" * 5_000))
        hosts = random.choices((None, _HOSTS, _OTHER_HOSTS), (94, 3, 3))[0]
        if hosts is not None:
            headers["Host"] = random.choice(hosts)
        return MadeRequest(
            is_for_this_host=hosts is not _OTHER_HOSTS,
            method=method,
            path=path,
            query=query,
            headers=headers,
            content=content,
            is_valid=is_valid,
            is_usable=is_valid is True and self._is_usable(value),
        )

    def _path(self, template: str) -> str:
        current, random = self._current, self.random
        if current is not None and random.random() < 0.9:
            interview = current["interview_id"]
        elif random.random() < 0.5:
            interview = "".join(random.choices(string.ascii_letters, k=32))
        else:
            interview = random.choice((WORD, "%2e%2e", "a%2Fb", "%00", "1", "a" * 3_000, "%F0%9F"))
        return template.replace("{interview_id}", interview)

    def _other_path(self, path: str) -> str:
        return self.random.choice(
            (
                f"{path}/",
                f"/{WORD}{path}",
                f"{path}/{WORD}",
                path.upper(),
                f"/{WORD}",
                "/",
                f"{path}%20",
            )
        )

    def _body(self, operation: Operation) -> tuple[object, bytes, bool | None]:
        random = self.random
        if operation.body is None:
            return None, random.choice((b"",) * 9 + _BROKEN), None
        if random.random() < 0.1:
            return None, random.choice(_BROKEN), False
        values = SchemaValues(self.document, random, self._known())
        value = values.value(operation.body_schema)
        if random.random() < 0.4:
            value = values.damaged(value)
        content = json.dumps(value, ensure_ascii=random.random() < 0.5).encode()
        if random.random() < 0.05:
            return value, b" \n" + content[: random.randrange(len(content))], None
        return value, content, operation.body.is_valid(value)

    def _is_usable(self, value: object) -> bool:
        good = {"transcript_text": _TEXTS, "protocol": _PROTOCOLS, "text": _ANSWERS}
        good["option_id"] = self._options()
        return (
            isinstance(value, dict)
            and not value.get("inputs")
            # Who may be called back is a matter of settings.
            and not value.get("callback_url")
            and all(map(self._is_usable, value.get("requests") or ()))
            # Which names of raters there may be, and what there is to be read, no schema can say.
            and not {"rater", "note", "statements"} & value.keys()
            and not value.get("speakers")
            and all(map(_is_decided, (value.get("items") or {}).values()))
            and all(value.get(name) in (None, *fit) for name, fit in good.items())
        )

    def _options(self) -> tuple[str, ...]:
        question = (self._current or {}).get("question") or {}
        return tuple(one["id"] for one in question.get("options", ())) or ("a1",)

    def _known(self) -> Mapping[str, Any]:
        random = self.random
        known: dict[str, Any] = {
            "transcript_text": lambda: random.choice(_TEXTS),
            "protocol": lambda: random.choice((*_PROTOCOLS, "phq8", WORD)),
            "participant_id": lambda: random.choice((300, 301, 999_999)),
            "inputs": lambda: random.choice(({}, {}, {"title": "The lunch", WORD: 1})),
            "text": lambda: random.choice((*_ANSWERS, "")),
        }
        if self._current is not None:
            version, question = self._current["version"], self._current["question"] or {}
            known |= {
                "version": lambda: version,
                "question_id": lambda: question.get("id", "q1"),
                "option_id": lambda: random.choice(self._options()),
            }
        return known


def operations_of(document: Json) -> tuple[Operation, ...]:
    """Return what a document describes."""
    return tuple(
        _operation(document, method.upper(), path, described)
        for path, methods in document["paths"].items()
        for method, described in methods.items()
    )


def _operation(document: Json, method: str, path: str, described: Json) -> Operation:
    content = described.get("requestBody", {}).get("content", {})
    schema: Json | None = content.get("application/json", {}).get("schema")
    return Operation(
        method=method,
        path=path,
        body=None if schema is None else validator(document, schema),
        body_schema=schema or {},
        media_types=frozenset(content),
        responses=described["responses"],
    )


def validator(document: Json, schema: Json) -> jsonschema_rs.Validator:
    """Return a check against a schema that refers into the document."""
    return jsonschema_rs.Draft202012Validator(schema | {"components": document["components"]})


def _is_decided(item: Json) -> bool:
    """Return whether an item has either a score or that none can be given."""
    return (item.get("score") is None) == (item.get("cannot_tell") is True)
