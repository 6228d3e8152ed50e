"""What of a command, of a run's files and of a page is kept: packed, so that files stay short."""

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import Final

from tests.golden.answer import Answer, Json, folder_masks, text_answer
from tests.golden.ways import Ended, parsed, run

WITHOUT_GIT: Final = {"PATH": ""}
"""Settings under which no run knows of a commit, which changes with every other one."""
_DIGEST: Final = re.compile(r"(?<![0-9A-Za-z.])(?:[0-9a-f]{128}|[0-9a-f]{12,64})(?![0-9A-Za-z])")
"""Of those made under a random key some have no letter."""
_LONG_DECIMAL: Final = re.compile(r"\b\d+\.\d{10,}(?:e-?\d+)?\b")
"""In a string, as certificates write numbers."""
_VERSIONED: Final = re.compile(r"(genai-prices )\d+(\.\d+)+")
_MOST_PACKED: Final = 116
_NUMBERS_A_LINE: Final = 8
_DIGITS: Final = 9
_FIGURE: Final = ("value", "reason", "interval", "n")
_OF_THE_MACHINE: Final = frozenset({"git_commit", "git_dirty", "python", "platform", "version"})
_OF_THE_PROGRAM: Final = frozenset({"program", "version"})
"""Of names of numbers like 0.1.0."""
_LONG_PARTS: Final = frozenset({"settings", "prompts", "contracts"})
_COLUMNS_A_LINE: Final = 12


def evaluate(folder: Path, *arguments: object, settings: Mapping[str, str] | None = None) -> Ended:
    """Run `ai-psychiatrist evaluate` in a folder."""
    given = ["evaluate", *map(str, arguments)]
    return run(given, folder, WITHOUT_GIT | dict(settings or {}))


def told(name: str, value: Json, folder: Path, *given: str) -> Answer:
    """Return an answer about what was made in a folder."""
    return Answer(name=name, value=value, given=given, masks=folder_masks(folder))


def all_shown(folder: Path, commands: Mapping[str, Sequence[object]]) -> dict[str, Json]:
    """Return how each of several commands of `evaluate` ended, by name."""
    return {name: shown(evaluate(folder, *arguments)) for name, arguments in commands.items()}


def shown(ended: Ended) -> dict[str, Json]:
    """Return how a command ended and what it printed."""
    return {
        "exit": ended.code,
        "out": packed(parsed(ended.out)),
        "err": packed(text_answer(ended.err)),
    }


def packed(value: Json) -> Json:
    """Return a value whose short parts are a line each, and records of the same fields rows."""
    return _packed(_masked(value))


def _masked(value: Json) -> Json:
    if isinstance(value, str):
        text = _VERSIONED.sub(r"\1<version>", _DIGEST.sub("<digest>", value))
        return _LONG_DECIMAL.sub(lambda found: str(_rounded(float(found[0]))), text)
    if isinstance(value, float):
        return _rounded(value)
    if isinstance(value, Mapping):
        return {
            key: f"<{key}>" if key in _OF_THE_PROGRAM and isinstance(one, str) else _masked(one)
            for key, one in value.items()
        }
    return [_masked(one) for one in value] if isinstance(value, Sequence) else value


def _rounded(number: float) -> float:
    return float(f"{number:.{_DIGITS}g}")


def _packed(value: Json) -> Json:
    if isinstance(value, str) or not isinstance(value, Mapping | Sequence):
        return value
    line = _line(value)
    if is_short(line):
        return line
    if isinstance(value, Mapping):
        if tuple(value) == _FIGURE and value["reason"] is not None:
            return {_line({**value, "reason": "…"}): value["reason"]}
        return {key: _packed(one) for key, one in value.items()}
    return _table(value) or _numbers(value) or [_packed(one) for one in value]


def _numbers(values: Sequence[Json]) -> Json:
    """Return numbers in lines of some."""
    if not all(isinstance(one, int | float) for one in values):
        return None
    starts = range(0, len(values), _NUMBERS_A_LINE)
    return [_line(values[at : at + _NUMBERS_A_LINE]) for at in starts]


def is_short(line: str) -> bool:
    """Return whether a line can be seen whole in a difference, and is no sentence."""
    return " " not in line and len(line) <= _MOST_PACKED


def _table(rows: Sequence[Json]) -> Json:
    """Return records of the same fields as rows, where these are short and hold no sentence."""
    records = [row for row in rows if isinstance(row, Mapping)]
    if len(records) != len(rows) or len({tuple(row) for row in records}) != 1 or len(rows) == 1:
        return None
    written = [_line(list(row.values())) for row in records]
    return (
        {"fields": _line(list(records[0])), "rows": written}
        if all(map(is_short, written))
        else None
    )


def _line(value: Json) -> str:
    """Write in one line, with quotes that need no sign before them in a file of JSON."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace('"', "'")


def json_file(path: Path) -> Json:
    """Return a file of JSON or of JSON lines, packed; `None` where there is none."""
    return packed(parsed(path.read_text("utf-8"))) if path.exists() else None


def record_of(folder: Path, *, whole: bool = False) -> Json:
    """Return `run.json` without what is of the machine; settings and digests where it is whole."""
    record = json.loads((folder / "run.json").read_text("utf-8"))
    kept = {
        name: f"<{name}>" if name in _OF_THE_MACHINE else value
        for name, value in record.items()
        if whole or name not in _LONG_PARTS | _OF_THE_MACHINE
    }
    return packed(kept)


def units_of(folder: Path) -> Json:
    """Return a line for each prediction: how it ended, its scores, and the fate of each reply."""
    lines = (folder / "predictions.jsonl").read_text("utf-8").splitlines()
    return {one["unit_id"]: _unit(one) for one in map(json.loads, lines)}


def _unit(prediction: Mapping[str, Json]) -> Json:
    whole = ("status", "total", "total_min", "total_max", "meta_review_severity", "risk_level")
    items, attempts = prediction["items"], prediction["attempts"]
    assert isinstance(items, Mapping)
    assert isinstance(attempts, Sequence)
    return {
        "ends": _line([prediction[name] for name in (*whole, "signs_to_read", "changes")]),
        "scores": _line([_score(one) for one in items.values()]),
        "failures": packed(prediction["failures"]),
        "attempts": "|".join(_fates(attempts)),
    }


def _score(item: Json) -> Json:
    assert isinstance(item, Mapping)
    return item["unknown_reason"] if item["score"] is None else item["score"]


def _fates(attempts: Sequence[Json]) -> Iterator[str]:
    """Yield each agent with what became of its replies, and how many had that fate."""
    fates = [
        one["agent"] if one["outcome"] == "accepted" else f"{one['agent']}:{one['code']}"
        for one in attempts
        if isinstance(one, Mapping)
    ]
    for fate, count in Counter(fates).items():
        yield str(fate) if count == 1 else f"{fate}*{count}"


def run_files(folder: Path) -> Json:
    """Return the names of what a run leaves, but for locks and what a database has beside it."""
    return sorted(
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file()
        and not path.name.startswith((".", "ledger.sqlite-"))
        and path.parent.name not in {"schemas", "templates", "certificates"}
    )


def table_file(path: Path) -> Json:
    """Return a table of separated values: its columns, and each row in lines of some cells."""
    header, *rows = csv.reader(io.StringIO(path.read_text("utf-8")))
    return {"columns": _cut(header), "rows": {row[0]: _cut(row[1:]) for row in rows}}


def _cut(cells: Sequence[str]) -> Json:
    starts = range(0, len(cells), _COLUMNS_A_LINE)
    return [",".join(cells[at : at + _COLUMNS_A_LINE]) for at in starts]


def page_file(path: Path, sections: Collection[str] = ()) -> Json:
    """Return the text of a page by section, of these alone where some are named."""
    page = _Page(path.read_text("utf-8"))
    kept = {
        name: lines for name, lines in page.sections.items() if not sections or name in sections
    }
    return packed(kept)


class _Page(HTMLParser):
    """The text of a page: a line a paragraph, a list a row of a table, a pair a fact."""

    _BLOCKS: Final = frozenset(
        {"p", "h1", "h2", "h3", "h4", "li", "text", "title", "figcaption", "summary", "br", "small"}
    )
    _SILENT: Final = frozenset({"style", "script"})
    _CELLS: Final = frozenset({"th", "td", "dt", "dd"})
    _LEFT_OUT: Final = frozenset({"Commit", "git commit", "git dirty", "python", "platform"})
    _CHANGING: Final = frozenset({"Version", "version"})

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.sections: dict[str, list[Json]] = {}
        self._lines = self.sections.setdefault("head", [])
        self._row: list[str] | None = None
        self._words: list[str] = []
        self._silent = 0
        self.feed(page)
        self.close()
        self._end_line()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin a section, a row or a line; name a picture."""
        given = dict(attrs)
        if tag == "section":
            self._end_line()
            self._lines = self.sections.setdefault(given.get("id") or "unnamed", [])
        elif tag in self._SILENT:
            self._silent += 1
        elif tag in {"tr", "dt"}:
            self._end_row()
            self._row = []
        elif tag in self._BLOCKS and self._row is None:
            self._end_line()
        elif tag in self._BLOCKS:
            self._words.append(" / ")
        label = given.get("aria-label")
        if label and tag == "svg" and self._row is None:
            self._lines.append(label)

    def handle_endtag(self, tag: str) -> None:
        """End what was begun."""
        if tag in self._SILENT:
            self._silent -= 1
        elif tag in self._CELLS and self._row is not None:
            self._row.append(self._taken())
            if tag == "dd":
                self._end_row()
        elif tag == "tr":
            self._end_row()
        elif tag in self._BLOCKS and self._row is None:
            self._end_line()

    def handle_data(self, data: str) -> None:
        """Add words."""
        if not self._silent:
            self._words.append(data)

    def _taken(self) -> str:
        text = " ".join("".join(self._words).split())
        self._words = []
        return text

    def _end_line(self) -> None:
        if text := self._taken():
            self._lines.append(text)

    def _end_row(self) -> None:
        row, self._row = self._row, None
        if row is None:
            self._end_line()
        elif row and row[0] in self._CHANGING:
            self._lines.append([row[0], "<version>"])
        elif row and row[0] not in self._LEFT_OUT:
            self._lines.append(row)
