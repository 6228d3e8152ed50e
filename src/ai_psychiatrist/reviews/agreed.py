"""The agreement that a caller may see, over what is stored."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final
from weakref import WeakKeyDictionary

from ai_psychiatrist.domain.access import Principal
from ai_psychiatrist.domain.errors import NotFound, RequestConflict
from ai_psychiatrist.domain.review import Committed, ReviewRow
from ai_psychiatrist.reviews.agreement_result import Agreement
from ai_psychiatrist.reviews.blindness import is_rater
from ai_psychiatrist.reviews.queue import is_random
from ai_psychiatrist.reviews.ratings import committed_of, program_ratings
from ai_psychiatrist.store.store import Store

if TYPE_CHECKING:
    from ai_psychiatrist.reviews.agreement_measures import RatedCase

_MOST_CALLERS: Final = 32
_WITHOUT_FIGURES: Final = (
    "Figures need the extra evaluation where the service runs: pip install "
    "'ai-psychiatrist[evaluation]'"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreed:
    """Figures of agreement, and who the raters in them are."""

    figures: Agreement
    names: Mapping[str, str]
    """Rater's label in the figures → `Principal.id`, for those who may know."""


_KNOWN: Final[WeakKeyDictionary[Store, dict[tuple[str, bool], tuple[str, Agreed]]]] = (
    WeakKeyDictionary()
)
"""Of each open store: by caller and whether it is a rater, up to which reviews, and the figures."""


def agreed(store: Store, principal: Principal) -> Agreed:
    """Return the figures over all rated cases; a rater's are over what this rater committed.

    A caller who is given all figures is no blind rater of these cases later. Raises
    `RequestConflict` where what figures need is not installed, `StoreUnusable` and
    `ArtifactMismatch`.
    """
    if find_spec("numpy") is None:
        raise RequestConflict("not_available", _WITHOUT_FIGURES, field="agreement")
    known = _KNOWN.setdefault(store, {})
    # At once: the cases that are noted as shown are those that the figures are about.
    with store.database.writing():
        only_own = is_rater(store, principal)
        if not only_own:
            store.reviews.note_all_shown(principal.id, only_rated=True)
        caller, mark = (principal.id, only_own), store.reviews.mark()
        found = known.pop(caller, None)
        is_current = found is not None and found[0] == mark
        sealed = () if is_current else store.reviews.sealed()
    if found is None or not is_current:
        # Afterwards: keys are asked for before a transaction or after it, never inside.
        records = store.reviews.opened(sealed)
        found = (mark, _computed(store, principal, records, only_own=only_own))
    known[caller] = found
    while len(known) > _MOST_CALLERS:
        known.pop(next(iter(known)), None)
    return found[1]


def _computed(
    store: Store,
    principal: Principal,
    records: Mapping[str, Sequence[ReviewRow]],
    *,
    only_own: bool,
) -> Agreed:
    # NumPy belongs to an extra, and is loaded for those who ask for figures.
    from ai_psychiatrist.reviews.agreement import agreement  # noqa: PLC0415

    rated = {one: said for one, rows in records.items() if (said := committed_of(rows))}
    shown = {one: said for one, said in rated.items() if not only_own or principal.id in said}
    cases = [
        case
        for record_id, said in shown.items()
        if (case := _case(store, record_id, said, seed=principal.tenant))
    ]
    figures = agreement(cases, you=principal.id, withheld=len(rated) - len(shown))
    raters = dict.fromkeys(rater for case in cases for rater in case.committed)
    names = {one.label: rater for one, rater in zip(figures.raters, raters, strict=True)}
    return Agreed(figures=figures, names=names)


def _case(
    store: Store, record_id: str, said: Mapping[str, Committed], *, seed: str
) -> "RatedCase | None":
    """Return a case; `None` for one that was removed in the meantime."""
    from ai_psychiatrist.reviews.agreement_measures import RatedCase  # noqa: PLC0415

    try:
        found = store.get(record_id)
    except NotFound:
        return None
    return RatedCase(
        subject=found.summary.subject_id,
        program=program_ratings(found.result) if found.result else (),
        committed=said,
        is_random=is_random(record_id, seed=seed),
    )
