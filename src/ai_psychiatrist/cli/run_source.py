"""Open the run that a command is about."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ai_psychiatrist.cli.settings import read_settings
from ai_psychiatrist.cli.stores import audited
from ai_psychiatrist.domain.access import LOCAL
from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.evaluation.runs.run_folder import RunFolder
from ai_psychiatrist.pipelines.run_folder import (
    create_pipeline_run,
    require_same_pipeline,
)
from ai_psychiatrist.store.cipher import Cipher, cipher_of
from ai_psychiatrist.store.run_file import holds_run
from ai_psychiatrist.store.run_places import run_in_database
from ai_psychiatrist.store.runs import RunStore
from ai_psychiatrist.validation.config.pipeline import load_pipeline
from ai_psychiatrist.wiring.records import stores_of
from ai_psychiatrist.wiring.runs import database_runs


def run_cipher() -> Cipher | None:
    """Return what encrypts runs, `None` when `DATA_KEY_FILE` is not set."""
    return cipher_of(read_settings().data.key_file)


def open_run(folder: Path, *, is_read_only: bool = False) -> RunStore:
    """Return the ledger of a run; raises `InputError` when there is none."""
    if run_in_database(folder) is not None:
        return database_runs(stores_of(read_settings())).open(folder)
    return RunStore.open(folder, cipher=run_cipher(), is_read_only=is_read_only)


@contextmanager
def noting_read_words(folder: Path) -> Iterator[None]:
    """Write rows of the audit log about a run in the database whose words the block reads."""
    run = run_in_database(folder)
    if run is None:
        yield
        return
    with audited(stores_of(read_settings()), LOCAL.tenant, "run_words_read") as changed:
        changed.record_id = run
        yield


def brought_up_to_date(*folders: Path) -> None:
    """Write what workers have done into the folders of runs, or of several, in the database."""
    shared = [
        run
        for folder in map(RunFolder, folders)
        for run in (folder, *folder.inside())
        if run_in_database(run.path) is not None
    ]
    if not shared:
        return
    # What it imports is for runs in the database alone.
    from ai_psychiatrist.interface.shared_run import collected  # noqa: PLC0415

    place = database_runs(stores_of(read_settings()))
    for run in shared:
        collected(place.runs, place.open(run.path), run)


def open_or_create_run(folder: Path, config: Path | None) -> RunStore:
    """Return the ledger of a pipeline's run, made now when there is none.

    Raises `InputError` when the run was made with another pipeline, and `ConfigurationError` when
    a new run has none.
    """
    pipeline = None if config is None else load_pipeline(config)
    if holds_run(folder):
        ledger = RunStore.open(folder, cipher=run_cipher())
        require_same_pipeline(ledger, pipeline)
        return ledger
    if pipeline is None:
        msg = f"{str(folder)!r} holds no run: name the pipeline of a new one with --config"
        raise ConfigurationError(msg)
    return create_pipeline_run(folder, pipeline, cipher=run_cipher())
