"""The run that a command is about: opened, brought up to date, recorded into."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ai_psychiatrist.cli.console import say
from ai_psychiatrist.cli.settings import read_settings
from ai_psychiatrist.cli.stores import audited, opened_stores
from ai_psychiatrist.domain.access import LOCAL
from ai_psychiatrist.domain.errors import ConfigurationError, require
from ai_psychiatrist.evaluation.runs.run_folder import RunFolder
from ai_psychiatrist.pipelines.intake import Intake
from ai_psychiatrist.pipelines.pipeline_run import PipelineRun, StepChecks
from ai_psychiatrist.pipelines.run_folder import create_pipeline_run, require_same_pipeline
from ai_psychiatrist.store.cipher import Cipher, cipher_of
from ai_psychiatrist.store.run_file import holds_run
from ai_psychiatrist.store.run_places import DatabaseRuns, run_in_database
from ai_psychiatrist.store.runs import RunStore
from ai_psychiatrist.validation.checks.step_validator import StepValidator
from ai_psychiatrist.validation.config.pipeline import load_pipeline
from ai_psychiatrist.validation.jsonl.run import ValidationOptions
from ai_psychiatrist.wiring.records import database_runs

if TYPE_CHECKING:
    from ai_psychiatrist.evaluation.runs.run import RunState


def run_cipher() -> Cipher | None:
    """Return what encrypts runs, `None` when `DATA_KEY_FILE` is not set."""
    return cipher_of(read_settings().data.key_file)


@contextmanager
def opened_database() -> Iterator[DatabaseRuns]:
    """Open the runs in the database for a block; raises as `database_runs` does."""
    with opened_stores(read_settings()) as stores:
        yield database_runs(stores)


@contextmanager
def open_run(folder: Path, *, is_read_only: bool = False) -> Iterator[RunStore]:
    """Open the ledger of a run for a block; raises `InputError` when there is none."""
    if run_in_database(folder) is not None:
        with opened_database() as runs, runs.open(folder) as ledger:
            yield ledger
        return
    with RunStore.open(folder, cipher=run_cipher(), is_read_only=is_read_only) as ledger:
        yield ledger


@contextmanager
def noting_read_words(folder: Path) -> Iterator[None]:
    """Write rows of the audit log about a run in the database whose words the block reads."""
    run = run_in_database(folder)
    if run is None:
        yield
        return
    with (
        opened_stores(read_settings()) as stores,
        audited(stores, LOCAL.tenant, "run_words_read", run),
    ):
        yield


def brought_up_to_date(*folders: Path) -> list["RunState"]:
    """Write what workers have done into the folders of runs, or of several, in the database.

    Returns where each of these stands.
    """
    shared = [
        run
        for folder in map(RunFolder, folders)
        for run in (folder, *folder.inside())
        if run_in_database(run.path) is not None
    ]
    if not shared:
        return []
    # What it imports is for runs in the database alone.
    from ai_psychiatrist.interface.shared_run import collected  # noqa: PLC0415

    with opened_database() as place:
        return [collected(place.runs, place.open(run.path), run) for run in shared]


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
        raise ConfigurationError(
            f"{str(folder)!r} holds no run: name the pipeline of a new one with --config"
        )
    return create_pipeline_run(folder, pipeline, cipher=run_cipher())


@contextmanager
def recording(
    run: Path,
    config: Path,
    validator: StepValidator,
    options: ValidationOptions,
    *,
    is_told: bool,
) -> Iterator[ValidationOptions]:
    """Yield options by which a run takes every outcome; all are recorded in the end, or none.

    A unit is then known by what the run's earlier steps know of it. `is_told`: whether the account
    is printed on standard error. Raises `InputError` when another process works on the run, or it
    was made with another pipeline.
    """
    with open_or_create_run(run, config) as ledger, ledger.lock():
        recorded = PipelineRun.of(ledger)
        intake = Intake(run=recorded, step=validator.name, checks=StepChecks.of(validator))
        with ledger.transaction():
            yield replace(
                options,
                on_unit=intake.take,
                earlier=lambda key: recorded.before(key, validator.name),
            )
        account = ledger.counts(intake.step)
        require(
            account.balances,
            "units of the run are unaccounted for: its ledger is damaged",
            field="--run",
        )
        if is_told:
            say(
                f"run: {intake.recorded:,} attempts recorded, {intake.known:,} answers known "
                f"already, {intake.exhausted:,} for units whose attempts are used up\n"
                f"run: {account.requested:,} requested = {account.valid:,} valid + "
                f"{account.failed:,} failed + {account.pending:,} pending",
            )
