"""The folder of a pipeline's run: the ledger, beside it the pipeline as it was, and its rules."""

import json
import secrets
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Final

from ai_psychiatrist import __version__
from ai_psychiatrist.domain.errors import ConfigurationError, InputError
from ai_psychiatrist.infrastructure.digests import use_installation_key
from ai_psychiatrist.infrastructure.given_files import read_regular
from ai_psychiatrist.infrastructure.private_files import make_subfolder, write_whole
from ai_psychiatrist.ledger.recheck.accumulated_context import AccumulatedContexts
from ai_psychiatrist.ledger.recheck.checker import PipelineChecker
from ai_psychiatrist.ledger.store.contexts import ContextOf
from ai_psychiatrist.ledger.store.ledger import Ledger
from ai_psychiatrist.ledger.store.ledger_file import holds_run, make_private_folder
from ai_psychiatrist.store.cipher import Cipher
from ai_psychiatrist.validation.checks.step_config import MODEL_SCOPES
from ai_psychiatrist.validation.checks.step_validator import StepValidator
from ai_psychiatrist.validation.config.given_file import MOST_BYTES
from ai_psychiatrist.validation.config.pipeline import PipelineConfig, StepConfig, load_pipeline

KIND: Final = "pipeline"
"""Value of `kind` in what a run says about itself."""

PROMPT_KEY: Final = "prompt_key"
"""Name of the key under which the prompts of a run are digested; only runs that ask have one."""

_KEY_BYTES: Final = 32
_CONFIG_FOLDER: Final = "config"
_PIPELINE_NAME: Final = "pipeline.yaml"


def create_pipeline_run(
    folder: Path,
    config: PipelineConfig,
    *,
    cipher: Cipher | None = None,
    steps: Sequence[str] | None = None,
    about: Mapping[str, str] | None = None,
) -> Ledger:
    """Make a run of a pipeline and keep the pipeline's files beside the ledger.

    `steps`: those that a model answers, when not given. `about`: what else the run is to say about
    itself. Raises `InputError` when the folder holds a run, and `ConfigurationError` when a file
    of the pipeline lies outside its folder.
    """
    own = {"kind": KIND, "pipeline_digest": config.digest, "code_version": __version__}
    if holds_run(folder):
        msg = f"{str(folder)!r} holds a run already; name another folder"
        raise InputError(msg, field="RUN")
    keep_pipeline(folder, config)
    # Last: a folder with a ledger is a run with everything that belongs to it.
    return Ledger.create(
        folder,
        steps=[step.name for step in model_steps(config)] if steps is None else steps,
        cipher=cipher,
        about={**own, **(about or {})},
    )


def make_prompt_key() -> str:
    """Return a new key for the digests of a run's prompts."""
    return secrets.token_hex(_KEY_BYTES)


def use_prompt_key(ledger: Ledger) -> None:
    """Make the digests of this process with a run's own key from here on.

    So a prompt has the same digest wherever the run goes on.
    """
    use_installation_key(bytes.fromhex(ledger.about[PROMPT_KEY]))


def keep_pipeline(folder: Path, config: PipelineConfig) -> None:
    """Copy a pipeline's files into a run's folder, for `kept_pipeline` to find.

    Raises `ConfigurationError` when one lies outside the pipeline's folder.
    """
    places = _places(config)
    make_private_folder(folder)
    for file, place in places.items():
        target = folder / _CONFIG_FOLDER / place
        make_subfolder(folder / _CONFIG_FOLDER)
        for parent in reversed(place.parents[:-1]):
            make_subfolder(folder / _CONFIG_FOLDER / parent)
        write_whole(target, [read_regular(file, most_bytes=MOST_BYTES)])


def kept_pipeline(folder: Path) -> PipelineConfig:
    """Return the pipeline as it was when the run was made."""
    path = folder / _CONFIG_FOLDER / _PIPELINE_NAME
    if not path.is_file():
        msg = "the run holds no copy of its pipeline; name the pipeline file"
        raise ConfigurationError(msg)
    return load_pipeline(path)


def refuse_other_pipeline(ledger: Ledger, config: PipelineConfig | None) -> None:
    """Raise `InputError` when a run is none of a pipeline, or of another one than is named."""
    if ledger.about.get("kind") != KIND:
        msg = "the run is none of a pipeline: name the folder of another run, or a new one"
        raise InputError(msg, field="RUN")
    if config is not None and ledger.about.get("pipeline_digest") != config.digest:
        msg = (
            "the run was made with another version of the pipeline: go on with the copy in its "
            f"folder, {_CONFIG_FOLDER}/{_PIPELINE_NAME}, or name a new run"
        )
        raise InputError(msg, field="RUN")


def model_steps(config: PipelineConfig) -> list[StepConfig]:
    """Return the steps that a model answers, in the pipeline's order."""
    return [step for step in config.steps if step.scope in MODEL_SCOPES]


def pipeline_checkers(config: PipelineConfig) -> dict[str, PipelineChecker]:
    """Return the rules of every step that has some, and none for expressions without any."""
    return {
        step.name: PipelineChecker(validator=StepValidator(step))
        for step in config.steps
        if step.expressions is not None or (step.rules is not None and step.schema is not None)
    }


def checker_of(ledger: Ledger, step: str) -> PipelineChecker:
    """Return the rules that a pipeline's run has for a step.

    Raises `ConfigurationError` when it has none.
    """
    return PipelineChecker(validator=StepValidator(kept_pipeline(ledger.folder).step(step)))


def following_steps(steps: Sequence[str]) -> dict[str, str]:
    """Return for each step the one that comes after it."""
    return dict(pairwise(steps))


def schemas_of(config: PipelineConfig) -> dict[str, bytes]:
    """Return step → the file of its schema byte for byte, for the steps that have one."""
    found = {step.name: schema_bytes(config, step) for step in config.steps}
    return {name: content for name, content in found.items() if content is not None}


def schema_bytes(config: PipelineConfig, step: StepConfig) -> bytes | None:
    """Return the file of a step's schema byte for byte, `None` when it has none."""
    if step.schema_name is None:
        return None
    for file in config.files:
        if file.as_posix().endswith(f"/{step.schema_name}"):
            content = read_regular(file, most_bytes=MOST_BYTES)
            if json.loads(content.decode("utf-8-sig")) == step.schema:
                return content
    return json.dumps(step.schema).encode()


def accumulating(ledger: Ledger, config: PipelineConfig) -> ContextOf | None:
    """Return what gives the steps of a pipeline's run their contexts; `None` for other runs."""
    if ledger.about.get("kind") != KIND:
        return None
    return AccumulatedContexts.of(ledger, config).at


def _places(config: PipelineConfig) -> dict[Path, Path]:
    """Return where in a run's folder each file of a pipeline goes."""
    folder = config.path.parent.resolve()
    places = {config.path: Path(_PIPELINE_NAME)}
    for file in config.files:
        if file == config.path:
            continue
        if not file.resolve().is_relative_to(folder):
            msg = f"{file.name!r} lies outside the pipeline's folder: move it there"
            raise ConfigurationError(msg)
        places[file] = file.resolve().relative_to(folder)
    return places
