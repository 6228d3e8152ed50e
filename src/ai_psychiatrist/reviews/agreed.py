"""The agreement that somebody may see, over what is stored."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final
from weakref import WeakKeyDictionary

from ai_psychiatrist.domain.access import Principal
from ai_psychiatrist.domain.errors import NotFound, RequestConflict
from ai_psychiatrist.domain.review import Committed, ItemRating, ReviewRow
from ai_psychiatrist.reviews.blindness import is_rater
from ai_psychiatrist.reviews.program_ratings import program_ratings
from ai_psychiatrist.reviews.queue import is_random
from ai_psychiatrist.reviews.rated_case import RatedCase
from ai_psychiatrist.store.store import Store

if TYPE_CHECKING:
    from ai_psychiatrist.reviews.agreement_result import Agreement

_MOST_CALLERS: Final = 32
_WITHOUT_FIGURES: Final = (
    "Figures need the extra evaluation where the service runs: pip install "
    "'ai-psychiatrist[evaluation]'"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Known:
    """What was computed of an store, as long as it is open."""

    programs: dict[str, tuple[ItemRating, ...]] = field(default_factory=dict)
    """By record; a result never changes."""
    figures: "dict[tuple[str, bool], tuple[str, Agreement]]" = field(default_factory=dict)
    """By caller and whether it is a rater: up to which reviews, and the figures."""


_KNOWN: Final[WeakKeyDictionary[Store, _Known]] = WeakKeyDictionary()


def agreed(store: Store, principal: Principal) -> "Agreement":
    """Return the figures over all rated cases; a rater's are over what this rater committed.

    Whoever is given all figures is no blind rater of these cases later. Raises `RequestConflict`
    where what figures need is not installed, `StoreUnusable` and `ArtifactMismatch`.
    """
    if find_spec("numpy") is None:
        raise RequestConflict("not_available", _WITHOUT_FIGURES, field="agreement")
    known = _KNOWN.setdefault(store, _Known())
    # At once: the cases that are kept in mind are those which the figures tell of.
    with store.database.writing():
        only_own = is_rater(store, principal)
        if not only_own:
            store.reviews.note_all_shown(principal.id, only_rated=True)
        caller, mark = (principal.id, only_own), store.reviews.mark()
        found = known.figures.pop(caller, None)
        if found is not None and found[0] != mark:
            found = None
        sealed = store.reviews.sealed() if found is None else ()
    if found is None:
        # Afterwards: keys are asked for before a transaction or after it, never inside.
        records = store.reviews.opened(sealed)
        found = (mark, _computed(store, principal, known, records, only_own=only_own))
    known.figures[caller] = found
    while len(known.figures) > _MOST_CALLERS:
        known.figures.pop(next(iter(known.figures)), None)
    return found[1]


def _computed(
    store: Store,
    principal: Principal,
    known: _Known,
    records: Mapping[str, Sequence[ReviewRow]],
    *,
    only_own: bool,
) -> "Agreement":
    # NumPy is loaded for whoever asks, and belongs to an extra.
    from ai_psychiatrist.reviews.agreement import agreement  # noqa: PLC0415

    rated = {record_id: said for record_id, rows in records.items() if (said := _first(rows))}
    shown = {key: said for key, said in rated.items() if not only_own or principal.id in said}
    for gone in known.programs.keys() - rated.keys():
        known.programs.pop(gone, None)
    cases = [
        case
        for record_id, said in shown.items()
        if (case := _case(store, record_id, said, known, seed=principal.tenant))
    ]
    return agreement(cases, you=principal.id, withheld=len(rated) - len(shown))


def _first(rows: Sequence[ReviewRow]) -> dict[str, Committed]:
    """Return what each rater committed."""
    found: dict[str, Committed] = {}
    for row in rows:
        if isinstance(row.said, Committed):
            found.setdefault(row.rater, row.said)
    return found


def _case(
    store: Store, record_id: str, said: Mapping[str, Committed], known: _Known, *, seed: str
) -> RatedCase | None:
    """Return a case; `None` for one that was removed meanwhile."""
    try:
        subject = store.summary(record_id).subject_id
        program = known.programs.get(record_id)
        if program is None:
            result = store.get(record_id).result
            program = program_ratings(result) if result else ()
        if program:
            known.programs[record_id] = program
    except NotFound:
        return None
    return RatedCase(
        subject=subject,
        program=program,
        committed=said,
        is_random=is_random(record_id, seed=seed),
    )
