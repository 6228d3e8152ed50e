"""Begin a run of a pipeline, or go on with one: its ledger, its units and what it is made with."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final

from ai_psychiatrist.domain.errors import ArtifactMismatch, InputError
from ai_psychiatrist.infrastructure.given_files import read_regular
from ai_psychiatrist.ledger.store.contexts import write_context
from ai_psychiatrist.ledger.store.ledger import Ledger
from ai_psychiatrist.ledger.store.ledger_file import FILE_NAME, holds_run, make_private_folder
from ai_psychiatrist.pipelines.run_folder import (
    PROMPT_KEY,
    create_pipeline_run,
    kept_pipeline,
    make_prompt_key,
    refuse_other_pipeline,
    use_prompt_key,
)
from ai_psychiatrist.pipelines.step_turn import SEED
from ai_psychiatrist.pipelines.units import DeclaredUnit
from ai_psychiatrist.store.cipher import Cipher
from ai_psychiatrist.store.lock import run_lock
from ai_psychiatrist.validation.config.document import with_line_feeds
from ai_psychiatrist.validation.config.given_file import MOST_BYTES
from ai_psychiatrist.validation.config.pipeline import PipelineConfig

_MODELS: Final = "models"


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineRequest:
    """Which run is wanted."""

    folder: Path
    config: PipelineConfig
    steps: Sequence[str]
    """Those that are run, in order."""
    models: Mapping[str, Sequence[str]]
    """Step → the chain of its models."""
    units: Iterable[DeclaredUnit]
    max_units: int | None = None
    """Most units, the first ones."""
    seed: int | None = None
    """Of the expressions' draws; `None`: 0 for a new run, else the run's own."""
    is_resumed: bool = False
    cipher: Cipher | None = None


@contextmanager
def opened_run(request: PipelineRequest) -> Iterator[Ledger]:
    """Hold a run whose units are all requested, inside the block.

    Digests of this task are made with the run's own key from here on, so that a prompt has the
    same digest wherever the run goes on. Raises `InputError` for a folder that holds a run and is
    not to be resumed, or the other way round, and `ArtifactMismatch` for one that was begun with
    other templates, models or another seed.
    """
    folder = request.folder
    if request.is_resumed != holds_run(folder):
        cure = (
            "has no run: leave out --resume"
            if request.is_resumed
            else ("holds a run already; add --resume to go on with it")
        )
        raise InputError(f"{folder} {cure}", field="--out")
    make_private_folder(folder)
    with run_lock(folder), _resumed(request) if request.is_resumed else _created(request) as ledger:
        use_prompt_key(ledger)
        try:
            _add_units(ledger, islice(request.units, request.max_units))
        except BaseException:
            if not request.is_resumed:
                # What cannot be begun leaves no run that would have to be gone on with.
                for path in folder.glob(f"{FILE_NAME}*"):
                    path.unlink()
            raise
        yield ledger


def _created(request: PipelineRequest) -> Ledger:
    return create_pipeline_run(
        request.folder,
        request.config,
        cipher=request.cipher,
        steps=request.steps,
        about={
            PROMPT_KEY: make_prompt_key(),
            SEED: str(request.seed or 0),
            _MODELS: _written(request.models),
        },
    )


def _resumed(request: PipelineRequest) -> Ledger:
    ledger = Ledger.open(request.folder, cipher=request.cipher)
    try:
        refuse_other_pipeline(ledger, request.config)
        if PROMPT_KEY not in ledger.about:
            msg = "the run takes answers of other programs and asks no models: name a new folder"
            raise InputError(msg, field="--out")
        differences = list(_differences(ledger, request))
        if differences:
            msg = (
                f"the run was begun with other {', '.join(differences)}; its results would not be "
                "of one kind. Restore them, or start a new run in another folder"
            )
            raise ArtifactMismatch(msg)
    except BaseException:
        ledger.close()
        raise
    return ledger


def _differences(ledger: Ledger, request: PipelineRequest) -> Iterator[str]:
    kept = kept_pipeline(request.folder)
    files = zip(request.config.files, kept.files, strict=True)
    if any(_content(given) != _content(copy) for given, copy in files):
        yield "templates"
    if ledger.about[_MODELS] != _written(request.models):
        yield "models"
    if request.seed is not None and str(request.seed) != ledger.about[SEED]:
        yield "seed"


def _content(path: Path) -> bytes:
    return with_line_feeds(read_regular(path, most_bytes=MOST_BYTES))


def _written(models: Mapping[str, Sequence[str]]) -> str:
    return json.dumps({step: list(chain) for step, chain in models.items()}, sort_keys=True)


def _add_units(ledger: Ledger, units: Iterator[DeclaredUnit]) -> None:
    """Add what is asked for; what is there already stays as it is."""
    first = ledger.steps[0]
    with ledger.transaction():
        for unit in units:
            # Units of a pipeline have an input at each step and none of their own.
            ledger.units.add(unit.unit_id, context_digest="")
            ledger.units.add_input(unit.unit_id, first, write_context(unit.fields) or b"{}")
            ledger.request(unit.unit_id, first)
