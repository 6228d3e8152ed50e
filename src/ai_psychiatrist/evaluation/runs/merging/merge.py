"""Make one run of the shards that several processes made: one ledger, one account."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ai_psychiatrist.domain.errors import ArtifactMismatch, InputError
from ai_psychiatrist.evaluation.runs.cost_file import read_cost
from ai_psychiatrist.evaluation.runs.merging.costs import write_merged_cost
from ai_psychiatrist.evaluation.runs.merging.files import write_files
from ai_psychiatrist.evaluation.runs.merging.parts import Part, Parts, parts_of
from ai_psychiatrist.evaluation.runs.results import carried_failures, readings, write_results
from ai_psychiatrist.evaluation.runs.run_folder import RunFolder, write_json
from ai_psychiatrist.evaluation.runs.session import RunState
from ai_psychiatrist.evaluation.runs.shard import Shard
from ai_psychiatrist.evaluation.runs.stages import ASSESSMENT_STEP
from ai_psychiatrist.infrastructure.digests import keyed_digest, using_installation_key
from ai_psychiatrist.ledger.store.ledger import Ledger
from ai_psychiatrist.ledger.store.ledger_file import FILE_NAME, holds_run
from ai_psychiatrist.ledger.store.places import PartPlace
from ai_psychiatrist.ledger.store.records import PartRow
from ai_psychiatrist.pipelines.run_folder import PROMPT_KEY
from ai_psychiatrist.store.cipher import Cipher
from ai_psychiatrist.store.errors import LedgerUnusable, RunBusy

OnUnits = Callable[[int, int], None]
"""Told how many units of the largest shard are copied, and of how many."""

_FIELD: Final = "RUN"
_MERGED: Final = "merged_shards"
_UNITS_AT_ONCE: Final = 1_000
"""With all calls and replies they are some ten megabytes, of long interviews some hundred."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    """A run that was made of shards."""

    folder: Path
    state: RunState
    missing: Sequence[Shard]


def merge_shards(
    folders: Sequence[Path],
    out: Path,
    *,
    is_partial: bool = False,
    cipher: Cipher | None = None,
    on_units: OnUnits = lambda _done, _all: None,
) -> list[Merged]:
    """Merge shards into a run, or shards that hold several runs each into as many.

    `is_partial`: whether shards, or units of them, may be missing. Raises `InputError` and
    `ArtifactMismatch`, as `parts_of` does, for shards that make no whole run, that are damaged or
    are being worked on, and for a folder that is in use; it holds no run then.
    """
    given = list(map(RunFolder, folders))
    if all(folder.run.is_file() for folder in given):
        return [_merged(given, RunFolder(out), is_partial, cipher, on_units)]
    runs = [folder.runs() for folder in given]
    names = sorted({run.path.name for several in runs for run in several})
    if any(folder.run.is_file() for folder in given):
        msg = "some folders are one run and others hold several; merge those of a kind"
        raise InputError(msg, field=_FIELD)
    return [
        _merged(
            [run for several in runs for run in several if run.path.name == name],
            RunFolder(out / name),
            is_partial,
            cipher,
            on_units,
        )
        for name in names
    ]


def _merged(
    folders: Sequence[RunFolder],
    out: RunFolder,
    is_partial: bool,  # noqa: FBT001  as the caller was given it
    cipher: Cipher | None,
    on_units: OnUnits,
) -> Merged:
    parts = parts_of(folders, is_partial=is_partial)
    _refuse_used(out)
    with ExitStack() as held:
        held.enter_context(out.held())
        for part in parts.found:
            _hold(held, part)
        _clear_half_merged(out, cipher)
        with _begun(parts, out, cipher) as ledger:
            sizes = [_checked_size(ledger, part, is_partial, cipher) for part in parts.found]
            _refuse_other_sizes(parts.found, sizes)
            _take_units(ledger, parts.found, max(sizes), cipher, on_units)
            for part in parts.found:
                with _opened(part, cipher) as source:
                    ledger.take_batches(source, _place(part))
            unreadable = write_files(parts, ledger.units.each_id(), out)
            write_results(out, ledger)
            write_merged_cost(parts.found, out)
            state = _state_of(ledger, parts, unreadable, out)
        # Last, because a folder with this file is a run.
        write_json(out.run, parts.record)
    return Merged(folder=out.path, state=state, missing=parts.missing)


def _refuse_used(out: RunFolder) -> None:
    if out.run.exists() or out.inside():
        msg = f"{out.path} holds runs already; name another folder"
        raise InputError(msg, field="--out")


def _hold(held: ExitStack, part: Part) -> None:
    """Let whoever would go on with a shard wait."""
    try:
        held.enter_context(part.folder.held())
    except RunBusy:
        msg = f"{part.name} is being worked on; wait until it has ended"
        raise InputError(msg, field=_FIELD) from None


def _clear_half_merged(out: RunFolder, cipher: Cipher | None) -> None:
    """Remove the ledger of a merge that was killed: of a run it is none yet."""
    if not holds_run(out.path):
        return
    with Ledger.open(out.path, cipher=cipher) as ledger:
        is_ours = _MERGED in ledger.about
    if not is_ours:
        raise InputError(f"{out.path} holds a ledger; name another folder", field="--out")
    for path in out.path.glob(f"{FILE_NAME}*"):
        path.unlink()


def _begun(parts: Parts, out: RunFolder, cipher: Cipher | None) -> Ledger:
    with _opened(parts.found[0], cipher) as first:
        return Ledger.create(
            out.path,
            steps=first.steps,
            keeps_raw=first.keeps_raw,
            cipher=cipher,
            about={**first.about, _MERGED: str(len(parts.found))},
        )


@contextmanager
def _opened(part: Part, cipher: Cipher | None) -> Iterator[Ledger]:
    try:
        with Ledger.open(part.folder.path, cipher=cipher) as ledger:
            yield ledger
    except LedgerUnusable as error:
        raise InputError(f"{part.name}: {error}", field=_FIELD) from None


def _take_units(
    ledger: Ledger, parts: Sequence[Part], most: int, cipher: Cipher | None, on_units: OnUnits
) -> None:
    """Copy all units of shards, of which none has more than `most`, in the units' order.

    Shard after shard, rows would go between those that are there: each page would be written anew
    for each shard.
    """
    many = max(1, _UNITS_AT_ONCE // len(parts))
    for first in range(1, most + 1, many):
        rows: list[PartRow] = []
        for part in parts:
            with _opened(part, cipher) as source:
                rows += _rows(ledger, source, part, first=first, last=first + many - 1)
        ledger.take_rows(rows)
        on_units(min(first + many - 1, most), most)


def _rows(ledger: Ledger, source: Ledger, part: Part, *, first: int, last: int) -> list[PartRow]:
    key = ledger.about[PROMPT_KEY]
    digest = None if source.about[PROMPT_KEY] == key else _context_digest
    with using_installation_key(bytes.fromhex(key)):
        return list(source.rows(_place(part), first=first, last=last, digest=digest))


def _place(part: Part) -> PartPlace:
    return PartPlace(number=part.shard.number, of=part.shard.of)


def _checked_size(
    ledger: Ledger,
    part: Part,
    is_partial: bool,  # noqa: FBT001  as above
    cipher: Cipher | None,
) -> int:
    """Return how many units a shard has that is whole."""
    with _opened(part, cipher) as source:
        if not source.is_sound():
            msg = f"{part.name} is damaged: its ledger is not whole, or its account not balanced"
            raise InputError(msg, field=_FIELD)
        if (source.steps, source.keeps_raw) != (ledger.steps, ledger.keeps_raw):
            msg = f"{part.name} has other agents, or another --no-raw, than the first shard"
            raise ArtifactMismatch(msg)
        counts = source.counts(ASSESSMENT_STEP)
        if counts.pending and not is_partial:
            msg = (
                f"{part.name} has {counts.pending} of {counts.requested} units still to do; go on "
                "with it (--resume), or add --partial"
            )
            raise InputError(msg, field=_FIELD)
    return counts.requested


def _context_digest(context: bytes) -> str:
    """Return what a run notes of a unit's text, under the key in use."""
    return keyed_digest(context.decode("utf-8", "surrogatepass"))


def _refuse_other_sizes(parts: Sequence[Part], sizes: Sequence[int]) -> None:
    """Raise `ArtifactMismatch` where the shards are not of equally many units in all."""
    least = max(part.shard.place(size) for part, size in zip(parts, sizes, strict=True))
    for part, size in zip(parts, sizes, strict=True):
        if part.shard.size(least) != size:
            msg = (
                f"{part.name} has {size} units, and would have {part.shard.size(least)} of the "
                f"{least} that the others were dealt from; begin all with the same --limit"
            )
            raise ArtifactMismatch(msg)


def _state_of(ledger: Ledger, parts: Parts, unreadable: int, out: RunFolder) -> RunState:
    by_step = ledger.counts_by_step()
    dataset = parts.record.get("dataset")
    not_read = dataset.get("not_read") if isinstance(dataset, dict) else None
    return RunState(
        paid_calls=0,
        counts=by_step[ASSESSMENT_STEP],
        carried=carried_failures(ledger),
        readings=readings(ledger),
        unbalanced_steps=tuple(step for step, counts in by_step.items() if not counts.balances),
        unreadable=unreadable,
        cost=read_cost(out),
        waiting_calls=ledger.batches.waiting_calls(),
        not_read=not_read if isinstance(not_read, dict) else {},
    )
