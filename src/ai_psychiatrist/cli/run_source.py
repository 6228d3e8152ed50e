"""Open the run that a command is about."""

from pathlib import Path

from ai_psychiatrist.cli.settings_source import read_settings
from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.pipelines.run_folder import (
    create_pipeline_run,
    refuse_other_pipeline,
)
from ai_psychiatrist.store.cipher import Cipher, cipher_of
from ai_psychiatrist.store.run_file import holds_run
from ai_psychiatrist.store.runs import RunStore
from ai_psychiatrist.validation.config.pipeline import load_pipeline


def run_cipher() -> Cipher | None:
    """Return what encrypts runs, `None` when `DATA_KEY_FILE` is not set."""
    return cipher_of(read_settings().data.key_file)


def open_run(folder: Path, *, is_read_only: bool = False) -> RunStore:
    """Return the ledger of a run; raises `InputError` when there is none."""
    return RunStore.open(folder, cipher=run_cipher(), is_read_only=is_read_only)


def open_or_create_run(folder: Path, config: Path | None) -> RunStore:
    """Return the ledger of a pipeline's run, made now when there is none.

    Raises `InputError` when the run was made with another pipeline, and `ConfigurationError` when
    a new run has none.
    """
    pipeline = None if config is None else load_pipeline(config)
    if holds_run(folder):
        ledger = RunStore.open(folder, cipher=run_cipher())
        refuse_other_pipeline(ledger, pipeline)
        return ledger
    if pipeline is None:
        msg = f"{str(folder)!r} holds no run: name the pipeline of a new one with --config"
        raise ConfigurationError(msg)
    return create_pipeline_run(folder, pipeline, cipher=run_cipher())
