"""What a run was made with, for people: facts, blocks of names and values, accepted changes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

from ai_psychiatrist.evaluation.reading_list import ReadingList, UnitDanger, reading_list
from ai_psychiatrist.evaluation.report.wording import grouped, in_words
from ai_psychiatrist.evaluation.runs.provenance import changes_of
from ai_psychiatrist.evaluation.runs.run_folder import part_of

if TYPE_CHECKING:
    from ai_psychiatrist.evaluation.scores.predicted_units import PredictedUnits

MOST_ENTRIES: Final = 60
"""Of one block; what is left out is counted."""
MOST_CHARACTERS: Final = 200
_FACTS: Final = (
    ("Dataset", ("dataset", "kind")),
    ("Dataset digest", ("dataset", "digest")),
    ("Mode", ("mode",)),
    ("References digest", ("references", "digest")),
    ("Variant", ("variant",)),
    ("Repeat", ("repeat",)),
    ("Version", ("version",)),
    ("Commit", ("git_commit",)),
)
_LOOKS_LIKE_CODE: Final = ("digest", "commit", "model", "prompt", "contract")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One name and value."""

    name: str
    value: str
    is_code: bool
    """Whether the value is an identifier rather than words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One part of the record, such as the dataset or the settings."""

    title: str
    entries: tuple[Entry, ...]
    left_out: int


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """The record of a run, `run.json`, beside what it gave."""

    run_name: str
    record: Mapping[str, object]
    predictions: "PredictedUnits"
    requested: int | None = None
    """Of how many units; `None`: of those that there are predictions of."""

    @cached_property
    def readings(self) -> ReadingList:
        """Which interviews a person has to read for danger."""
        units, rows = self.predictions.unit_ids, self.predictions.rows
        counts = zip(
            units, rows["signs_to_read"].tolist(), rows["has_unread"].tolist(), strict=True
        )
        found = (
            UnitDanger(
                unit_id=unit_id,
                signs_to_read=None if signs < 0 else signs,
                turns_not_examined=int(has_unread),
            )
            for unit_id, signs, has_unread in counts
        )
        return reading_list(found, requested=max(self.requested or 0, len(units)))

    def at(self, *path: str) -> object | None:
        """Return what lies at a path, or `None` when nothing does."""
        *names, last = path
        return part_of(self.record, *names).get(last)

    @property
    def concerns_depression(self) -> bool:
        """Whether symptoms are to be found; so it is where the record does not say."""
        return self.at("dataset", "concerns_depression") is not False

    @property
    def not_read(self) -> int:
        """Files or lines of the dataset that may be interviews and are no units."""
        counts = part_of(self.record, "dataset", "not_read").values()
        return sum(count for count in counts if type(count) is int)

    @property
    def facts(self) -> Iterator[Entry]:
        """The few lines that tell this run from another."""
        yield Entry(name="Run", value=_shortened(self.run_name), is_code=False)
        for name, path in _FACTS:
            value, is_code = self.at(*path), _is_code(path[-1])
            if isinstance(value, str | int):
                text = str(value)[:12] if is_code else in_words(str(value))
                yield Entry(name=name, value=text, is_code=is_code)

    @property
    def changes(self) -> Iterator[str]:
        """What the run went on with after its beginning, nothing where nothing changed."""
        named = [
            f"{number}) other {', '.join(map(in_words, change))}"
            for number, change in enumerate(self._changed, start=1)
        ]
        if named:
            after = self.predictions.changes
            counts = [f"{grouped(after[at])} after {at}" for at in range(1, len(named) + 1)]
            yield (
                f"The run went on after accepted changes: {'; '.join(named)}. Of its units "
                f"{grouped(after[0])} were assessed before, {', '.join(counts)}: the figures mix "
                "results of more than one kind."
            )

    @cached_property
    def _changed(self) -> list[dict[str, object]]:
        """What each accepted change made other than it was."""
        found, before = [], dict(self.record)
        for change in changes_of(self.record):
            found.append({name: now for name, now in change.items() if now != before.get(name)})
            before |= change
        return found

    @property
    def blocks(self) -> Iterator[Block]:
        """What stands at the top as one block, each nested part and each change as its own."""
        plain = {
            name: value
            for name, value in self.record.items()
            if not isinstance(value, Mapping) and name != "changes"
        }
        parts = [("run", plain)]
        parts += [
            (name, dict(part)) for name, part in self.record.items() if isinstance(part, Mapping)
        ]
        parts += [(f"change {number}", one) for number, one in enumerate(self._changed, start=1)]
        for title, part in parts:
            entries = tuple(_entries(part, title))
            if entries:
                yield Block(
                    title=in_words(title).capitalize(),
                    entries=entries[:MOST_ENTRIES],
                    left_out=max(len(entries) - MOST_ENTRIES, 0),
                )


def _entries(part: Mapping[str, object], title: str, prefix: str = "") -> Iterator[Entry]:
    for name, value in part.items():
        if isinstance(value, Mapping):
            yield from _entries(value, title, f"{prefix}{name}.")
            continue
        yield Entry(
            name=in_words(f"{prefix}{name}"),
            value=_shortened(_written(value)),
            is_code=isinstance(value, str | list) and _is_code(f"{title}.{prefix}{name}"),
        )


def _is_code(name: str) -> bool:
    return any(sign in name.lower() for sign in _LOOKS_LIKE_CODE)


def _written(value: object) -> str:
    match value:
        case None:
            return "none"
        case bool():
            return "yes" if value else "no"
        case int():
            return grouped(value)
        case str():
            return value
        case Sequence():
            return ", ".join(map(_written, value)) or "none"
        case _:
            return str(value)


def _shortened(text: str) -> str:
    return text if len(text) <= MOST_CHARACTERS else f"{text[:MOST_CHARACTERS]}…"
