"""Whether the people of a dataset are among those of the references that scoring is shown."""

from collections.abc import Callable, Iterable, Iterator

from ai_psychiatrist.domain.errors import ArtifactMismatch, InputError
from ai_psychiatrist.evaluation.datasets.dataset import Dataset
from ai_psychiatrist.services.retrieval.identity import Identity, identity_of


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
            "references: assess another split, or build references of one that shares nobody "
            "with it (ai-psychiatrist evaluate datasets split draws such)"
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
