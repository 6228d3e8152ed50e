"""Which models the servers of a run name in their replies, and whether these change within it."""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
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

    def __init__(
        self, record: Mapping[str, object], keep: Callable[[Mapping[str, object]], None]
    ) -> None:
        """`keep`: takes what the record says from now on of the models that answered."""
        self._record, self._keep = record, keep
        self._noting = threading.Lock()
        self._seen = {
            part: all_of([self._record.get(part)]) for part in (SERVED, OTHERWISE, FINGERPRINTS)
        }
        changes = [one.get(SERVED) for one in changes_of(self._record)]
        self._accepted = all_of([self._record.get(SERVED), *changes])

    def note(self, attempts: Sequence[Attempt]) -> None:
        """Take in what replies say; what was not known is in the record when this returns.

        Any thread may call it.
        """
        with self._noting:
            self._note(attempts)

    def _note(self, attempts: Sequence[Attempt]) -> None:
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
            self._keep({part: known for part, known in self._seen.items() if known})

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
                f"{endpoint} answers as another model than before, and no further unit began: "
                "continue with --resume --accept-changed, or start a new run in another folder"
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


def served_in(folder: RunFolder) -> ServedModels:
    """Return what the record in a run's folder knows, and writes down."""
    record = folder.require_run()

    def keep(parts: Mapping[str, object]) -> None:
        record.update(parts)
        write_json(folder.run, record)

    return ServedModels(record, keep)


def served_together(record: Mapping[str, object], seen: Mapping[str, object]) -> dict[str, object]:
    """Return a record with what one of several processes has seen of the models that answered.

    Who came first says what a server answers as; what others saw is another model.
    """
    first, others = all_of([record.get(SERVED)]), all_of([record.get(OTHERWISE)])
    for endpoint, digests in all_of([seen.get(SERVED), seen.get(OTHERWISE)]).items():
        known = first.setdefault(endpoint, digests[:1])
        for digest in digests:
            if digest not in known:
                _add(others, endpoint, str(digest))
    marks = all_of([record.get(FINGERPRINTS), seen.get(FINGERPRINTS)])
    marks = {endpoint: found[:_MOST_FINGERPRINTS] for endpoint, found in marks.items()}
    parts = {SERVED: first, OTHERWISE: others, FINGERPRINTS: marks}
    return dict(record) | {part: known for part, known in parts.items() if known}


def _add(known: dict[str, list[object]], endpoint: str, digest: str) -> None:
    digests = known.setdefault(endpoint, [])
    if digest not in digests:
        digests.append(digest)
