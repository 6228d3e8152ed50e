"""Shards that are to become one run: whether they belong together, and what is missing."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ai_psychiatrist.domain.errors import ArtifactMismatch, InputError
from ai_psychiatrist.evaluation.runs.provenance import all_of
from ai_psychiatrist.evaluation.runs.run_folder import RunFolder
from ai_psychiatrist.evaluation.runs.shard import Shard

_FIELD: Final = "RUN"
_OF_THE_MACHINE: Final = ("python", "platform")
"""What may differ between shards, because nothing that is written follows from it."""
_OF_THE_SERVERS: Final = ("addresses", "served_models", "other_served_models", "fingerprints")
"""What each shard may know of its own servers."""
_MAY_BE_UNKNOWN: Final = frozenset({"git_commit", "git_dirty"})
_MOST_NAMED: Final = 12
_NAME: Final = re.compile(r"[a-z0-9_]{1,40}")
"""What a field of ours is called; a file that was changed may hold anything."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One shard."""

    shard: Shard
    folder: RunFolder
    record: Mapping[str, object]

    @property
    def name(self) -> str:
        """What errors call it."""
        return f"shard {self.shard} ({self.folder.path.name})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """Shards of one run, in their order."""

    found: Sequence[Part]
    missing: Sequence[Shard]

    @property
    def record(self) -> dict[str, object]:
        """What one process would have written; it says which shards are missing, if any are."""
        record = {name: value for name, value in self.found[0].record.items() if name != "shard"}
        for name in _OF_THE_MACHINE:
            values = dict.fromkeys(str(part.record.get(name)) for part in self.found)
            record[name] = ", ".join(sorted(values))
        for name in (*_OF_THE_SERVERS, "weights"):
            if found := all_of([part.record.get(name) for part in self.found]):
                record[name] = found
        if self.missing:
            record["missing_shards"] = list(map(str, self.missing))
        return record


def parts_of(folders: Sequence[RunFolder], *, is_partial: bool) -> Parts:
    """Return shards that belong together.

    `is_partial`: whether shards may be missing. Raises `InputError` for what is no shard, one that
    is named twice and missing ones, and `ArtifactMismatch` for shards that were begun with
    different inputs, with the names of the fields.
    """
    parts = sorted(map(_part, folders), key=lambda part: part.shard)
    by_shard: dict[Shard, Part] = {}
    for part in parts:
        there = by_shard.setdefault(part.shard, part)
        if there is not part:
            names = f"{there.folder.path} and {part.folder.path}"
            raise InputError(f"shard {part.shard} is named twice: {names}", field=_FIELD)
        _refuse_other(parts[0], part)
    of = parts[0].shard.of
    wanted = (Shard(of=of, number=number) for number in range(1, of + 1))
    missing = [shard for shard in wanted if shard not in by_shard]
    if missing and not is_partial:
        named = ", ".join(map(str, missing[:_MOST_NAMED]))
        more = len(missing) - _MOST_NAMED
        named += f" and {more} more" if more > 0 else ""
        msg = f"shards are missing: {named}; name their folders too, or add --partial"
        raise InputError(msg, field=_FIELD)
    return Parts(found=parts, missing=missing)


def _part(folder: RunFolder) -> Part:
    record = folder.require_run()
    shard = record.get("shard")
    if not isinstance(shard, str):
        msg = f"{folder.path} is no shard: it was made without --shard, or is merged already"
        raise InputError(msg, field=_FIELD)
    return Part(shard=Shard.read(shard), folder=folder, record=record)


def _refuse_other(first: Part, other: Part) -> None:
    """Raise `ArtifactMismatch` that names the fields in which two shards differ."""
    fields = [] if first.shard.of == other.shard.of else ["number of shards"]
    fields += _differing(first.record, other.record)
    if fields:
        left_out = len(fields) - _MOST_NAMED
        named = ", ".join(fields[:_MOST_NAMED]) + (f" and {left_out} more" if left_out > 0 else "")
        msg = (
            f"{first.name} and {other.name} were begun with other inputs and are not of one run; "
            f"run.json differs at {named}"
        )
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
