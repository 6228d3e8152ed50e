"""The folder of a pipeline's run: its ledger, beside it the pipeline as it was, and its rules."""

import hashlib
import json
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pydantic import TypeAdapter

from ai_psychiatrist import __version__
from ai_psychiatrist.domain.errors import ArtifactMismatch, ConfigurationError, InputError
from ai_psychiatrist.infrastructure.digests import use_installation_key
from ai_psychiatrist.infrastructure.given_files import read_regular
from ai_psychiatrist.infrastructure.private_files import make_subfolder, write_whole
from ai_psychiatrist.pipelines.units import DeclaredUnit
from ai_psychiatrist.store.cipher import Cipher
from ai_psychiatrist.store.errors import refusing_damage
from ai_psychiatrist.store.lock import run_lock
from ai_psychiatrist.store.run_batches import BY_BATCHES
from ai_psychiatrist.store.run_file import holds_run, make_private_folder
from ai_psychiatrist.store.runs import RunStore
from ai_psychiatrist.validation.checks.step_config import MODEL_SCOPES
from ai_psychiatrist.validation.config.document import MOST_BYTES, with_line_feeds
from ai_psychiatrist.validation.config.pipeline import PipelineConfig, load_pipeline
from ai_psychiatrist.validation.config.retry_limits import RetryLimits

KIND: Final = "pipeline"
"""Value of `kind` in what a run says about itself."""

PROMPT_KEY: Final = "prompt_key"
"""Name of the key under which the prompts of a run are digested; only runs that ask have one."""

SEED: Final = "seed"
"""Under what a run says what its expressions draw by."""

SUMMARY_NAME: Final = "summary.json"
RESULTS_FOLDER: Final = "export"

_DIGEST: Final = "pipeline_digest"
_MODELS: Final = "models"
_ATTEMPTS: Final = "attempts"
"""Under what a run says how often a unit was tried when it began: calls and answers."""
_CONFIG_FOLDER: Final = "config"
_PIPELINE_NAME: Final = "pipeline.yaml"
_RETRIED_NAME: Final = "retried.json"
"""The failed units that `--retry-failed` was given for: they are asked again once."""
_RETRIED: Final = TypeAdapter(dict[str, dict[str, int]])
_CHANGEABLE: Final = {
    "api": {"retry": {"max_attempts"}},
    "processing": {"validation_retry": {"max_attempts"}},
}
"""What of a pipeline may be another when its run is resumed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineRequest:
    """Which run is wanted, and how far it is to go."""

    folder: Path
    config: PipelineConfig
    units: Sequence[DeclaredUnit]
    max_calls: int | None = None
    """Most model calls of the whole run, earlier sessions included."""
    concurrency: int = 8
    """Units under way at the same time."""
    seed: int | None = None
    """Of the expressions' draws; `None`: 0 for a new run, else the run's own."""
    is_resumed: bool = False
    retries_failed: bool = False
    """Whether units that a model failed are asked again, with all attempts once more."""
    is_by_batches: bool = False
    """Whether batches answer its calls from the beginning."""
    cipher: Cipher | None = None


@contextmanager
def opened_run(request: PipelineRequest, models: Mapping[str, Sequence[str]]) -> Iterator[RunStore]:
    """Hold a run whose units are all requested, inside the block.

    `models`: every step in order → those that it may ask; none for a step of expressions.
    Digests of this task are made with the run's own key from here on, so that a prompt has the
    same digest wherever the run is resumed. Raises `InputError` for a folder that holds a run and
    is not to be resumed, or the other way round, and `ArtifactMismatch` for one that was begun with
    other templates, models or another seed.
    """
    folder = request.folder
    if request.retries_failed and not request.is_resumed:
        msg = "--retry-failed asks again for the failed units of an existing run: add --resume"
        raise InputError(msg, field="--retry-failed")
    if request.is_resumed != holds_run(folder):
        hint = (
            "has no run: leave out --resume"
            if request.is_resumed
            else "holds a run already; add --resume to continue it"
        )
        raise InputError(f"{folder} {hint}", field="--out")
    made_with = {
        _MODELS: json.dumps({name: asks for name, asks in models.items() if asks}, sort_keys=True)
    }
    if request.seed is not None or not request.is_resumed:
        made_with[SEED] = str(request.seed or 0)
    make_private_folder(folder)
    with run_lock(folder), _opened(request, [*models], made_with) as ledger:
        if request.is_resumed:
            _resume(ledger, request, made_with)
        use_prompt_key(ledger)
        _add_units(ledger, request.units)
        yield ledger


def create_pipeline_run(
    folder: Path,
    config: PipelineConfig,
    *,
    cipher: Cipher | None = None,
    steps: Sequence[str] | None = None,
    about: Mapping[str, str] | None = None,
) -> RunStore:
    """Make a run of a pipeline and keep the pipeline's files next to the ledger.

    `steps`: those that a model answers, when not given. `about`: what else the run is to say about
    itself. Raises `InputError` when the folder holds a run, and `ConfigurationError` when a file
    of the pipeline lies outside its folder.
    """
    if holds_run(folder):
        msg = f"{str(folder)!r} holds a run already; name another folder"
        raise InputError(msg, field="RUN")
    keep_pipeline(folder, config)
    own = {"kind": KIND, _DIGEST: _digest(config), "code_version": __version__}
    # Last: a folder with a ledger is a run with everything that belongs to it.
    return RunStore.create(
        folder,
        steps=steps or [step.name for step in config.steps if step.scope in MODEL_SCOPES],
        cipher=cipher,
        about={**own, **(about or {})},
    )


def retried_units(ledger: RunStore) -> dict[str, dict[str, int]]:
    """Return step → unit → its newest attempt when it was last to be asked again.

    A unit with a later attempt was asked again by now.
    """
    path = ledger.folder / _CONFIG_FOLDER / _RETRIED_NAME
    with refusing_damage():
        return _RETRIED.validate_json(path.read_bytes()) if path.is_file() else {}


def make_prompt_key() -> str:
    """Return a new key for the digests of a run's prompts."""
    return secrets.token_hex()


def use_prompt_key(ledger: RunStore) -> None:
    """Make the digests of this process with a run's own key from here on.

    So a prompt has the same digest wherever the run goes on.
    """
    use_installation_key(bytes.fromhex(ledger.about[PROMPT_KEY]))


def keep_pipeline(folder: Path, config: PipelineConfig) -> None:
    """Copy a pipeline's files into a run's folder, for `kept_pipeline` to find.

    Raises `ConfigurationError` when one lies outside the pipeline's folder.
    """
    source, kept = config.path.parent.resolve(), folder / _CONFIG_FOLDER
    for file in config.files:
        if file != config.path and not file.resolve().is_relative_to(source):
            msg = f"{file.name!r} lies outside the pipeline's folder: move it there"
            raise ConfigurationError(msg)
    make_private_folder(folder)
    for file in config.files:
        is_pipeline = file == config.path
        place = Path(_PIPELINE_NAME) if is_pipeline else file.resolve().relative_to(source)
        for parent in reversed(place.parents):
            make_subfolder(kept / parent)
        write_whole(kept / place, [read_regular(file, most_bytes=MOST_BYTES)])


def kept_pipeline(folder: Path) -> PipelineConfig:
    """Return the pipeline that a run was made, or last resumed, with."""
    path = folder / _CONFIG_FOLDER / _PIPELINE_NAME
    if not path.is_file():
        msg = "the run holds no copy of its pipeline; name the pipeline file"
        raise ConfigurationError(msg)
    return load_pipeline(path)


def begun_limits(ledger: RunStore) -> RetryLimits:
    """Return how often units were tried when the run began."""
    with refusing_damage():
        calls, answers = json.loads(ledger.about[_ATTEMPTS])
    return RetryLimits(provider_attempts=calls, validation_attempts=answers)


def require_same_pipeline(ledger: RunStore, config: PipelineConfig | None) -> None:
    """Raise `InputError` when a run is none of a pipeline, or of another one than is named."""
    if ledger.about.get("kind") != KIND:
        msg = "the run is none of a pipeline: name the folder of another run, or a new one"
        raise InputError(msg, field="RUN")
    if config is not None and ledger.about.get(_DIGEST) != _digest(config):
        msg = (
            "the run was made with another version of the pipeline: continue with the copy in "
            f"its folder, {_CONFIG_FOLDER}/{_PIPELINE_NAME}, or name a new run"
        )
        raise InputError(msg, field="RUN")


def _opened(
    request: PipelineRequest, steps: Sequence[str], made_with: Mapping[str, str]
) -> RunStore:
    if request.is_resumed:
        return RunStore.open(request.folder, cipher=request.cipher)
    limits = request.config.retry
    about = {
        PROMPT_KEY: make_prompt_key(),
        _ATTEMPTS: json.dumps([limits.provider_attempts, limits.validation_attempts]),
        **made_with,
        **({BY_BATCHES: "yes"} if request.is_by_batches else {}),
    }
    return create_pipeline_run(
        request.folder, request.config, cipher=request.cipher, steps=steps, about=about
    )


def _resume(ledger: RunStore, request: PipelineRequest, made_with: Mapping[str, str]) -> None:
    """Refuse what a run cannot be resumed with, and keep the attempts that it is resumed with."""
    config = request.config
    require_same_pipeline(ledger, config)
    if PROMPT_KEY not in ledger.about:
        msg = "the run takes answers of other programs and asks no models: name a new folder"
        raise InputError(msg, field="--out")
    (_, *given), (_, *kept) = config.files, kept_pipeline(ledger.folder).files
    is_same = list(map(_content, given)) == list(map(_content, kept))
    differences = [] if is_same else ["templates"]
    differences += [what for what, value in made_with.items() if ledger.about[what] != value]
    if differences:
        msg = (
            f"the run was begun with other {', '.join(differences)}; its results would not be "
            "of one kind. Restore them, or start a new run in another folder"
        )
        raise ArtifactMismatch(msg)
    content = read_regular(config.path, most_bytes=MOST_BYTES)
    write_whole(ledger.folder / _CONFIG_FOLDER / _PIPELINE_NAME, [content])
    if request.retries_failed:
        failed = {
            step: {
                row.record.unit_id: row.newest_attempt
                for row in ledger.current(step, is_failed=True)
                if row.is_retryable
            }
            for step in ledger.steps
        }
        write_whole(ledger.folder / _CONFIG_FOLDER / _RETRIED_NAME, [_RETRIED.dump_json(failed)])


def _digest(config: PipelineConfig) -> str:
    """Return the SHA-256 of what a pipeline says, its schemas included, in hexadecimal."""
    schemas = [step.schema for step in config.steps]
    said = config.file.model_dump_json(exclude=_CHANGEABLE), json.dumps(schemas)
    return hashlib.sha256("\n".join(said).encode()).hexdigest()


def _content(path: Path) -> bytes:
    return with_line_feeds(read_regular(path, most_bytes=MOST_BYTES))


def _add_units(ledger: RunStore, units: Sequence[DeclaredUnit]) -> None:
    """Add what is asked for; what is there already stays as it is."""
    first = ledger.steps[0]
    with ledger.transaction():
        for unit in units:
            # Units of a pipeline have an input at each step and none of their own.
            ledger.units.add(unit.unit_id, context_digest="")
            ledger.units.add_input(unit.unit_id, first, write_context(unit.fields) or b"{}")
            ledger.request(unit.unit_id, first)


def write_context(context: Mapping[str, object] | None) -> bytes | None:
    """Return a context as a run keeps it, equal for equal contexts."""
    if context is None:
        return None
    text = json.dumps(context, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return text.encode("utf-8", "surrogatepass")


def read_context(content: bytes | None) -> dict[str, object] | None:
    """Return a context that `write_context` wrote; raises `LedgerUnusable` for another."""
    if content is None:
        return None
    with refusing_damage():
        return dict(json.loads(content.decode("utf-8", "surrogatepass")).items())
