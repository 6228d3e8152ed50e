"""Make one run of the shards that several processes made: one file of calls, one account."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import chain, zip_longest
from pathlib import Path
from typing import Final

import orjson

from ai_psychiatrist.domain.errors import ArtifactMismatch, InputError
from ai_psychiatrist.evaluation.runs.cost_file import read_cost, write_merged_cost
from ai_psychiatrist.evaluation.runs.provenance import all_of
from ai_psychiatrist.evaluation.runs.results import carried_failures, readings, write_results
from ai_psychiatrist.evaluation.runs.run_folder import RunFolder, read_json_file, write_json
from ai_psychiatrist.evaluation.runs.session import RunState
from ai_psychiatrist.evaluation.runs.shard import Shard
from ai_psychiatrist.evaluation.runs.stages import ASSESSMENT_STEP
from ai_psychiatrist.infrastructure.digests import keyed_digest, using_installation_key
from ai_psychiatrist.infrastructure.given_files import open_regular, reason_of
from ai_psychiatrist.infrastructure.private_files import make_subfolder, write_whole
from ai_psychiatrist.pipelines.run_folder import PROMPT_KEY
from ai_psychiatrist.store.cipher import Cipher
from ai_psychiatrist.store.errors import LedgerUnusable, RunBusy
from ai_psychiatrist.store.run_file import FILE_NAME, holds_run
from ai_psychiatrist.store.run_records import KeptCall
from ai_psychiatrist.store.runs import RunStore

_FIELD: Final = "RUN"
_MERGED: Final = "merged_shards"
_AS_THE_FIRST: Final = ("prompts.toml", "config", "changes")
"""What all shards have alike: their records hold the digests."""
_OF_THE_MACHINE: Final = ("python", "platform")
"""What may differ between shards, because nothing that is written follows from it."""
_OF_THE_SERVERS: Final = ("addresses", "served_models", "other_served_models", "fingerprints")
"""What each shard may know of its own servers."""
_MAY_BE_UNKNOWN: Final = frozenset({"git_commit", "git_dirty"})
_MOST_NAMED: Final = 12
_NAME: Final = re.compile(r"[a-z0-9_]{1,40}")
"""What a field of ours is called; a file that was changed may hold anything."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    """A run that was made of shards."""

    folder: Path
    state: RunState
    missing: Sequence[Shard]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """One shard."""

    shard: Shard
    name: str
    """What errors call it."""
    folder: RunFolder
    record: Mapping[str, object]
    run: RunStore
    unit_ids: Sequence[str]


def merge_shards(
    folders: Sequence[Path], out: Path, *, is_partial: bool = False, cipher: Cipher | None = None
) -> list[Merged]:
    """Merge shards into a run, or shards that hold several runs each into as many.

    `is_partial`: whether shards, or units of them, may be missing. Raises `InputError` for shards
    that make no whole run, that are damaged or are being worked on, and for a folder that is in
    use, and `ArtifactMismatch` for shards that were begun with different inputs, with the names of
    the fields; the folder holds no run then.
    """
    given = list(map(RunFolder, folders))
    are_runs = {folder.run.is_file() for folder in given}
    runs = [run for folder in given for run in folder.runs()]
    if are_runs == {True}:
        return [_merged(runs, RunFolder(out), is_partial=is_partial, cipher=cipher)]
    if True in are_runs:
        msg = "some folders are one run and others hold several; merge those of a kind"
        raise InputError(msg, field=_FIELD)
    by_name = {name: RunFolder(out / name) for name in sorted({run.path.name for run in runs})}
    return [
        _merged(
            [run for run in runs if run.path.name == name],
            folder,
            is_partial=is_partial,
            cipher=cipher,
        )
        for name, folder in by_name.items()
    ]


def _merged(
    folders: Sequence[RunFolder], out: RunFolder, *, is_partial: bool, cipher: Cipher | None
) -> Merged:
    with ExitStack() as held:
        parts = sorted(
            (_part(held, folder, cipher) for folder in folders), key=lambda part: part.shard
        )
        for part in parts:
            _require_like(parts[0], part)
        missing = _missing(parts, is_partial=is_partial)
        if out.run.exists() or out.inside():
            msg = f"{out.path} holds runs already; name another folder"
            raise InputError(msg, field="--out")
        _require_sizes(parts, is_partial=is_partial)
        held.enter_context(out.held())
        _clear_half_merged(out, cipher)
        first = parts[0].run
        about = {**first.about, _MERGED: str(len(parts))}
        run = held.enter_context(
            RunStore.create(
                out.path, steps=first.steps, keeps_raw=first.keeps_raw, cipher=cipher, about=about
            )
        )
        _take_units(run, parts)
        unreadable = _write_files(parts, run.units.ids(), out)
        write_results(out, run)
        write_merged_cost([part.folder for part in parts], out)
        record = _record(parts, missing)
        state = _state_of(run, record, unreadable, out)
        # Last, because a folder with this file is a run.
        write_json(out.run, record)
    return Merged(folder=out.path, state=state, missing=missing)


def _part(held: ExitStack, folder: RunFolder, cipher: Cipher | None) -> _Part:
    record = folder.require_run()
    written = record.get("shard")
    if not isinstance(written, str):
        msg = f"{folder.path} is no shard: it was made without --shard, or is merged already"
        raise InputError(msg, field=_FIELD)
    shard = Shard.read(written)
    name = f"shard {shard} ({folder.path.name})"
    try:
        held.enter_context(folder.held())
    except RunBusy:
        msg = f"{name} is being worked on; wait until it has ended"
        raise InputError(msg, field=_FIELD) from None
    with _naming(name):
        run = held.enter_context(RunStore.open(folder.path, cipher=cipher))
        ids = run.units.ids()
    return _Part(shard=shard, name=name, folder=folder, record=record, run=run, unit_ids=ids)


@contextmanager
def _naming(name: str) -> Iterator[None]:
    try:
        yield
    except LedgerUnusable as error:
        raise InputError(f"{name}: {error}", field=_FIELD) from None


def _require_like(first: _Part, part: _Part) -> None:
    fields = [] if first.shard.of == part.shard.of else ["number of shards"]
    fields += _differing(first.record, part.record)
    if fields:
        msg = (
            f"{first.name} and {part.name} were begun with other inputs and are not of one run; "
            f"run.json differs at {_named(fields)}"
        )
        raise ArtifactMismatch(msg)
    if (part.run.steps, part.run.keeps_raw) != (first.run.steps, first.run.keeps_raw):
        msg = f"{part.name} has other agents, or another --no-raw, than the first shard"
        raise ArtifactMismatch(msg)


def _differing(
    one: Mapping[str, object], other: Mapping[str, object], prefix: str = ""
) -> Iterator[str]:
    """Yield where two records differ, with dots between a field and what is inside it."""
    for name in sorted({*one, *other}):
        first, second = one.get(name), other.get(name)
        if not prefix and name in {"shard", *_OF_THE_SERVERS, *_OF_THE_MACHINE}:
            continue
        if isinstance(first, Mapping) and isinstance(second, Mapping):
            yield from _differing(first, second, f"{prefix}{name}.")
        elif first != second and not (
            (name in _MAY_BE_UNKNOWN or "weights" in (name, prefix[:-1]))
            and None in (first, second)
        ):
            yield f"{prefix}{name if _NAME.fullmatch(name) else 'a field of another name'}"


def _missing(parts: Sequence[_Part], *, is_partial: bool) -> list[Shard]:
    there, of = {part.shard: part for part in parts}, parts[0].shard.of
    for part in parts:
        if there[part.shard] is not part:
            names = f"{part.folder.path} and {there[part.shard].folder.path}"
            raise InputError(f"shard {part.shard} is named twice: {names}", field=_FIELD)
    missing = [
        shard for number in range(of) if (shard := Shard(of=of, number=number + 1)) not in there
    ]
    if missing and not is_partial:
        named = _named(list(map(str, missing)))
        msg = f"shards are missing: {named}; name their folders too, or add --partial"
        raise InputError(msg, field=_FIELD)
    return missing


def _named(names: Sequence[str]) -> str:
    left_out = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {left_out} more" if left_out > 0 else "")


def _clear_half_merged(out: RunFolder, cipher: Cipher | None) -> None:
    """Remove what a merge left that was killed: of a run it is none yet."""
    if not holds_run(out.path):
        return
    with RunStore.open(out.path, cipher=cipher) as ledger:
        is_ours = _MERGED in ledger.about
    if not is_ours:
        raise InputError(f"{out.path} holds a ledger; name another folder", field="--out")
    for path in out.path.glob(f"{FILE_NAME}*"):
        path.unlink()


def _require_sizes(parts: Sequence[_Part], *, is_partial: bool) -> None:
    """Require shards that are whole, done, and dealt from equally many units."""
    for part in parts:
        with _naming(part.name):
            by_step = part.run.counts_by_step()
        if not all(counts.balances for counts in by_step.values()):
            msg = f"{part.name} is damaged: its ledger is not whole, or its account not balanced"
            raise InputError(msg, field=_FIELD)
        counts = by_step[ASSESSMENT_STEP]
        if counts.pending and not is_partial:
            msg = (
                f"{part.name} has {counts.pending} of {counts.requested} units still to do; go on "
                "with it (--resume), or add --partial"
            )
            raise InputError(msg, field=_FIELD)
    least = max(part.shard.place(len(part.unit_ids)) for part in parts)
    for part in parts:
        size, wanted = len(part.unit_ids), part.shard.size(least)
        if size != wanted:
            msg = (
                f"{part.name} has {size} units, and would have {wanted} of the {least} that the "
                "others were dealt from; begin all with the same --limit"
            )
            raise ArtifactMismatch(msg)
    ids = list(chain(*(part.unit_ids for part in parts)))
    if len(ids) > len(set(ids)):
        msg = f"{len(ids) - len(set(ids))} units are in more than one part"
        raise InputError(msg, field=_FIELD)


def _take_units(run: RunStore, parts: Sequence[_Part]) -> None:
    """Copy all units in the order of the whole, sealed anew, all or none."""
    key = bytes.fromhex(run.about[PROMPT_KEY])
    with run.transaction(), using_installation_key(key):
        for dealt in zip_longest(*(part.unit_ids for part in parts)):
            for part, unit_id in zip(parts, dealt, strict=True):
                if unit_id is not None:
                    with _naming(part.name):
                        _take_unit(run, part.run, unit_id)
        for part in parts:
            for batch in part.run.batches.all():
                run.batches.take(batch, part.run.batches.of_batch(batch.number))


def _take_unit(run: RunStore, source: RunStore, unit_id: str) -> None:
    unit = source.units.get(unit_id)
    digest = unit.context_digest
    if unit.context is not None:
        # Under the key of the whole, which may be another one.
        digest = keyed_digest(unit.context.decode("utf-8", "surrogatepass"))
    run.units.add(unit_id, context_digest=digest, context=unit.context)
    run.request(unit_id, ASSESSMENT_STEP)
    for step in source.steps:
        for history in source.rounds(unit_id, step):
            run.request(unit_id, step, round=history[0].round)
            run.record(history)
    for attempt in range(1, len(source.history(unit_id, ASSESSMENT_STEP)) + 2):
        calls = source.calls.of_attempt(unit_id, attempt)
        run.calls.keep([KeptCall(unit_id, attempt, call) for call in calls])


def _write_files(parts: Sequence[_Part], unit_ids: Sequence[str], out: RunFolder) -> int:
    """Write all that is no result, and return how many units have no text that can be read."""
    for name in _AS_THE_FIRST:
        _copy(parts[0].folder.path / name, out.path / name)
    units: dict[str, bytes] = {}
    labels: dict[str, bytes] = {}
    sessions: list[object] = []
    for part in parts:
        found = _lines_by_unit(part.folder.units)
        if list(found) != part.unit_ids:
            raise _damaged(part.folder.units)
        units |= found
        labels |= _lines_by_unit(part.folder.labels)
        _copy(part.folder.certificates, out.certificates)
        timings = part.folder.timings
        told = read_json_file(timings, missing="").get("sessions") if timings.exists() else None
        known = told if isinstance(told, list) else []
        sessions += [{**session, "shard": str(part.shard)} for session in known]
    write_whole(out.units, [units[unit_id] for unit_id in unit_ids])
    write_whole(out.labels, [labels[unit_id] for unit_id in sorted(labels)])
    write_json(out.timings, {"sessions": sessions})
    return sum(orjson.loads(line).get("text_digest") is None for line in units.values())


def _lines_by_unit(path: Path) -> dict[str, bytes]:
    try:
        with open_regular(path) as file:
            found = {str(orjson.loads(line)["unit_id"]): line for line in file}
    except OSError as error:
        raise InputError(f"{path} cannot be read: {reason_of(error)}", field=_FIELD) from None
    except (LookupError, TypeError, ValueError):
        raise _damaged(path) from None
    if not all(line.endswith(b"\n") for line in found.values()):
        raise _damaged(path)
    return found


def _damaged(path: Path) -> InputError:
    msg = f"{path} is damaged: its lines are not those of the units in the ledger beside it"
    return InputError(msg, field=_FIELD)


def _copy(source: Path, target: Path) -> None:
    """Copy a file, or a folder without its hidden files, where there is one."""
    if source.is_dir():
        make_subfolder(target)
        for inner in sorted(source.iterdir()):
            if not inner.name.startswith("."):
                _copy(inner, target / inner.name)
    elif source.exists():
        with open_regular(source) as file:
            write_whole(target, file)


def _record(parts: Sequence[_Part], missing: Sequence[Shard]) -> dict[str, object]:
    """Return what one process would have written; it says which shards are missing, if any are."""
    record = {name: value for name, value in parts[0].record.items() if name != "shard"}
    for name in _OF_THE_MACHINE:
        record[name] = ", ".join(sorted({str(part.record.get(name)) for part in parts}))
    for name in (*_OF_THE_SERVERS, "weights"):
        if found := all_of([part.record.get(name) for part in parts]):
            record[name] = found
    if missing:
        record["missing_shards"] = list(map(str, missing))
    return record


def _state_of(
    run: RunStore, record: Mapping[str, object], unreadable: int, out: RunFolder
) -> RunState:
    by_step = run.counts_by_step()
    dataset = record.get("dataset")
    not_read = dataset.get("not_read") if isinstance(dataset, dict) else None
    return RunState(
        paid_calls=0,
        counts=by_step[ASSESSMENT_STEP],
        carried=carried_failures(run),
        readings=readings(run),
        unbalanced_steps=tuple(step for step, counts in by_step.items() if not counts.balances),
        unreadable=unreadable,
        cost=read_cost(out),
        waiting_calls=run.batches.waiting_calls(),
        not_read=not_read if isinstance(not_read, dict) else {},
    )
