"""Which models the servers of a run name in their replies, and whether these change within it."""

from collections.abc import Iterator, Sequence
from typing import Final

from ai_psychiatrist.domain.failures import Attempt
from ai_psychiatrist.evaluation.runs.provenance import all_of, changes_of
from ai_psychiatrist.evaluation.runs.run_folder import RunFolder, write_json
from ai_psychiatrist.infrastructure.digests import plain_digest

SERVED: Final = "served_models"
OTHERWISE: Final = "other_served_models"
FINGERPRINTS: Final = "fingerprints"
_MOST_FINGERPRINTS: Final = 20
"""Of one endpoint: a server may write another one into every reply."""


class ServedModels:
    """What a run's record knows of the models that answered; names by their digests.

    A server can write any text where its model's name is expected, and a record is shared. The name
    that was asked for says nothing: many servers only echo it.
    """

    def __init__(self, folder: RunFolder) -> None:
        self._folder = folder
        self._record = folder.require_run()
        self._seen = {
            part: all_of([self._record.get(part)]) for part in (SERVED, OTHERWISE, FINGERPRINTS)
        }
        changes = [one.get(SERVED) for one in changes_of(self._record)]
        self._accepted = all_of([self._record.get(SERVED), *changes])

    def note(self, attempts: Sequence[Attempt]) -> None:
        """Take in what replies say; what was not known is in the record when this returns."""
        before = [list(digests) for part in self._seen.values() for digests in part.values()]
        for attempt in attempts:
            endpoint = f"{attempt.model} at {''.join(attempt.hosts[:1])}"
            served, asked = attempt.served_model, attempt.model.partition(":")[2]
            if served is not None and served != asked:
                self._see_model(endpoint, plain_digest(served))
            marks = self._seen[FINGERPRINTS]
            mark = attempt.system_fingerprint
            if mark is not None and len(marks.get(endpoint, ())) < _MOST_FINGERPRINTS:
                _add(marks, endpoint, plain_digest(mark))
        if before != [list(digests) for part in self._seen.values() for digests in part.values()]:
            self._record |= {part: known for part, known in self._seen.items() if known}
            write_json(self._folder.run, self._record)

    @property
    def changed(self) -> list[str]:
        """The endpoints that answered as another model than the first, which is not accepted."""
        return [
            endpoint
            for endpoint, digests in self._seen[OTHERWISE].items()
            if any(one not in self._accepted.get(endpoint, []) for one in digests)
        ]

    @property
    def notes(self) -> Iterator[str]:
        """Sentences for the operator about models that changed."""
        for endpoint in self.changed:
            yield (
                f"{endpoint} answers as another model than before, and no further unit was begun: "
                "go on with --resume --accept-changed, or start a new run in another folder"
            )
        for endpoint, digests in self._seen[FINGERPRINTS].items():
            if len(digests) > 1:
                yield (
                    f"{endpoint} named {len(digests)} system fingerprints during the run: its "
                    "configuration changed"
                )

    def _see_model(self, endpoint: str, digest: str) -> None:
        if digest not in self._seen[SERVED].setdefault(endpoint, [digest]):
            _add(self._seen[OTHERWISE], endpoint, digest)


def _add(known: dict[str, list[object]], endpoint: str, digest: str) -> None:
    digests = known.setdefault(endpoint, [])
    if digest not in digests:
        digests.append(digest)
