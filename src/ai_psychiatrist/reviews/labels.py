"""Scores of people as labels of a dataset: gold scores, what raters agree on, or one rater's."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.domain.review import ReviewPhase, ReviewRow
from ai_psychiatrist.results.tables import Row
from ai_psychiatrist.reviews.adjudication import Scores, committed_scores, gold_of
from ai_psychiatrist.reviews.ratings import committed_of
from ai_psychiatrist.store.store import Store

_MOST_NAMED: Final = 20
LABEL_COLUMNS: Final = ("id", *(item.value for item in Item))


class LabelSource(StrEnum):
    """Whose scores are labels."""

    ADJUDICATED = "adjudicated"
    """Gold scores; where there are none, as `committed`."""
    COMMITTED = "committed"
    """What all raters who rated blind say; an item on which they differ has no label."""
    SINGLE = "single"
    """What one rater says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Labels:
    """A row for each labelled assessment, and where the labels come from."""

    rows: tuple[Row, ...] = field(repr=False)
    sources: Counter[str]
    """Assessments with gold scores, with ratings of several raters, and of one."""
    differing: int
    """Items without a label, since raters differ on them."""
    seen: int
    """Ratings that are left out, because their raters had seen the program's scores."""


def labels_of(
    store: Store, source: LabelSource, *, rater: str | None = None, by_subject: bool = False
) -> Labels:
    """Return the labels of all stored assessments that have any.

    `rater`: the id of the one whose ratings are taken, for `SINGLE` alone. `by_subject`: rows are
    named by what the subject is called, in place of the assessment's id. Raises `InputError` for a
    rater who is not wanted, missing or unknown, and for a subject that has several rows or no name.
    """
    if (rater is None) == (source is LabelSource.SINGLE):
        raise InputError("--rater names whose ratings --source single takes", field="--rater")
    rows: dict[str, Row] = {}
    sources: Counter[str] = Counter()
    differing = seen = 0
    rated = store.reviews.opened(store.reviews.sealed())
    for record_id, said in rated.items():
        ratings, hidden = _ratings(said, rater)
        gold = gold_of(said) if source is LabelSource.ADJUDICATED else None
        seen += hidden
        if gold is not None:
            ratings = [{one.item: one.score for one in gold.items}]
        if not ratings:
            continue
        sources["gold" if gold else "several raters" if len(ratings) > 1 else "one rater"] += 1
        agreed = {item: {one[item] for one in ratings} for item in Item}
        differing += sum(len(given) > 1 for given in agreed.values())
        name = _name(store, record_id) if by_subject else record_id
        if name in rows:
            msg = "a subject has several rated assessments; use --by assessment"
            raise InputError(msg, field="--by")
        labels = {item.value: next(iter(one)) for item, one in agreed.items() if len(one) == 1}
        rows[name] = dict.fromkeys(LABEL_COLUMNS) | {"id": name} | labels
    if rater is not None and not rows and not seen:
        raise InputError(_no_rater(rated), field="--rater")
    return Labels(rows=tuple(rows.values()), sources=sources, differing=differing, seen=seen)


def _ratings(said: Sequence[ReviewRow], rater: str | None) -> tuple[list[Scores], int]:
    """Return the scores of those who rated blind, and how many others there are."""
    phases = {name: one.phase for name, one in committed_of(said).items()}
    scores = {name: one for name, one in committed_scores(said).items() if rater in {None, name}}
    blind = [one for name, one in scores.items() if phases[name] is ReviewPhase.BLIND]
    return blind, len(scores) - len(blind)


def _no_rater(rated: Mapping[str, Sequence[ReviewRow]]) -> str:
    names = sorted({name for rows in rated.values() for name in committed_scores(rows)})
    shown = ", ".join(names[:_MOST_NAMED])
    return f"--rater: no rater of this id has scored an assessment; there are {shown or 'none'}"


def _name(store: Store, record_id: str) -> str:
    name = store.keys.name(store.summary(record_id).subject_id)
    if name is None:
        msg = "a rated assessment is of a subject without a name; use --by assessment"
        raise InputError(msg, field="--by")
    return name
