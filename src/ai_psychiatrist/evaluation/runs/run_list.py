"""Runs beside others: what each is called, how far it is, and whether two may be compared."""

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import orjson

from ai_psychiatrist.domain.assessment import AssessmentStatus
from ai_psychiatrist.domain.errors import ArtifactMismatch, InputError
from ai_psychiatrist.evaluation.runs.provenance import AcceptedChange, accepted_changes, mode_of
from ai_psychiatrist.evaluation.runs.run_folder import RunFolder, part_of
from ai_psychiatrist.evaluation.runs.units_file import read_labels, read_units
from ai_psychiatrist.evaluation.scores.prediction_lines import read_predictions
from ai_psychiatrist.infrastructure.digests import plain_digest

_UNKNOWN: Final = "unknown"
_SHOWN_DIGITS: Final = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class RunName:
    """What tells a run from another."""

    folder: str
    model: str
    """The chain of models; several chains where agents have their own."""
    mode: str
    prompts: str
    """Digest over the prompts of all agents, 12 hex digits."""
    variant: str | None = None
    """The name of these prompts among others, where the run is one of several."""
    repeat: int | None = None
    """From 1."""

    @property
    def wording(self) -> str:
        """The prompts by name, where they have one, and digest."""
        return self.prompts if self.variant is None else f"{self.variant} {self.prompts}"

    def __str__(self) -> str:
        """Write it in one line."""
        repeat = "" if self.repeat is None else f", repeat {self.repeat}"
        return f"{self.folder} ({self.model}, {self.mode}, prompts {self.wording}{repeat})"


def name_of(folder: RunFolder) -> RunName:
    """Return the name of a run; raises `InputError` for a folder that is none."""
    record = folder.require_run()
    chains = part_of(record, "models").values()
    models = dict.fromkeys(
        ", then ".join(map(str, chain)) for chain in chains if isinstance(chain, list)
    )
    prompts = orjson.dumps(part_of(record, "prompts"), option=orjson.OPT_SORT_KEYS)
    variant, repeat = record.get("variant"), record.get("repeat")
    return RunName(
        folder=folder.path.resolve().name,
        model=" and ".join(models) or _UNKNOWN,
        mode=mode_of(record) or _UNKNOWN,
        prompts=plain_digest(prompts.decode()),
        variant=variant if isinstance(variant, str) else None,
        repeat=repeat if isinstance(repeat, int) else None,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedRun:
    """What a run was made with, and how far it is; counts are of units."""

    name: RunName
    dataset: str
    """The dataset's digest, "" where the run has none."""
    asked: int
    complete: int
    with_failures: int
    """Complete ones that carry failures."""
    failed: int
    """Those that are partial as well."""
    changes: tuple[AcceptedChange, ...]
    """In their order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunList:
    """The runs of a folder by name, and the names of those that cannot be read."""

    runs: tuple[ListedRun, ...]
    damaged: tuple[str, ...]


def runs_in(folder: Path) -> RunList:
    """List the runs that lie directly in a folder; raises `InputError` when there is none."""
    runs: list[ListedRun] = []
    damaged: list[str] = []
    inside = RunFolder(folder).inside()
    if not inside:
        raise InputError(f"{folder} holds no run", field="FOLDER")
    for run in inside:
        try:
            runs.append(_listed(run))
        except InputError:
            damaged.append(run.path.name)
    return RunList(runs=tuple(runs), damaged=tuple(damaged))


def _listed(run: RunFolder) -> ListedRun:
    record = run.require_run()
    predictions = read_predictions(run.predictions) if run.predictions.exists() else []
    complete = [unit for unit in predictions if unit.status is AssessmentStatus.COMPLETE]
    return ListedRun(
        name=name_of(run),
        dataset=str(part_of(record, "dataset").get("digest", "")),
        asked=len(read_units(run.units)) or len(predictions),
        complete=len(complete),
        with_failures=sum(bool(unit.failures) for unit in complete),
        failed=len(predictions) - len(complete),
        changes=accepted_changes(record, predictions),
    )


def resume_sentence(folder: RunFolder) -> str:
    """Return the command that resumes a run; the path of its dataset is not recorded."""
    record = folder.require_run()
    dataset = shlex.quote(str(part_of(record, "dataset").get("name", "DATASET")))
    is_one_of_several = "variant" in record or "repeat" in record
    out = shlex.quote(str(folder.path.parent if is_one_of_several else folder.path))
    return (
        f"continue it: ai-psychiatrist evaluate run {dataset} --out {out} --resume, with the "
        "options that it was begun with"
    )


def refuse_incomparable(
    first: RunFolder, second: RunFolder, *, has_own_labels: bool = True
) -> None:
    """Raise `ArtifactMismatch` that says in what two runs differ beside what was to be compared.

    Datasets and texts are told by their digests, texts and labels unit by unit; that both have the
    same identifiers says nothing. Raises `InputError` for a folder that is no run.
    """
    differences = [
        *_datasets(first, second),
        *_shards(first, second),
        *_units(first, second, has_own_labels=has_own_labels),
    ]
    if differences:
        msg = (
            f"{first.path.name!r} and {second.path.name!r} cannot be compared: "
            f"{'; '.join(differences)}"
        )
        raise ArtifactMismatch(msg)


def _datasets(first: RunFolder, second: RunFolder) -> Iterator[str]:
    """Compare what the digest of a dataset covers: its files and the options of reading."""
    one, other = (part_of(folder.require_run(), "dataset") for folder in (first, second))
    if one.get("digest") == other.get("digest"):
        return
    digests = " and ".join(str(each.get("digest"))[:_SHOWN_DIGITS] for each in (one, other))
    yield f"their datasets differ (digests {digests})"
    if one.get("speakers") != other.get("speakers"):
        yield f"they read other speakers ({one.get('speakers')} and {other.get('speakers')})"


def _shards(first: RunFolder, second: RunFolder) -> Iterator[str]:
    """Compare parts: what is in the one alone would count as failed in the other."""
    for name in ("shard", "missing_shards"):
        one, other = (folder.require_run().get(name) for folder in (first, second))
        if one != other:
            yield (
                f"they are of different parts of the dataset ({one or 'no'} and {other or 'no'} "
                f"{name.replace('_', ' ')}); put shards together with evaluate merge"
            )


def _units(first: RunFolder, second: RunFolder, *, has_own_labels: bool) -> Iterator[str]:
    one, other = read_units(first.units), read_units(second.units)
    labels, other_labels = read_labels(first.labels), read_labels(second.labels)
    # Runs of an earlier version list no units.
    shared = (one or labels).keys() & (other or other_labels).keys()
    if one and other and not shared:
        yield "they share no unit"
    texts = sum(
        one[unit].text_digest != other[unit].text_digest
        for unit in shared & one.keys() & other.keys()
    )
    if texts:
        yield f"the texts of {texts} of {len(shared)} shared units differ"
    differing = sum(labels.get(unit) != other_labels.get(unit) for unit in shared)
    if differing and has_own_labels:
        both = " --compare ".join(shlex.quote(str(one.path)) for one in (first, second))
        yield (
            f"the labels of {differing} of {len(shared)} shared units differ; take the same for "
            f"both: ai-psychiatrist evaluate metrics {both} --labels FILE"
        )
