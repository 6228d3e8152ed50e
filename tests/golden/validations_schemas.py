"""Answers against a JSON Schema alone: coercions, keywords, broken lines, replies, files."""

import gzip
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from tests.fakes.damaged_lines import LONGEST_LINE, made_file
from tests.golden.answer import Answer, Json
from tests.golden.validations_replies import FRAMED, MENDED, REFUSED
from tests.golden.validations_tables import COERCED, DEFINITIONS, KEYWORDS, LINES, NO_SCHEMAS, SCORE
from tests.golden.validations_ways import (
    Record,
    answer_of,
    check,
    commands_answer,
    lines_of,
)
from tests.golden.ways import run, scratch

_SCHEMA: Final = ("--schema", "schema.json")
_ANY: Final[Record] = {"type": "object"}


def answers() -> Iterator[Answer]:
    """Yield what comes of answers of all sorts."""
    with scratch() as folder:
        yield from _fields(folder)
        yield from _replies(folder)
        yield from _lines(folder)
        yield from _files(folder)
        yield from _refused(folder)
    yield from _in_python()


def _fields(folder: Path) -> Iterator[Answer]:
    for group, table in (("coerced", COERCED), ("keywords", KEYWORDS)):
        schema = {"properties": {name: one for name, (one, _) in table.items()}}
        _write_schema(folder, {**schema, "$defs": DEFINITIONS})
        lines = [
            {"unit_id": f"{name}/{number}", name: value}
            for name, (_, values) in table.items()
            for number, value in enumerate(values)
        ]
        text = lines_of(lines)
        checked = check(folder, *_SCHEMA, stdin=text)
        yield answer_of(f"schema/{group}", folder, checked, given=[text])


def _replies(folder: Path) -> Iterator[Answer]:
    _write_schema(folder, _ANY)
    for group, replies in (("framed", FRAMED), ("mended", MENDED), ("refused", REFUSED)):
        text = lines_of(
            [{"unit_id": number, "_raw_text": reply} for number, reply in enumerate(replies)]
        )
        checked = check(folder, *_SCHEMA, stdin=text)
        yield answer_of(f"schema/replies/{group}", folder, checked, given=[text, *replies])
        # A reply is one line then, and itself the answer.
        text = lines_of([" ".join(reply.splitlines()) for reply in replies])
        checked = check(folder, *_SCHEMA, stdin=text)
        yield answer_of(f"schema/replies/{group}_as_lines", folder, checked, given=[text])


def _lines(folder: Path) -> Iterator[Answer]:
    _write_schema(folder, SCORE)
    data = b"\n".join(LINES)
    given = [data.replace(b"\r", b"")]
    yield answer_of("schema/lines", folder, check(folder, *_SCHEMA, stdin=data), given=given)
    last = check(folder, *_SCHEMA, "--duplicate-keys", "last", stdin=data)
    yield answer_of("schema/lines_last_key", folder, last, given=given)
    short = check(folder, *_SCHEMA, "--longest-line", "60", stdin=data)
    yield answer_of("schema/lines_longest", folder, short, given=given)
    whole = run(["validate", *_SCHEMA], folder, stdin=data)
    yield commands_answer(
        "schema/lines_to_streams", folder, whole, given=[data.decode("utf-8", "replace")]
    )
    _write_schema(folder, {"properties": {"score": {"type": "integer", "maximum": 3}}})
    for seed in range(24):
        made = made_file(random.Random(seed)).data  # noqa: S311
        longest = ("--longest-line", str(LONGEST_LINE))
        checked = check(folder, *_SCHEMA, *longest, stdin=made)
        yield answer_of(f"schema/damaged/{seed:02}", folder, checked, given=[made])


def _files(folder: Path) -> Iterator[Answer]:
    _write_schema(folder, SCORE)
    good, bad = '{"unit_id": "u0", "score": "2"}\n', '{"unit_id": "u1", "score": 9}\n'
    (folder / "in.jsonl").write_text(good + bad, "utf-8")
    (folder / "in.jsonl.gz").write_bytes(gzip.compress((good + bad).encode(), mtime=0))
    (folder / "cut.jsonl.gz").write_bytes(gzip.compress(good.encode() * 500, mtime=0)[:-9])
    (folder / "sound.jsonl").write_text(good, "utf-8")
    (folder / "empty.jsonl").write_bytes(b"")
    (folder / "latin.jsonl").write_bytes('{"unit_id": "ü", "score": 1}\n'.encode("latin-1"))
    (folder / "wide.jsonl").write_bytes(good.encode("utf-16"))
    for name in ("in.jsonl", "in.jsonl.gz", "cut.jsonl.gz", "sound.jsonl", "empty.jsonl"):
        yield answer_of(f"schema/files/{name}", folder, check(folder, *_SCHEMA, name))
    for name in ("latin.jsonl", "wide.jsonl", "nowhere.jsonl", "."):
        case = {".": "folder"}.get(name, name)
        yield answer_of(f"schema/files/{case}", folder, check(folder, *_SCHEMA, name))
    yield answer_of("schema/files/stdin", folder, check(folder, *_SCHEMA, "--stdin", stdin=good))
    yield answer_of("schema/files/dash", folder, check(folder, *_SCHEMA, "-", stdin=bad))
    packed = ("--valid", "v.gz", "--failures", "f.gz", "--next", "n.gz")
    ended = run(["validate", *_SCHEMA, "in.jsonl", *packed], folder)
    files: dict[str, Json] = {
        name: gzip.decompress((folder / name).read_bytes()).decode() for name in packed[1::2]
    }
    yield commands_answer("schema/files/packed", folder, ended, files=files, given=[good + bad])
    (folder / "same.jsonl").write_text(good + bad, "utf-8")
    ended = run(["validate", *_SCHEMA, "same.jsonl", "--valid", "same.jsonl"], folder)
    text = (folder / "same.jsonl").read_text("utf-8")
    yield commands_answer("schema/files/over_itself", folder, ended, files={"same": text})
    ended = run(["validate", *_SCHEMA, "in.jsonl", "--failures", "-", "--coercions", "-"], folder)
    yield commands_answer("schema/files/all_to_stdout", folder, ended, given=[good + bad])


_REFUSED: Final[dict[str, tuple[str, ...]]] = {
    "neither": (),
    "both": (*_SCHEMA, "--config", "p.yaml"),
    "step": (*_SCHEMA, "--step", "s1"),
    "run": (*_SCHEMA, "--run", "r"),
    "seed": (*_SCHEMA, "--seed", "1"),
    "two_inputs": (*_SCHEMA, "in.jsonl", "--stdin"),
    "no_schema": ("--schema", "nowhere.json"),
    "no_length": (*_SCHEMA, "--longest-line", "0"),
    "unknown_keys": (*_SCHEMA, "--duplicate-keys", "first"),
    "no_folder": (*_SCHEMA, "--valid", "nowhere/v.jsonl"),
    "same_file": (*_SCHEMA, "in.jsonl", "--valid", "a", "--next", "./a"),
    "no_context": (*_SCHEMA, "in.jsonl", "--context", "nowhere"),
    "context_of_no_lines": (*_SCHEMA, "in.jsonl", "--context", "schema.json"),
}


def _refused(folder: Path) -> Iterator[Answer]:
    for name, text in NO_SCHEMAS.items():
        (folder / "schema.json").write_text(text, "utf-8")
        checked = check(folder, *_SCHEMA, stdin='{"a": 1}\n')
        yield answer_of(f"schema/no_schema/{name}", folder, checked)
    _write_schema(folder, SCORE)
    for name, arguments in _REFUSED.items():
        checked = check(folder, *arguments, stdin='{"score": 1}\n')
        yield answer_of(f"schema/refused/{name}", folder, checked)


def _in_python() -> Iterator[Answer]:
    import ai_psychiatrist as ap  # noqa: PLC0415  slow to import

    circular: Record = {}
    circular["score"] = circular
    pretty = json.dumps({"unit_id": "a", "score": 1}, indent=2)
    cases: dict[str, tuple[Any, Any]] = {
        "lines": (["", '{"score": "2"}', '{"score": 9}', "no JSON"], SCORE),
        "objects": ([{"score": 2**70}, {"score": "1"}, {"items": [{"n": "5"}]}], SCORE),
        "bytes": ([b'{"score": 1}', b"\xff\n", "\ud800", " " * 10_000_001], SCORE),
        "several_lines": ([f"{pretty}\n", '{\n"score": 1', '```json\n{"score": 1}\n```'], SCORE),
        "no_json": ([{"score": object()}, {("a", "b"): 1}, circular, {"score": 1}], SCORE),
        "none": ([], SCORE),
        "text_alone": ('{"score": 1}', SCORE),
        "object_alone": ({"score": 1}, SCORE),
        "nothing": (None, SCORE),
        "no_file": (Path("there-is-none.jsonl"), SCORE),
        "none_among_them": (["{}", None], SCORE),
        "list_among_them": (["{}", [1]], SCORE),
        "no_schema": ([], {"type": "no type"}),
        "schema_is_text": ([], "object"),
        "no_schema_file": ([], Path("there-is-none.json")),
    }
    for name, (lines, schema) in cases.items():
        value: Json
        given: list[str] = []
        try:
            report = ap.validate(lines, schema)
        except (ap.InputError, ap.ConfigurationError) as error:
            value = {"raised": type(error).__name__, "message": str(error)}
        else:
            found = json.loads(report.model_dump_json())
            given = list(report.coercions)
            del found["summary"]["seconds"]
            value = {**found, "is_all_valid": report.is_all_valid, "shown": repr(report)}
        yield Answer(name=f"python/{name}", value=value, given=given)


def _write_schema(folder: Path, schema: Record) -> None:
    (folder / "schema.json").write_text(json.dumps(schema), "utf-8")
