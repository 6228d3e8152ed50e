"""The labels that a run keeps: written with their digest, and refused once a hand changed them."""

import hashlib
from collections.abc import Mapping
from typing import Final

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.evaluation.datasets.dataset import Labels
from ai_psychiatrist.evaluation.runs.run_folder import RunFolder
from ai_psychiatrist.evaluation.scores.labels_file import read_labels, write_labels
from ai_psychiatrist.infrastructure.given_files import open_regular

_KEY: Final = "labels"
_READ_BYTES: Final = 1 << 20


def keep_labels(
    folder: RunFolder, record: Mapping[str, object], labels: Mapping[str, Labels], digest: str
) -> dict[str, object]:
    """Write labels, and return the record of the run with their digests.

    `digest`: of the label files that they were read from, "" where there are none.
    """
    write_labels(folder.labels, labels)
    kept = {"digest": digest, "kept_digest": _digest_of(folder), "units": len(labels)}
    return dict(record) | {_KEY: kept}


def labels_digest_of(record: Mapping[str, object]) -> str:
    """Return the digest of the label files that a run's labels were read from, "" for none."""
    kept = record.get(_KEY)
    return str(kept.get("digest", "")) if isinstance(kept, Mapping) else ""


def read_kept_labels(folder: RunFolder) -> dict[str, Labels]:
    """Read the labels that a run keeps; raises `InputError` as `require_kept_labels`."""
    require_kept_labels(folder)
    return read_labels(folder.labels)


def require_kept_labels(folder: RunFolder) -> None:
    """Raise `InputError` for labels that are not as the run wrote them."""
    kept = folder.require_run().get(_KEY)
    known = kept.get("kept_digest") if isinstance(kept, dict) else None
    if known is not None and folder.labels.exists() and _digest_of(folder) != known:
        msg = (
            f"{folder.labels} is not as the run wrote it: to measure with corrected labels, give "
            "them by --labels FILE; --resume writes those of the dataset again"
        )
        raise InputError(msg, field="labels")


def _digest_of(folder: RunFolder) -> str:
    digest = hashlib.sha256()
    with open_regular(folder.labels) as file:
        while part := file.read(_READ_BYTES):
            digest.update(part)
    return digest.hexdigest()
