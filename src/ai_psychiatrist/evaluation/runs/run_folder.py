"""The files of a run: written whole or not at all, readable by their owner alone."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import orjson

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.infrastructure.given_files import read_regular, reason_of
from ai_psychiatrist.infrastructure.private_files import make_subfolder, write_whole
from ai_psychiatrist.store.lock import run_lock
from ai_psychiatrist.store.run_file import make_private_folder

_MOST_BYTES: Final = 1 << 26
_PRETTY: Final = orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE


@dataclass(frozen=True, slots=True)
class RunFolder:
    """Where the files of a run are."""

    path: Path

    @property
    def run(self) -> Path:
        """What the run was made with."""
        return self.path / "run.json"

    def prompts(self, changes: int = 0) -> Path:
        """The wording of the agents' tasks, or the one after so many accepted changes."""
        return (self.change(changes) if changes else self.path) / "prompts.toml"

    @property
    def predictions(self) -> Path:
        """One line for each unit that has finished."""
        return self.path / "predictions.jsonl"

    @property
    def units(self) -> Path:
        """One line for each unit that the run is asked for."""
        return self.path / "units.jsonl"

    @property
    def labels(self) -> Path:
        """The true scores of the units that have any."""
        return self.path / "labels.jsonl"

    @property
    def certificates(self) -> Path:
        """A certificate for each unit, named by the digest of its line in `units`."""
        return self.path / "certificates"

    @property
    def failures(self) -> Path:
        """One line for each unit and step without an accepted output: codes, no text."""
        return self.path / "failures.jsonl"

    @property
    def timings(self) -> Path:
        """When the run was worked on, and how long; no two runs have the same."""
        return self.path / "timings.json"

    @property
    def cost(self) -> Path:
        """Calls, tokens and money: what was planned beside what was used."""
        return self.path / "cost.json"

    def change(self, number: int) -> Path:
        """Where the contract lies that the run went on with after a change, from 1."""
        return self.path / "changes" / str(number)

    @property
    def metrics(self) -> Path:
        """The metrics, once they were computed."""
        return self.path / "metrics.json"

    @property
    def report(self) -> Path:
        """The report, once it was made."""
        return self.path / "report.html"

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the run for this process; raises `RunBusy` when another one is at it."""
        make_private_folder(self.path)
        with run_lock(self.path):
            yield

    def inside(self) -> list["RunFolder"]:
        """Return the runs that lie directly in the folder; raises `InputError` when it is none."""
        try:
            paths = sorted(self.path.iterdir()) if self.path.exists() else []
        except OSError as error:
            msg = f"{self.path} cannot be read: {error.strerror}"
            raise InputError(msg, field="FOLDER") from None
        return [folder for folder in map(RunFolder, paths) if folder.run.is_file()]

    def runs(self) -> list["RunFolder"]:
        """Return the run itself, or those inside; raises `InputError` when there is none."""
        found = [self] if self.run.is_file() else self.inside()
        if not found:
            raise InputError(f"{self.path} holds no run", field="FOLDER")
        return found

    def begun_files(self) -> dict[str, bytes]:
        """Return what a run begins with, as `restore` takes it: no result is among it."""
        kept = (self.run, self.prompts(), self.units, self.labels)
        within = (
            path
            for folder in (self.path / "config", self.path / "changes")
            for path in sorted(folder.rglob("*"))
        )
        return {
            str(path.relative_to(self.path)): path.read_bytes()
            for path in (*kept, *within)
            if path.is_file()
        }

    def restore(self, files: Mapping[str, bytes]) -> None:
        """Write files that `begun_files` gave, the record of the run last."""
        make_private_folder(self.path)
        for name, content in sorted(files.items(), key=lambda file: file[0] == self.run.name):
            path = self.path / name
            for folder in reversed(Path(name).parents[:-1]):
                make_subfolder(self.path / folder)
            write_whole(path, [content])

    def require_run(self) -> dict[str, object]:
        """Return what the run was made with; raises `InputError` when this is no run."""
        return read_json_file(self.run, missing="is no run: it has no run.json")


def read_json_file(path: Path, *, missing: str) -> dict[str, object]:
    """Read a JSON object; raises `InputError` for a file that is missing or holds none.

    `missing`: what to say of the folder when there is no file.
    """
    try:
        value = orjson.loads(read_regular(path, most_bytes=_MOST_BYTES))
    except FileNotFoundError:
        raise InputError(f"{path.parent} {missing}", field="RUN") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {reason_of(error)}", field="RUN") from None
    except orjson.JSONDecodeError:
        value = None
    if not isinstance(value, dict):
        raise InputError(f"{path} is damaged: it holds no JSON object", field="RUN")
    return value


def part_of(record: Mapping[str, object], *names: str) -> Mapping[str, object]:
    """Return the part of a record under some names; an empty one where there is none."""
    part: object = record
    for name in names:
        part = part.get(name) if isinstance(part, Mapping) else None
    return part if isinstance(part, Mapping) else {}


def json_bytes(value: Mapping[str, object]) -> bytes:
    """Return one JSON object with sorted keys as files have it."""
    return orjson.dumps(value, option=_PRETTY)


def write_json(path: Path, value: Mapping[str, object]) -> None:
    """Write one JSON object with sorted keys."""
    write_whole(path, [json_bytes(value)])
