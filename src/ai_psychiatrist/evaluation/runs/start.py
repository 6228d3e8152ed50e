"""Begin a run, or go on with one: its ledger, its units and the record of what it is made with."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from shutil import rmtree
from typing import Final

from ai_psychiatrist.agents.prompts.tasks import TASKS, Tasks, task_lines
from ai_psychiatrist.agents.pydantic_agents import ABLATION, AGENT_ORDER, JUDGES, OPTIONAL_AGENTS
from ai_psychiatrist.domain.errors import ArtifactMismatch, InputError
from ai_psychiatrist.evaluation.datasets.dataset import Dataset, DatasetUnit
from ai_psychiatrist.evaluation.runs.provenance import changes_of, gone_on_with, is_judged_together
from ai_psychiatrist.evaluation.runs.run_folder import RunFolder, json_bytes, part_of, write_json
from ai_psychiatrist.evaluation.runs.shards import Shard
from ai_psychiatrist.evaluation.runs.unit import ASSESSMENT_STEP, source_bytes, unit_source
from ai_psychiatrist.evaluation.runs.units_file import (
    RunUnit,
    keep_labels,
    read_units,
    require_no_label_lost,
    text_digest,
    write_units,
)
from ai_psychiatrist.evaluation.runs.variants import Variant
from ai_psychiatrist.infrastructure.digests import keyed_digest
from ai_psychiatrist.infrastructure.private_files import write_whole
from ai_psychiatrist.pipelines.run_folder import (
    PROMPT_KEY,
    keep_pipeline,
    make_prompt_key,
    use_prompt_key,
)
from ai_psychiatrist.services.retrieval.identity import Identity, identity_of
from ai_psychiatrist.services.transcripts.rendering import rendered_for_models
from ai_psychiatrist.store.run_append import append_rows
from ai_psychiatrist.store.run_batches import BY_BATCHES
from ai_psychiatrist.store.run_file import FILE_NAME, RunTerms
from ai_psychiatrist.store.run_places import RunPlace
from ai_psychiatrist.store.runs import RunStore
from ai_psychiatrist.validation.config.pipeline import PipelineConfig

RUN_KIND: Final = "assessment"
_BATCH: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class StartOptions:
    """How much of a dataset is asked for, and whether a run begins or goes on."""

    limit: int | None = None
    """Most units, the first ones of the dataset."""
    shard: Shard | None = None
    """Which part of these, after the limit; `None`: all."""
    is_resumed: bool = False
    accepts_changed: bool = False
    """Whether a run goes on under another version, with other prompts, rules, calls or servers."""
    keeps_raw: bool = True
    """Of a run that keeps texts, `False` leaves out those that are still to come."""
    certifies: bool = False
    """Whether the run keeps a certificate of each unit."""

    def of(self, units: Sequence[DatasetUnit]) -> Sequence[DatasetUnit]:
        """Return what is asked for; raises `InputError` for a shard without any."""
        limited = units[: self.limit]
        return limited if self.shard is None else self.shard.part(limited)


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationRequest:
    """Which run is wanted."""

    dataset: Dataset
    folder: RunFolder
    record: Mapping[str, object]
    """The provenance."""
    contract: PipelineConfig
    variant: Variant | None = None
    """Which of several runs in a folder it is."""
    options: StartOptions
    is_by_batches: bool = False
    place: RunPlace
    """Where the run's store is, or is to be."""

    @property
    def tasks(self) -> Tasks:
        """What the agents are asked."""
        return TASKS if self.variant is None else self.variant.tasks

    @property
    def units(self) -> Sequence[DatasetUnit]:
        """What is asked for; raises `InputError` for a shard without any."""
        return self.options.of(self.dataset.units)


def open_run(request: EvaluationRequest) -> RunStore:
    """Return the ledger of a run whose units are all requested; the caller closes it.

    Digests of this task are made with the run's own key from here on, so that a prompt has the
    same digest wherever the run goes on. Raises `InputError` for a folder that holds a run and is
    not to be resumed, or the other way round, and `ArtifactMismatch` for one that was begun with
    other inputs.
    """
    # Before anything is written: a shard may have no unit.
    wanted = [unit.unit_id for unit in request.units]
    ledger = _resumed(request) if request.options.is_resumed else _created(request)
    try:
        use_prompt_key(ledger)
        ledger, digests = _with_corrections(ledger, request)
        digests |= dict(_add_units(ledger, request.dataset, wanted))
        _write_units(ledger, request, digests)
        request.place.keep_files(ledger, request.folder.begun_files())
    except BaseException:
        ledger.close()
        raise
    return ledger


def _created(request: EvaluationRequest) -> RunStore:
    folder = request.folder
    if folder.run.exists():
        msg = f"{folder.path} holds a run already; add --resume to continue it"
        raise InputError(msg, field="--out")
    if folder.inside():
        msg = f"{folder.path} holds runs of its own; name another folder"
        raise InputError(msg, field="--out")
    request.place.clear_half_begun(folder.path, RUN_KIND)
    terms = RunTerms(
        steps=(*_agents(request), ASSESSMENT_STEP),
        keeps_raw=request.options.keeps_raw,
        about={
            "kind": RUN_KIND,
            PROMPT_KEY: _prompt_key(request),
            **({BY_BATCHES: "yes"} if request.is_by_batches else {}),
        },
    )
    ledger = request.place.create(folder.path, terms, record=json_bytes(request.record))
    keep_pipeline(folder.path, request.contract)
    _keep_tasks(folder.prompts(), request.tasks)
    # Last, because a folder with this file is a run that can be gone on with.
    write_json(folder.run, request.record)
    return ledger


def _prompt_key(request: EvaluationRequest) -> str:
    """Return the key under which prompts mark data: runs side by side ask to the letter alike."""
    beside = RunFolder(request.folder.path.parent).inside() if request.variant else []
    for run in beside:
        with request.place.open(run.path) as ledger:
            return ledger.about[PROMPT_KEY]
    shard = request.options.shard
    return make_prompt_key() if shard is None else shard.prompt_key(request.dataset.digest)


def _agents(request: EvaluationRequest) -> list[str]:
    """Return the agents that are asked; of the optional ones those that have a model or a wish."""
    asked = set(part_of(request.record, "models"))
    if request.record.get("ablates"):
        asked.add(ABLATION.name)
    if is_judged_together(part_of(request.record, "settings")):
        asked.add(JUDGES.name)
    return [agent for agent in AGENT_ORDER if agent not in {*OPTIONAL_AGENTS, JUDGES.name} - asked]


def _resumed(request: EvaluationRequest) -> RunStore:
    folder = request.folder
    before = folder.require_run()
    record = gone_on_with(before, request.record, accepts_changed=request.options.accepts_changed)
    ledger = request.place.open(folder.path, drops_raw=not request.options.keeps_raw)
    changes = len(changes_of(record))
    if changes > len(changes_of(before)):
        keep_pipeline(folder.change(changes), request.contract)
        _keep_tasks(folder.prompts(changes), request.tasks)
    if record != before:
        write_json(folder.run, record)
    return ledger


def _with_corrections(
    ledger: RunStore, request: EvaluationRequest
) -> tuple[RunStore, dict[str, str | None]]:
    """Return the run's store with the texts of today, and the digests of those that are others.

    A run whose files of interviews are as they were is not compared text by text.
    """
    dataset, folder = request.dataset, request.folder
    require_units(dataset, ledger.units.ids())
    if request.options.is_resumed and not request.options.accepts_changed:
        require_no_label_lost(folder, dataset.units)
    known = folder.require_run().get("dataset")
    if not isinstance(known, dict) or known.get("digest") == dataset.digest:
        return ledger, {}
    texts = corrected_texts(dataset, read_units(folder.units))
    renewed = with_texts(ledger, request.place, texts) if texts else ledger
    digests = {
        unit: text_digest(unit, text.decode("utf-8", "surrogatepass"))
        for unit, text in texts.items()
    }
    return renewed, {**digests}


def _keep_tasks(path: Path, tasks: Tasks) -> None:
    write_whole(path, (line.encode() for line in task_lines(tasks)))


def _add_units(
    ledger: RunStore, dataset: Dataset, wanted: Sequence[str]
) -> Iterator[tuple[str, str | None]]:
    """Add what is asked for, and yield the digest of each unit's text."""
    left = iter(wanted)
    while batch := list(islice(left, _BATCH)):
        with ledger.transaction():
            for unit_id in batch:
                yield unit_id, _add_unit(ledger, dataset, unit_id)
                ledger.request(unit_id, ASSESSMENT_STEP)


def _add_unit(ledger: RunStore, dataset: Dataset, unit_id: str) -> str | None:
    try:
        source = unit_source(dataset, unit_id)
    except InputError:
        # The unit is assessed all the same, and fails with that reason.
        ledger.units.add(unit_id, context_digest="unreadable")
        return None
    text = rendered_for_models(source.transcript)
    content = text.encode("utf-8", "surrogatepass")
    ledger.units.add(unit_id, context_digest=keyed_digest(text), context=content)
    if ledger.is_shared:
        # Who assesses it has no dataset.
        ledger.units.add_source(unit_id, source_bytes(source))
    return text_digest(unit_id, text)


def _write_units(
    ledger: RunStore, request: EvaluationRequest, digests: Mapping[str, str | None]
) -> None:
    """Write units and labels of all that the run was ever asked for."""
    folder, asked = request.folder, set(ledger.units.ids())
    before = read_units(folder.units)
    units = [unit for unit in request.dataset.units if unit.unit_id in asked]
    write_units(
        folder.units,
        (
            RunUnit(
                unit_id=unit.unit_id,
                participant_id=unit.participant_id,
                split=unit.split,
                text_digest=digests.get(unit.unit_id),
            )
            if unit.unit_id in digests
            else before[unit.unit_id]
            for unit in units
        ),
    )
    labels = {unit.unit_id: unit.labels for unit in units if unit.labels is not None}
    record = folder.require_run()
    now = record | {"dataset": request.record["dataset"]}
    kept = keep_labels(folder, now, labels, request.dataset.labels_digest)
    if kept != record:
        write_json(folder.run, kept)


_DRAFT: Final = ".corrected"


def require_units(dataset: Dataset, asked: Collection[str]) -> None:
    """Raise `InputError` where interviews of a run are not among those of a dataset."""
    gone = set(asked) - dataset.by_id.keys()
    if gone:
        msg = (
            f"{len(gone)} of the {len(asked)} interviews of the run are not in the dataset, or not "
            "among those that are chosen of it: put them back and choose the same, or start a new "
            "run in another folder"
        )
        raise InputError(msg, field="DATASET")


def corrected_texts(dataset: Dataset, before: Mapping[str, RunUnit]) -> dict[str, bytes]:
    """Return the units of a run whose interviews are other ones now, with their texts.

    Raises `InputError` where one cannot be read any more.
    """
    found: dict[str, bytes] = {}
    for unit_id, unit in before.items():
        try:
            text = rendered_for_models(unit_source(dataset, unit_id).transcript)
        except InputError:
            if unit.text_digest is None:
                continue
            msg = f"the interview of unit {unit_id!r} can no longer be read: put it back"
            raise InputError(msg, field="DATASET") from None
        if text_digest(unit_id, text) != unit.text_digest:
            found[unit_id] = text.encode("utf-8", "surrogatepass")
    return found


def with_texts(ledger: RunStore, place: RunPlace, texts: Mapping[str, bytes]) -> RunStore:
    """Return the store of a run with corrected texts, in the place of the one that is given.

    The calls of these units stay, as they were paid for; their outcomes do not. Raises `InputError`
    for a run in the database.
    """
    if ledger.is_shared:
        msg = (
            f"{len(texts)} interviews are other ones than when the run began, and a run in the "
            "database keeps its own: start a new run"
        )
        raise InputError(msg, field="DATASET")
    folder, draft = ledger.folder, ledger.folder / _DRAFT
    rmtree(draft, ignore_errors=True)
    terms = RunTerms(steps=ledger.steps, keeps_raw=ledger.keeps_raw, about=ledger.about)
    with place.create(draft, terms, record=b"") as renewed:
        append_rows(
            renewed.rows,
            ledger.rows,
            number_of=lambda number: number,
            digest_of=lambda _, content: keyed_digest(content.decode("utf-8", "surrogatepass")),
            corrected=texts,
            keeps_raw=ledger.keeps_raw,
        )
    ledger.close()
    _put_in_place(draft, folder)
    return place.open(folder)


def _put_in_place(draft: Path, folder: Path) -> None:
    for path in folder.glob(f"{FILE_NAME}-*"):
        # A log of the file before is none of the file that comes.
        path.unlink()
    (draft / FILE_NAME).replace(folder / FILE_NAME)
    rmtree(draft)


def refuse_overlap(dataset: Dataset, shared_with: Callable[[Iterable[Identity]], int]) -> None:
    """Raise `ArtifactMismatch` where a unit may be of a participant of the references.

    `shared_with`: returns how many of some people may be among those of the references.
    Nobody is shown their own words in any case; but scores of a split that is measured are no
    examples for measuring it. Told by participants, sessions and words.
    """
    shared = shared_with(_identities(dataset))
    if shared:
        msg = (
            f"{shared} of {len(dataset.units)} units may be of participants whose interviews are "
            "references: assess another split, or build references of one without its "
            "participants (ai-psychiatrist evaluate datasets split draws such)"
        )
        raise ArtifactMismatch(msg)


def _identities(dataset: Dataset) -> Iterator[Identity]:
    for unit in dataset.units:
        try:
            said = dataset.transcript(unit.unit_id)
        except InputError:
            # It is never scored, whoever it is of.
            continue
        yield identity_of(said, participant_id=unit.participant_id, session_id=unit.unit_id)
