"""Hostile configuration, each through the real command: refused or stopped in two seconds.

`python -m tests.attack.configuration` prints the table and ends with 1 when a bound is broken.
"""

import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.attack.ended_command import ended_command
from tests.fakes.pipeline_folder import PIPELINE, SCHEMA, changed, written

MOST_SECONDS: Final = 2.0
MOST_MEGABYTES: Final = 600
_BACKTRACKING: Final = "(?=(a+)+$)b"
_REPLY: Final = json.dumps({"unit_id": "u", "score": 1, "tone": "warm", "more": "a" * 5_000})
_PROTOCOL: Final = Path("examples/protocol").resolve()

Build = Callable[[Path], Sequence[str]]
"""Makes the files in a folder and returns the arguments of the command."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attack:
    """One hostile set of files."""

    name: str
    build: Build
    is_usable: bool = False
    """Whether the command may also finish its work in time."""
    most_seconds: float = MOST_SECONDS
    """Of the processor; to start `interview` takes two of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of one command."""

    attack: Attack
    code: int | None
    """`None` when it was given up."""
    seconds: float
    """Of the processor: what others do on the machine is not counted."""
    waited_seconds: float
    megabytes: float
    said: str
    """The first line that names a place."""

    @property
    def is_held(self) -> bool:
        """Whether it was refused, or done, within the bounds and without a traceback."""
        codes = {0, 1, 2} if self.attack.is_usable else {1, 2}
        is_bounded = self.seconds <= self.attack.most_seconds and self.megabytes <= MOST_MEGABYTES
        return is_bounded and self.code in codes and "Traceback" not in self.said


def attacks() -> Iterator[Attack]:
    """Yield every attack."""
    for name, schema in _schemas():
        yield Attack(name=f"lint: {name}", build=_linted(schema=schema), is_usable=True)
        yield Attack(name=f"validate: {name}", build=_validated(schema=schema), is_usable=True)
    for name, text in _yaml_files():
        yield Attack(name=f"lint: {name}", build=_linted(pipeline=text), is_usable=True)
        yield Attack(name=f"protocol: {name}", build=_protocol(text), is_usable=True)
    for name, template in _templates():
        yield Attack(name=f"lint: {name}", build=_linted(template=template), is_usable=True)
    for place in ("pipeline.yaml", "schemas/rate.json", "templates/rate.jinja2"):
        for kind, put in _KINDS.items():
            yield Attack(name=f"lint: {kind} as {place}", build=_replaced(place, put, "lint"))
            yield Attack(name=f"validate: {kind} as {place}", build=_replaced(place, put, "check"))
    for kind, put in _KINDS.items():
        for place in ("protocol.yaml", "prompts/update_goals.md"):
            yield Attack(name=f"protocol: {kind} as {place}", build=_protocol_file(place, put))
        yield Attack(name=f"validate: {kind} as context", build=_context(put), is_usable=True)
        for place in ("labels.csv", "p1.txt", "p1.vtt"):
            build = _dataset(place, put)
            yield Attack(name=f"datasets: {kind} as {place}", build=build, is_usable=True)
        yield Attack(name=f"metrics: {kind} as run.json", build=_run_file("run.json", put))
        yield Attack(name=f"settings: {kind} as .env", build=_environment(put), is_usable=True)
        yield Attack(name=f"interview: {kind} as assessment", build=_given(put), most_seconds=4.0)
    for name, line in _lines():
        yield Attack(name=f"datasets: {name}", build=_interviews(line), is_usable=True)
        yield Attack(name=f"validate: {name} in an answer", build=_answer(line), is_usable=True)


def _schemas() -> Iterator[tuple[str, str]]:
    for keyword in ("allOf", "anyOf", "oneOf"):
        yield f"{keyword} doubled 25 times", _doubled(keyword, 25)
    yield (
        "properties doubled 25 times",
        _chained(25, lambda ref: {"properties": {"a": ref, "b": ref}}),
    )
    yield (
        "if/then/else doubled 25 times",
        _chained(25, lambda ref: {"if": ref, "then": ref, "else": ref}),
    )
    yield "not and allOf doubled", _chained(25, lambda ref: {"not": ref, "allOf": [ref]})
    yield (
        "dependentSchemas doubled",
        _chained(25, lambda ref: {"dependentSchemas": {"score": ref, "tone": ref}}),
    )
    yield (
        "allOf and items doubled",
        _chained(
            25,
            lambda ref: {"allOf": [{"properties": {"more": ref}}, {"properties": {"more": ref}}]},
        ),
    )
    yield (
        "allOf and itself doubled",
        _sound({"allOf": [{"additionalProperties": {"$ref": "#"}}, {"items": {"$ref": "#"}}] * 9}),
    )
    yield "a chain of 20,000 references", _chained(20_000, lambda ref: ref)
    yield "a circle of 3,000 references", _circle(3_000)
    yield "backtracking pattern", _with_more({"type": "string", "pattern": _BACKTRACKING})
    yield (
        "backtracking key pattern",
        _sound({"patternProperties": {_BACKTRACKING: {"type": "integer"}}}),
    )
    yield "backtracking names", _sound({"propertyNames": {"pattern": _BACKTRACKING}})
    yield "pattern with a back reference", _with_more({"pattern": r"^(a+)+\1b$"})
    yield "pattern that grows", _with_more({"pattern": "^(((a{1,100}){1,100}){1,100}){1,100}$"})
    yield (
        "1,000 backtracking patterns",
        _with_more({"allOf": [{"pattern": f"(?=(a+)+$)b{n}"} for n in range(1_000)]}),
    )
    yield "100,000 levels", "[" * 100_000
    yield "100,000 levels of not", '{"not":' * 50_000 + "true" + "}" * 50_000
    yield "900 levels of not", '{"not":' * 900 + "true" + "}" * 900
    yield "million digits", '{"maximum":' + "9" * 1_000_000 + "}"
    yield "exponent", '{"maximum": 1e999999999, "multipleOf": 1e-999999999}'
    yield "4,000 digits", '{"multipleOf": 0.' + "0" * 4_000 + "1}"
    yield "100,000 values of an enum", _with_more({"enum": list(range(100_000))})
    yield "30,000 fields", _sound({"properties": {f"f{n}": True for n in range(30_000)}})
    yield "unique items", _with_more({"uniqueItems": True, "minLength": 10**18})


def _doubled(keyword: str, times: int) -> str:
    return _chained(times, lambda ref: {keyword: [ref, ref]})


def _chained(times: int, link: Callable[[dict[str, object]], dict[str, object]]) -> str:
    links = {f"d{n}": link({"$ref": f"#/$defs/d{n + 1}"}) for n in range(times)}
    ends: dict[str, object] = {f"d{times}": {"minProperties": 1}}
    return _sound({"$ref": "#/$defs/d0", "$defs": links | ends})


def _circle(size: int) -> str:
    links = {f"d{n}": {"items": {"$ref": f"#/$defs/d{(n + 1) % size}"}} for n in range(size)}
    return _sound({"$ref": "#/$defs/d0", "$defs": links})


def _with_more(schema: dict[str, object]) -> str:
    return _sound({"properties": {"more": schema}})


def _sound(schema: dict[str, object]) -> str:
    """Return the sound schema with some more in it, so that nothing else refuses it."""
    fields = {"properties": SCHEMA["properties"] | schema.get("properties", {})}  # type: ignore[operator]
    return json.dumps(SCHEMA | schema | fields)


def _yaml_files() -> Iterator[tuple[str, str]]:
    for name, number in _numbers():
        yield name, changed("max_attempts: 2", f"max_attempts: {number}")
    yield "10,000 long numbers", "a: [" + ("9" * 90 + ", ") * 10_000 + "]"
    yield "many sexagesimal numbers", "a: [" + ("1" + ":1" * 500 + ", ") * 1_000 + "]"
    yield "alias bomb", _aliases(20)
    yield "100,000 levels of lists", "a: " + "[" * 100_000
    yield "100,000 levels of mappings", "{a: " * 100_000
    yield "100,000 dashes", "- " * 100_000
    yield "100,000 question marks", "? " * 100_000
    yield "deepening block", "".join(" " * n + "a:\n" for n in range(1_400))
    yield "merge keys", _merged(700)
    yield "merges of merges", _merges(190)
    yield "40,000 unknown keys", "".join(f"pipelin{n}: 1\n" for n in range(40_000))
    yield "40,000 names", changed("[score, tone]", f"[{', '.join(f'n{n}' for n in range(40_000))}]")
    yield (
        "8,000 steps",
        "pipeline:\n  steps:\n" + "".join(f"    - name: step{n}\n" for n in range(8_000)),
    )
    yield "40,000 anchors", "".join(f"a{n}: &a{n} 1\n" for n in range(40_000))
    yield "long plain text", "a: " + "b " * 500_000
    yield "unclosed quote", 'a: "' + "\n" * 500_000
    yield "tabs", "a:\n" + "\t" * 500_000
    yield "no line end", "a" * 1_000_000
    yield "one key of a million", "? " + "a" * 1_000_000 + "\n: 1"
    yield "two documents", "a: 1\n---\n" * 100_000
    yield "comment signs", "#" * 1_000_000
    yield "percent signs", "%a\n" * 300_000
    yield "exclamation marks", "a: " + "!" * 900_000 + " b"
    yield "5,000 rules", changed("    rules:\n", "    rules:\n" + _RULE * 5_000)
    yield "a long message", changed("score {score} is below", "{" * 900_000 + " is below")
    yield "a message of places", changed("score {score} is below", "{a[b]" * 150_000)
    yield "a long condition", changed("has(threshold)", "not " * 200_000 + "score")
    yield "a long field path", changed("[score, tone]", f"['{'a.' * 400_000}b']")
    yield "a huge power", changed("score >= threshold", "9**9**9**9 > score")
    yield "nested brackets", changed("score >= threshold", "(" * 900 + "score" + ")" * 900)
    yield "backtracking rule", changed("score >= threshold", f"matches(more, '{_BACKTRACKING}')")


_RULE: Final = """\
      - {name: again, expr: "score >= 0", error: "no", level: error}
"""


def _numbers() -> Iterator[tuple[str, str]]:
    yield "sexagesimal number", "1" + ":1" * 400_000
    yield "sexagesimal fraction", "1" + ":1" * 400_000 + ".5"
    yield "number with underscores", "1" + "_000" * 200_000
    yield "million digits in YAML", "9" * 1_000_000
    yield "million hexadecimal digits", "0x" + "f" * 1_000_000
    yield "million octal digits", "0" + "7" * 1_000_000
    yield "million binary digits", "0b" + "1" * 1_000_000
    yield "fraction of a million digits", "1." + "9" * 1_000_000
    yield "tagged number", "!!int '" + "1:" * 400_000 + "1'"


def _aliases(times: int) -> str:
    lines = ["a0: &a0 [1, 1]"]
    lines += [f"a{n + 1}: &a{n + 1} [*a{n}, *a{n}, *a{n}]" for n in range(times)]
    return "\n".join(lines)


def _merged(times: int) -> str:
    many = ", ".join(f"k{n}: 1" for n in range(10_000))
    return f"a: &a {{{many}}}\n" + "".join(f"b{n}: {{<<: [*a]}}\n" for n in range(times))


def _merges(times: int) -> str:
    lines = ["a0: &a0 {" + ", ".join(f"k{n}: 1" for n in range(200)) + "}"]
    lines += [f"a{n + 1}: &a{n + 1} {{<<: *a{n}, j{n}: 1}}" for n in range(times)]
    return "\n".join(lines)


def _templates() -> Iterator[tuple[str, str]]:
    yield "template of brackets", "{{ " + "(" * 500_000
    yield "template of blocks", "{% if a %}" * 80_000
    yield "template of sums", "{{ 1" + " + 1" * 200_000 + " }}"
    yield "template of braces", "{" * 1_000_000
    yield "template of comments", "{#" * 500_000
    yield "template of raw", "{% raw %}" * 100_000
    yield "template of filters", "{{ a" + "|upper" * 150_000 + " }}"
    yield "template of names", "".join(f"{{{{ n{n} }}}}" for n in range(40_000))
    yield "template of a huge constant", "{{ 9 ** 9 ** 9 ** 9 }}"
    yield "template of a huge text", "{{ 'a' * (3*10**9) }}{{ 'a'|center(3*10**9) }}"
    yield "template of a million digits", "{{ " + "9" * 1_000_000 + " }}"
    yield "template of spaces", "{{" + " " * 1_000_000
    yield "template of quotes", "{{ '" + "\\" * 1_000_000


def _lines() -> Iterator[tuple[str, str]]:
    yield "million digits in JSON", '{"unit_id": "u", "score": ' + "9" * 1_000_000 + "}"
    yield "100,000 levels in JSON", '{"unit_id": "u", "text": ' + "[" * 100_000
    yield "100,000 objects in JSON", '{"a":' * 100_000 + "1" + "}" * 100_000
    yield "300,000 keys", json.dumps({"unit_id": "u"} | {f"k{n}": n for n in range(300_000)})
    yield "half a surrogate", '{"unit_id": "\\ud800"}'
    yield "exponent in JSON", '{"unit_id": "u", "score": 1e999999999}'


def _linted(
    *, pipeline: str = PIPELINE, schema: str | None = None, template: str | None = None
) -> Build:
    def build(folder: Path) -> Sequence[str]:
        path = written(folder, pipeline, schema=schema, template=template or "Talk.")
        return ["lint-config", str(path)]

    return build


def _validated(*, schema: str) -> Build:
    def build(folder: Path) -> Sequence[str]:
        return _check(written(folder, schema=schema))

    return build


def _check(pipeline: Path, *more: str) -> Sequence[str]:
    answers = pipeline.parent / "answers.jsonl"
    if not answers.exists():
        answers.write_text(_REPLY)
    out = ["--valid", "/dev/null", "--failures", str(pipeline.parent / "failed")]
    return ["validate", "--config", str(pipeline), "--step", "rate", str(answers), *out, *more]


def _replaced(place: str, put: Callable[[Path], None], command: str) -> Build:
    def build(folder: Path) -> Sequence[str]:
        path = written(folder)
        (folder / place).unlink()
        put(folder / place)
        return _check(path) if command == "check" else ["lint-config", str(path)]

    return build


def _context(put: Callable[[Path], None]) -> Build:
    def build(folder: Path) -> Sequence[str]:
        put(folder / "context.jsonl")
        return _check(written(folder), "--context", str(folder / "context.jsonl"))

    return build


def _protocol(text: str) -> Build:
    def build(folder: Path) -> Sequence[str]:
        (folder / "protocol.yaml").write_text(text)
        return ["lint-config", str(folder)]

    return build


def _protocol_file(place: str, put: Callable[[Path], None]) -> Build:
    def build(folder: Path) -> Sequence[str]:
        (folder / "prompts").mkdir()
        for file in (*_PROTOCOL.glob("*.yaml"), *_PROTOCOL.glob("prompts/*")):
            (folder / file.relative_to(_PROTOCOL)).write_bytes(file.read_bytes())
        (folder / place).unlink()
        put(folder / place)
        return ["lint-config", str(folder / "protocol.yaml")]

    return build


def _dataset(place: str, put: Callable[[Path], None]) -> Build:
    def build(folder: Path) -> Sequence[str]:
        data = folder / "data"
        data.mkdir()
        (data / "p0.txt").write_text("Interviewer: How are you?\nParticipant: Fine.")
        put(data / place)
        return ["evaluate", "datasets", "check", str(data)]

    return build


def _interviews(line: str) -> Build:
    def build(folder: Path) -> Sequence[str]:
        (folder / "data.jsonl").write_text(line)
        return ["evaluate", "datasets", "check", str(folder / "data.jsonl")]

    return build


def _answer(line: str) -> Build:
    def build(folder: Path) -> Sequence[str]:
        (folder / "answers.jsonl").write_text(line)
        return _check(written(folder))

    return build


def _run_file(place: str, put: Callable[[Path], None]) -> Build:
    def build(folder: Path) -> Sequence[str]:
        put(folder / place)
        return ["evaluate", "metrics", str(folder)]

    return build


def _environment(put: Callable[[Path], None]) -> Build:
    def build(folder: Path) -> Sequence[str]:
        put(folder / ".env")
        return ["export", str(folder)]

    return build


def _given(put: Callable[[Path], None]) -> Build:
    def build(folder: Path) -> Sequence[str]:
        put(folder / "given.json")
        return ["interview", "--protocol", "phq8", "--from", str(folder / "given.json")]

    return build


def _sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(1 << 34)


def _device(path: Path) -> None:
    path.symlink_to("/dev/zero")


_KINDS: Final[dict[str, Callable[[Path], None]]] = {
    "a pipe": os.mkfifo,
    "a device": _device,
    "a folder": Path.mkdir,
    "16 GB": _sparse,
}


def outcome_of(attack: Attack) -> Outcome:
    """Run the command of one attack, in a folder of its own."""
    with tempfile.TemporaryDirectory() as name:
        ended = ended_command(attack.build(Path(name)), Path(name))
    said = ended.err + ended.out
    return Outcome(
        attack=attack,
        code=ended.code,
        seconds=ended.seconds,
        waited_seconds=ended.waited_seconds,
        megabytes=ended.megabytes,
        said=next((line for line in said.splitlines() if "Traceback" in line), said.split("\n")[0]),
    )


def main() -> int:
    """Print one line for each attack, and the count of bounds that did not hold."""
    broken = 0
    wanted = sys.argv[1:]
    for attack in attacks():
        if wanted and not any(word in attack.name for word in wanted):
            continue
        outcome = outcome_of(attack)
        broken += not outcome.is_held
        mark = "  " if outcome.is_held else "!!"
        code = "-" if outcome.code is None else outcome.code
        numbers = f"{outcome.seconds:6.2f} s {outcome.waited_seconds:6.2f} s"
        numbers += f" {outcome.megabytes:5.0f} MB {code:>3}"
        sys.stdout.write(f"{mark} {attack.name:50} {numbers}  {outcome.said[:80]}\n")
        sys.stdout.flush()
    sys.stdout.write(f"{broken} bounds broken\n")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
