"""What a run was made with: enough to tell whether two runs can be compared, and to repeat one."""

import platform
import shutil
import subprocess
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ai_psychiatrist import __version__
from ai_psychiatrist.agents.prompts.tasks import Tasks, prompt_digests
from ai_psychiatrist.domain.assessment import AssessmentMode
from ai_psychiatrist.domain.errors import ArtifactMismatch
from ai_psychiatrist.evaluation.datasets.dataset import Dataset
from ai_psychiatrist.evaluation.runs.run_folder import part_of
from ai_psychiatrist.evaluation.scores.prediction import UnitPrediction
from ai_psychiatrist.llm.providers import provider_of

SCHEMA_VERSION: Final = 1
_MUST_AGREE: Final = (
    "dataset",
    "shard",
    "missing_shards",
    "mode",
    "references",
    "ablates",
    "certificates",
    "models",
    "reader",
    "settings",
)
_MAY_GROW: Final = frozenset({"digest", "units", "not_read", "selection"})
"""What of a dataset is another one once an interview was added or corrected."""
_SEVERAL: Final = ("addresses", "weights", "served_models")
"""Name → values of which each may be met again; what only one of two records knows is no change."""
_MAY_CHANGE: Final = ("version", "git_commit", "prompts", "contracts", "calls", *_SEVERAL)
"""What a run goes on with under another one when that is accepted."""
OF_ONE_RUN: Final = (
    *(name for name in _MUST_AGREE if name != "shard"),
    "variant",
    "repeat",
    "changes",
    *(name for name in _MAY_CHANGE if name not in ("addresses", "served_models")),
    "git_dirty",
)
"""What shards of one run were begun with alike; each may ask servers of its own."""
_MAY_BE_UNKNOWN: Final = (*_MAY_CHANGE, "git_dirty")
_CHANGES: Final = "changes"
_PARTS: Final = (
    "mode",
    "references",
    "models",
    "addresses",
    "weights",
    "served_models",
    "reader",
    "variant",
    "prompts",
    "settings",
    "calls",
    "version",
)
_CALLS: Final = "calls."
_ADDRESSES: Final = "addresses."
_OF_OLD: Final = {"settings.judge.calls": "four"}
"""What holds where a record says nothing."""
_SHOWN_CHARACTERS: Final = 60
_MOST_TOLD: Final = 8
_GIT_SECONDS: Final = 5.0


def dataset_record(dataset: Dataset, *, concerns_depression: bool | None) -> dict[str, object]:
    """Return what a run records of the dataset that it is about.

    `concerns_depression`: `False` for interviews in which no symptom should be found, `None` where
    that is not known.
    """
    return {
        "schema_version": SCHEMA_VERSION,
        "dataset": {
            "name": dataset.path.name,
            "kind": dataset.kind,
            "digest": dataset.digest,
            "reading": dataset.reading,
            "speakers": dataset.speakers.value,
            "units": len(dataset.units),
            "not_read": dataset.not_read,
            "concerns_depression": concerns_depression,
            **({} if dataset.selection is None else {"selection": dataset.selection}),
        },
    }


def provenance(
    *,
    mode: AssessmentMode,
    references: Mapping[str, object] | None = None,
    ablates: bool = False,
    models: Mapping[str, tuple[str, ...]],
    tasks: Tasks,
    contracts: Mapping[str, str],
    settings: Mapping[str, object],
) -> dict[str, object]:
    """Return what a run records of how it is made; the same inputs give the same record.

    `references`: which are shown, in a mode that shows any. `ablates`: whether scores are asked
    for again with their evidence changed. `models`: agent → chain of model names. `tasks`: what
    the agents are asked. `contracts`: name → digest. `settings`: what decides on the result,
    without secrets.
    """
    return {
        "mode": mode.value,
        **({} if references is None else {"references": dict(references)}),
        **({"ablates": True} if ablates else {}),
        "models": {agent: list(chain) for agent, chain in models.items()},
        "prompts": prompt_digests(tasks, mode, is_judged_together=is_judged_together(settings)),
        "contracts": dict(contracts),
        "settings": dict(settings),
        "version": __version__,
        **_git_state(),
        "python": platform.python_version(),
        "platform": platform.system(),
    }


def gone_on_with(
    before: Mapping[str, object], now: Mapping[str, object], *, accepts_changed: bool
) -> dict[str, object]:
    """Return the record of a run that goes on, with the change that was accepted, if there is one.

    Interviews and labels may have been added or corrected; the dataset stays as it was recorded.

    Raises `ArtifactMismatch` when the run was begun with other inputs, or, unless that is accepted,
    under another version, with other prompts, rules, calls or servers.
    """
    served = [before, *changes_of(before)]
    last = dict(before) | (changes_of(before) or [{}])[-1] | {"mode": mode_of(before)}
    last["served_models"] = all_of([one.get("served_models") for one in served])
    others = before.get("other_served_models")
    now = dict(now) | {"served_models": all_of([last["served_models"], others])}
    fixed = [record | {"dataset": _fixed_dataset(record)} for record in (last, now)]
    other = [name for name in _MUST_AGREE if _is_other(name, *fixed)]
    changed = [name for name in _MAY_CHANGE if _is_other(name, last, now)]
    if other or (changed and not accepts_changed):
        parts = begun_otherwise(last, now, names=[*other, *changed])
        cure = "" if other else ", go on all the same with --accept-changed"
        msg = (
            f"the run was begun with other {parts}; its results would not be of one kind. "
            f"Restore them (run.json has them){cure}, or start a new run in another folder"
        )
        raise ArtifactMismatch(msg)
    if not changed:
        return dict(before)
    kept = [name for name in _MAY_CHANGE if name != "served_models" or name in changed]
    change = {name: now[name] for name in kept if name in now}
    return dict(before) | {_CHANGES: [*changes_of(before), change]}


def _fixed_dataset(record: Mapping[str, object]) -> object:
    """Return what a run's dataset keeps when interviews are added; a shard's changes in nothing."""
    dataset = record.get("dataset")
    if not isinstance(dataset, Mapping) or "shard" in record:
        return dataset
    fixed = {name: value for name, value in dataset.items() if name not in _MAY_GROW}
    return fixed | {"is_selection": "selection" in dataset}


def begun_otherwise(
    one: Mapping[str, object], other: Mapping[str, object], *, names: Sequence[str]
) -> str:
    """Return in words which of some parts two records have otherwise; "" where they are alike."""
    parts = [name for name in names if _is_other(name, one, other)]
    told = [
        f"{name}: {before} → {now}"
        for name, (before, now) in made_otherwise(one, other, parts=parts).items()
    ]
    values = f" ({'; '.join(told[:_MOST_TOLD])})" if told else ""
    return f"{', '.join(parts).replace('_', ' ')}{values}"


def is_judged_together(settings: Mapping[str, object]) -> bool:
    """Return whether settings of a record ask for all metrics of the findings in one call."""
    return part_of(settings, "judge").get("calls") == "one"


def mode_of(record: Mapping[str, object]) -> str | None:
    """Return the mode of a run, `None` where it is unknown; earlier records write a hyphen."""
    mode = record.get("mode")
    return mode.replace("-", "_") if isinstance(mode, str) else None


def changes_of(record: Mapping[str, object]) -> list[dict[str, object]]:
    """Return what a run went on with after each change that was accepted, the first one first."""
    changes = record.get(_CHANGES)
    return changes if isinstance(changes, list) else []


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptedChange:
    """What was another one when a run went on, and how many units were assessed under it."""

    parts: tuple[str, ...]
    """Of version, git commit, prompts, contracts, calls, addresses, weights and served models."""
    units: int

    def __str__(self) -> str:
        """Write it as a sentence."""
        units = "1 unit was" if self.units == 1 else f"{self.units} units were"
        return f"{units} assessed after a change of {' and '.join(self.parts)} was accepted."


def accepted_changes(
    record: Mapping[str, object], predictions: Sequence[UnitPrediction]
) -> tuple[AcceptedChange, ...]:
    """Return the changes that were accepted when a run went on, the first one first."""
    units = Counter(prediction.changes for prediction in predictions)
    states = [dict(record)]
    for change in changes_of(record):
        states.append(states[-1] | change)
    return tuple(
        AcceptedChange(
            parts=tuple(
                name.replace("_", " ")
                for name in _MAY_CHANGE
                if _is_other(name, states[number - 1], states[number])
            ),
            units=units[number],
        )
        for number in range(1, len(states))
    )


def all_of(parts: Sequence[object]) -> dict[str, list[object]]:
    """Return name → the values that any of these parts of records lists for it, each once.

    What is no such part, as in a damaged record, is left out.
    """
    found: dict[str, list[object]] = {}
    for part in parts:
        for name, values in part.items() if isinstance(part, Mapping) else ():
            known = found.setdefault(name, [])
            known += [one for one in values if one not in known] if isinstance(values, list) else []
    return found


def _is_other(name: str, before: Mapping[str, object], now: Mapping[str, object]) -> bool:
    """Compare what two records know; a program outside a checkout does not know its commit."""
    one, other = before.get(name), now.get(name)
    if name in _SEVERAL:
        known, met = all_of([one]), all_of([other])
        return any(value not in known[key] for key in known.keys() & met for value in met[key])
    return one != other and not (name in _MAY_BE_UNKNOWN and None in (one, other))


def _git_state() -> dict[str, object]:
    """Return the commit of this program's sources, where they lie in a checkout."""
    commit = _git("rev-parse", "HEAD") if _git("ls-files", "--error-unmatch", __file__) else None
    status = _git("status", "--porcelain", "--untracked-files=no") if commit else None
    return {"git_commit": commit, "git_dirty": None if commit is None else bool(status)}


def _git(*arguments: str) -> str | None:
    program = shutil.which("git")
    if program is None:
        return None
    try:
        done = subprocess.run(  # noqa: S603  fixed arguments, no shell
            [program, "-C", str(Path(__file__).parent), *arguments],
            capture_output=True,
            text=True,
            timeout=_GIT_SECONDS,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


def made_otherwise(
    first: Mapping[str, object],
    second: Mapping[str, object],
    *,
    parts: Collection[str] = _PARTS,
) -> dict[str, tuple[str, str]]:
    """Return name → both values, such as `settings.judge.calls` → `four`, `one`.

    `first`, `second`: the records of two runs. `parts`: of them. A value that only one of them has
    is `none` in the other.
    """
    one, other = (
        {
            _told(name): text
            for part in _PARTS
            if part in parts and part in record
            for name, text in _values(part, record[part])
        }
        for record in (first, second)
    )
    sides = {
        name: (one.get(name, missing), other.get(name, missing))
        for name in dict.fromkeys([*one, *other])
        for missing in (_OF_OLD.get(name, "none"),)
    }
    return {name: both for name, both in sides.items() if both[0] != both[1]}


def _told(name: str) -> str:
    """Name the setting behind what shapes calls: its variable is what a reader can change."""
    if name.startswith(_CALLS):
        variable, dot, rest = name.removeprefix(_CALLS).partition(".")
        return f"{variable.upper()}{dot}{rest}"
    provider = provider_of(name.removeprefix(_ADDRESSES))
    if name.startswith(_ADDRESSES) and provider is not None:
        return f"{provider.url_variable} ({name})"
    return name


def _values(name: str, value: object) -> Iterator[tuple[str, str]]:
    """Yield the values of a part of a record, with dots between a name and what is inside it."""
    if isinstance(value, Mapping):
        for inner in value:
            yield from _values(f"{name}.{inner}", value[inner])
    else:
        yield name, _written(value)


def _written(value: object) -> str:
    match value:
        case None:
            text = "none"
        case list():
            text = ", ".join(map(str, value)) or "none"
        case _:
            text = str(value)
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}…"
