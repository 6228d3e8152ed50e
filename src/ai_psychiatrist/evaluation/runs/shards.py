"""Deal a dataset out to several processes, and make one run of what they leave.

Shard i of n has every n-th unit, from the i-th on. So shards differ by one unit at most, neighbours
of like length do not end up in one, no unit is in two, and units taken from the shards in turn
stand in the order of the dataset.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Final, NamedTuple, Self

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.evaluation.datasets.dataset import DatasetUnit, Labels
from ai_psychiatrist.evaluation.datasets.options import OnProgress, silent
from ai_psychiatrist.evaluation.runs.cost_file import write_merged_cost
from ai_psychiatrist.evaluation.runs.provenance import OF_ONE_RUN, all_of, begun_otherwise
from ai_psychiatrist.evaluation.runs.results import write_results
from ai_psychiatrist.evaluation.runs.run import RunState, state_of
from ai_psychiatrist.evaluation.runs.run_folder import RunFolder, read_json_file, write_json
from ai_psychiatrist.evaluation.runs.unit import ASSESSMENT_STEP
from ai_psychiatrist.evaluation.runs.units_file import (
    RunUnit,
    keep_labels,
    labels_digest_of,
    read_labels,
    read_units,
    text_digest,
    write_units,
)
from ai_psychiatrist.infrastructure.digests import keyed_digest, using_installation_key
from ai_psychiatrist.infrastructure.given_files import open_regular
from ai_psychiatrist.infrastructure.private_files import make_folders, write_whole
from ai_psychiatrist.pipelines.run_folder import PROMPT_KEY
from ai_psychiatrist.store.cipher import Cipher
from ai_psychiatrist.store.run_append import append_rows
from ai_psychiatrist.store.run_file import FILE_NAME, holds_run
from ai_psychiatrist.store.runs import RunStore

MOST_SHARDS: Final = 400
"""A merge holds the lock of each, which is two open files, and a process may have 1,024."""
_FORM: Final = re.compile(r"([1-9][0-9]{0,5})/([1-9][0-9]{0,5})")
_FIELD: Final = "RUN"
_MERGED: Final = "merged_shards"
_OF_THE_LEDGER: Final = ("number of shards", "agents", "--no-raw")
"""What shards of one run have alike, and their records do not say."""
_OF_THE_MACHINE: Final = ("python", "platform")
"""What may differ between shards, because nothing that is written follows from it."""
_OF_THE_SERVERS: Final = (
    "addresses",
    "weights",
    "served_models",
    "other_served_models",
    "fingerprints",
)
"""What each shard may know of its own servers."""


class Shard(NamedTuple):
    """Which part of how many."""

    of: int
    number: int
    """From 1."""

    @classmethod
    def read(cls, text: str) -> Self:
        """Read `2/8`; raises `InputError` for what is no part of at most 400."""
        found = _FORM.fullmatch(text)
        number, of = map(int, found.groups()) if found else (0, 0)
        if not 1 <= number <= of <= MOST_SHARDS:
            msg = (
                "a shard is given as i/n, such as 2/8, with i from 1 to n and n at most "
                f"{MOST_SHARDS}"
            )
            raise InputError(msg, field="--shard")
        return cls(of, number)

    def __str__(self) -> str:
        """Write it as it is given."""
        return f"{self.number}/{self.of}"

    def part(self, units: Sequence[DatasetUnit]) -> Sequence[DatasetUnit]:
        """Return the part of some units; raises `InputError` where it would be empty."""
        part = units[self.number - 1 :: self.of]
        if not part:
            msg = f"shard {self} has none of {len(units)} units; make at most {len(units)} shards"
            raise InputError(msg, field="--shard")
        return part

    def place(self, number: int) -> int:
        """Return which unit of the whole the part's n-th one is, both from 1."""
        return (number - 1) * self.of + self.number

    def prompt_key(self, dataset_digest: str) -> str:
        """Return the key of prompts, the same for all shards that one installation begins.

        Their prompts are then equal to the letter, so that a merged run can be resumed.
        """
        return keyed_digest(f"shards:{self.of}:{dataset_digest}", length=64)


class _Part(NamedTuple):
    """A shard that is being merged."""

    shard: Shard
    folder: RunFolder
    terms: Mapping[str, object]
    """Its record, but for its number, and what its ledger alone says."""
    run: RunStore
    units: Mapping[str, RunUnit]
    pending: int


def merge_shards(
    folders: Sequence[Path],
    out: Path,
    *,
    is_partial: bool = False,
    cipher: Cipher | None = None,
    on_progress: OnProgress = silent,
) -> dict[RunFolder, RunState]:
    """Merge shards into a run, or shards that hold several runs each into as many.

    `is_partial`: whether shards, or units of them, may be missing; the record of the run names the
    shards as `missing_shards`. Raises `InputError` for shards that make no whole run, that were
    begun with other inputs, are damaged or are being worked on, and for a folder that is in use;
    the folder holds no run then. `on_progress`: each shard is a step when it is checked, and when
    it is copied.
    """
    if len({folder.resolve() for folder in folders}) < len(folders):
        raise InputError("a folder is named twice; name each shard once", field=_FIELD)
    by_name: dict[str, list[RunFolder]] = {}
    for folder in map(RunFolder, folders):
        for run in folder.runs():
            by_name.setdefault("" if run == folder else run.path.name, []).append(run)
    if "" in by_name and len(by_name) > 1:
        msg = "some folders are one run and others hold several; merge those of a kind"
        raise InputError(msg, field=_FIELD)
    merged = {RunFolder(out / name): by_name[name] for name in sorted(by_name)}
    return {
        run: _merged(found, run, is_partial=is_partial, cipher=cipher, on_progress=on_progress)
        for run, found in merged.items()
    }


def _merged(
    folders: Sequence[RunFolder],
    out: RunFolder,
    *,
    is_partial: bool,
    cipher: Cipher | None,
    on_progress: OnProgress,
) -> RunState:
    with ExitStack() as held:
        opened = []
        for done, folder in enumerate(folders):
            on_progress(done, 2 * len(folders))
            opened.append(_opened(held, folder, cipher))
        parts = sorted(opened, key=lambda part: part.shard)
        first, of = parts[0], parts[0].shard.of
        whole = {Shard(of, number + 1) for number in range(of)}
        missing = list(map(str, sorted(whole - {part.shard for part in parts})))
        for fault in _faults(parts, missing, is_partial=is_partial):
            raise InputError(fault, field=_FIELD)
        if out.run.exists() or out.inside():
            raise InputError(f"{out.path} holds runs already; name another folder", field="--out")
        held.enter_context(out.held())
        _clear_half_merged(out, cipher)
        run = held.enter_context(
            RunStore.create(
                out.path,
                steps=first.run.steps,
                keeps_raw=first.run.keeps_raw,
                cipher=cipher,
                about={**first.run.about, _MERGED: str(len(parts))},
            )
        )
        with run.transaction():
            for done, part in enumerate(parts, start=len(parts)):
                on_progress(done, 2 * len(parts))
                _append(run, part)
                part.run.close()
        units = {unit_id: unit for part in parts for unit_id, unit in part.units.items()}
        write_units(out.units, (units[unit_id] for unit_id in run.units.ids()))
        labels = _write_files(out, parts)
        write_results(out, run)
        record = _record(parts) | ({"missing_shards": missing} if missing else {})
        record = keep_labels(out, record, labels, labels_digest_of(parts[0].terms))
        # Last, because a folder with this file is a run.
        write_json(out.run, record)
        return replace(state_of(out, run), waiting_calls=run.batches.waiting_calls())


def _opened(held: ExitStack, folder: RunFolder, cipher: Cipher | None) -> _Part:
    """Lock a shard and check it; raises `InputError` for what is none and for a damaged one."""
    record = folder.require_run()
    if "shard" not in record:
        msg = f"{folder.path} is no shard: it was made without --shard, or is merged already"
        raise InputError(msg, field=_FIELD)
    with _naming(folder.path):
        shard = Shard.read(str(record.pop("shard")))
        held.enter_context(folder.held())
        run = held.enter_context(RunStore.open(folder.path, cipher=cipher))
        run.require_whole()
    with _naming(folder.units):
        units = read_units(folder.units)
    if [*units] != run.units.ids():
        msg = (
            f"{folder.units} is damaged: its lines are not those of the units in its ledger; "
            "copy the shard here again, or run it again"
        )
        raise InputError(msg, field=_FIELD)
    pending = run.counts(ASSESSMENT_STEP).pending
    # It is opened again when its turn comes: all at once are more files than a process may have.
    run.close()
    own_terms = shard.of, run.steps, not run.keeps_raw
    terms = record | dict(zip(_OF_THE_LEDGER, own_terms, strict=True))
    return _Part(shard, folder, terms, run, units, pending)


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Put the folder or file that an error is about in front of it."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{path}: {error}", field=_FIELD) from None


def _faults(  # noqa: C901  one reason after the other
    parts: Sequence[_Part], missing: Sequence[str], *, is_partial: bool
) -> Iterator[str]:
    """Yield why parts, in the order of their numbers, make no whole run, and what to do."""
    for part in parts:
        terms = begun_otherwise(parts[0].terms, part.terms, names=(*OF_ONE_RUN, *_OF_THE_LEDGER))
        if terms:
            yield (
                f"{parts[0].folder.path} and {part.folder.path} were begun with other {terms} and "
                "are not of one run; name the shards of one run"
            )
    for before, part in combinations(parts, 2):
        one, other = before.folder.path, part.folder.path
        if before.shard == part.shard:
            yield f"shard {part.shard} is named twice: {one} and {other}; name one of them"
        if not 0 <= len(before.units) - len(part.units) <= 1:
            yield (
                f"{one} has {len(before.units)} units and {other} has {len(part.units)}: they were "
                "not dealt from as many; begin all with the same --limit"
            )
    if len({labels_digest_of(part.terms) for part in parts}) > 1:
        yield "the shards have other labels; continue each (--resume) to renew them"
    if missing and not is_partial:
        named = ", ".join(missing)
        yield f"shards are missing: {named}; name their folders too, or add --partial"
    for part in parts:
        if part.pending and not is_partial:
            yield (
                f"{part.folder.path} has {part.pending} of {len(part.units)} units still to do; "
                "continue it (--resume), or add --partial"
            )
    if len(set().union(*(part.units for part in parts))) < sum(len(part.units) for part in parts):
        yield "some units are in more than one folder; name the shards of one dataset"


def _clear_half_merged(out: RunFolder, cipher: Cipher | None) -> None:
    """Remove the ledger that a killed merge left: without a record it is no run yet."""
    if holds_run(out.path):
        with RunStore.open(out.path, cipher=cipher) as left:
            if _MERGED not in left.about:
                raise InputError(f"{out.path} holds a ledger; name another folder", field="--out")
        for path in out.path.glob(f"{FILE_NAME}*"):
            path.unlink()


def _append(run: RunStore, part: _Part) -> None:
    """Add the rows of a part, their words sealed under the key of the whole."""

    def digest_of(unit_id: str, content: bytes) -> str:
        text = content.decode("utf-8", "surrogatepass")
        if text_digest(unit_id, text) != part.units[unit_id].text_digest:
            raise InputError("the text of a unit is damaged", field=_FIELD)
        # Under the key of the whole, which may be another one.
        return keyed_digest(text)

    with _naming(part.folder.path), using_installation_key(bytes.fromhex(run.about[PROMPT_KEY])):
        append_rows(run.rows, part.run.rows, number_of=part.shard.place, digest_of=digest_of)


def _write_files(out: RunFolder, parts: Sequence[_Part]) -> dict[str, Labels]:
    """Write times, costs, contracts and certificates; return the labels of all."""
    labels: dict[str, Labels] = {}
    sessions: list[object] = []
    for part in parts:
        with _naming(part.folder.labels):
            labels |= read_labels(part.folder.labels)
        if part.folder.timings.exists():
            told = all_of([read_json_file(part.folder.timings, missing="")]).get("sessions", [])
            sessions += [one | {"shard": str(part.shard)} for one in told if isinstance(one, dict)]
    write_json(out.timings, {"sessions": sessions})
    write_merged_cost([part.folder for part in parts], out)
    first = parts[0].folder
    kept = [(first, pattern) for pattern in ("prompts.toml", "config/**/*", "changes/**/*")]
    for folder, pattern in (*kept, *((part.folder, "certificates/*") for part in parts)):
        for source in folder.path.glob(pattern):
            # Drafts that killed writers left are hidden.
            if source.is_file() and not source.name.startswith("."):
                target = out.path / source.relative_to(folder.path)
                make_folders(target.parent)
                with open_regular(source) as file:
                    write_whole(target, file)
    return labels


def _record(parts: Sequence[_Part]) -> dict[str, object]:
    """Return what one process would have recorded, with the servers and machines of all."""
    records = [part.terms for part in parts]
    machines = {
        name: ", ".join(sorted({str(record.get(name)) for record in records}))
        for name in _OF_THE_MACHINE
    }
    servers = {name: all_of([record.get(name) for record in records]) for name in _OF_THE_SERVERS}
    record = {**records[0], **machines, **{name: told for name, told in servers.items() if told}}
    return {name: value for name, value in record.items() if name not in _OF_THE_LEDGER}
