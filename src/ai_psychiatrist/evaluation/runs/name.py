"""What a run is called beside others: its folder, models, mode and prompts."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import orjson

from ai_psychiatrist.evaluation.runs.provenance import mode_of
from ai_psychiatrist.evaluation.runs.run_folder import RunFolder
from ai_psychiatrist.infrastructure.digests import plain_digest

_UNKNOWN: Final = "unknown"


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
    chains = _mapping(record.get("models")).values()
    models = dict.fromkeys(
        ", then ".join(map(str, chain)) for chain in chains if isinstance(chain, list)
    )
    prompts = orjson.dumps(_mapping(record.get("prompts")), option=orjson.OPT_SORT_KEYS)
    variant, repeat = record.get("variant"), record.get("repeat")
    return RunName(
        folder=folder.path.resolve().name,
        model=" and ".join(models) or _UNKNOWN,
        mode=mode_of(record) or _UNKNOWN,
        prompts=plain_digest(prompts.decode()),
        variant=variant if isinstance(variant, str) else None,
        repeat=repeat if isinstance(repeat, int) else None,
    )


def _mapping(found: object) -> Mapping[str, object]:
    return found if isinstance(found, dict) else {}
