"""Refuses references of the people who are to be assessed with them."""

from collections.abc import Iterator
from typing import Final

from ai_psychiatrist.domain.errors import ArtifactMismatch, InputError
from ai_psychiatrist.evaluation.datasets.dataset import Dataset
from ai_psychiatrist.services.retrieval.identity import Identity, identity_of, name_digest
from ai_psychiatrist.services.retrieval.references import References

_NO_WORDS: Final = ""


def refuse_overlapping(references: References, dataset: Dataset) -> None:
    """Raise `ArtifactMismatch` where anybody of a dataset may be in the references.

    A search leaves out each one's own words all the same; but figures of a split that overlaps with
    its references are not figures of new people.
    """
    shared = references.people.shared_with(_identities(dataset))
    if shared:
        msg = (
            f"{shared} of the {len(dataset.units)} interviews may be of people who are in the "
            "references, by participant, session or words; build them of another split"
        )
        raise ArtifactMismatch(msg)


def _identities(dataset: Dataset) -> Iterator[Identity]:
    for unit in dataset.units:
        try:
            transcript = dataset.transcript(unit.unit_id)
        except InputError:
            # Its names can be told all the same.
            yield Identity(
                words=_NO_WORDS,
                participant=(
                    None if unit.participant_id is None else name_digest(unit.participant_id)
                ),
                session=name_digest(unit.unit_id),
            )
        else:
            yield identity_of(
                transcript, participant_id=unit.participant_id, session_id=unit.unit_id
            )
