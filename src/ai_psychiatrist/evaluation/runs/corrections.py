"""Interviews that were corrected since a run began: assessed again, the others as they are."""

from collections.abc import Collection, Mapping
from pathlib import Path
from shutil import rmtree
from typing import Final

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.evaluation.datasets.dataset import Dataset
from ai_psychiatrist.evaluation.runs.unit import unit_source
from ai_psychiatrist.evaluation.runs.units_file import RunUnit, text_digest
from ai_psychiatrist.infrastructure.digests import keyed_digest
from ai_psychiatrist.services.transcripts.rendering import rendered_for_models
from ai_psychiatrist.store.run_append import append_rows
from ai_psychiatrist.store.run_file import FILE_NAME, RunTerms
from ai_psychiatrist.store.run_places import RunPlace
from ai_psychiatrist.store.runs import RunStore

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
            msg = f"the interview of unit {unit_id!r} cannot be read any more: put it back"
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
