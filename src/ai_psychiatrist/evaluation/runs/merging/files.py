"""The files of a merged run: lines of the shards in the order that one process gives them."""

import heapq
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO, Final

import orjson

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.evaluation.runs.merging.parts import Part, Parts
from ai_psychiatrist.evaluation.runs.run_folder import RunFolder, read_json_file, write_json
from ai_psychiatrist.infrastructure.given_files import open_regular, reason_of
from ai_psychiatrist.infrastructure.private_files import make_subfolder, write_whole

_COPIED_BYTES: Final = 1 << 20
_AS_THE_FIRST: Final = ("prompts.toml", "config", "changes")
"""What all shards have alike: their records hold the digests."""


def write_files(parts: Parts, unit_ids: Iterable[str], out: RunFolder) -> int:
    """Write all that is no result, and return how many units have no text that can be read.

    `unit_ids`: those of the merged run, in its order. Raises `InputError` for files of a shard that
    are missing, cannot be read, are damaged or list other units.
    """
    for name in _AS_THE_FIRST:
        _copy(parts.found[0].folder.path / name, out.path / name)
    units = _Units(parts.found)
    with ExitStack() as opened:
        write_whole(out.units, units.lines(unit_ids, opened))
    with ExitStack() as opened:
        files = [opened.enter_context(_opened(part.folder.labels)) for part in parts.found]
        write_whole(out.labels, heapq.merge(*files, key=_unit_id))
    for part in parts.found:
        _copy(part.folder.certificates, out.certificates)
    sessions = [session for part in parts.found for session in _sessions(part)]
    write_json(out.timings, {"sessions": sessions})
    return units.unreadable


class _Units:
    """Lines about units, one of each shard in turn."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self.unreadable = 0
        self._paths = [part.folder.units for part in parts]

    def lines(self, unit_ids: Iterable[str], opened: ExitStack) -> Iterator[bytes]:
        left = [(path, opened.enter_context(_opened(path))) for path in self._paths]
        found = self._dealt(left)
        for unit_id in unit_ids:
            path, line = next(found, (self._paths[0], b""))
            record = _record(path, line)
            if record.get("unit_id") != unit_id:
                raise _damaged(path)
            self.unreadable += record.get("text_digest") is None
            yield line
        for path, _ in found:
            raise _damaged(path)

    def _dealt(self, left: list[tuple[Path, BinaryIO]]) -> Iterator[tuple[Path, bytes]]:
        while left:
            lines = [(path, file, file.readline()) for path, file in left]
            yield from ((path, line) for path, _, line in lines if line)
            left = [(path, file) for path, file, line in lines if line]


def _unit_id(line: bytes) -> str:
    return str(_record(Path("labels.jsonl"), line).get("unit_id"))


def _record(path: Path, line: bytes) -> Mapping[str, object]:
    try:
        record = orjson.loads(line)
    except orjson.JSONDecodeError:
        record = None
    if not isinstance(record, dict) or not line.endswith(b"\n"):
        raise _damaged(path)
    return record


def _damaged(path: Path) -> InputError:
    msg = f"{path} is damaged: its lines are not those of the units in the ledger beside it"
    return InputError(msg, field="RUN")


def _sessions(part: Part) -> Iterator[dict[str, object]]:
    path = part.folder.timings
    found = (read_json_file(path, missing="") if path.exists() else {}).get("sessions")
    for session in found if isinstance(found, list) else []:
        yield {**session, "shard": str(part.shard)}


def _copy(source: Path, target: Path) -> None:
    """Copy a file, or a folder without its hidden files, where there is one."""
    if source.is_dir():
        make_subfolder(target)
        for inner in sorted(source.iterdir()):
            if not inner.name.startswith("."):
                _copy(inner, target / inner.name)
    elif source.exists():
        with _opened(source) as file:
            write_whole(target, iter(lambda: file.read(_COPIED_BYTES), b""))


def _opened(path: Path) -> BinaryIO:
    try:
        return open_regular(path)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {reason_of(error)}", field="RUN") from None
