"""Ratings of other programs taken into the store: all of a file, or nothing of it."""

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from ai_psychiatrist.domain.errors import InputError, NotFound
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.domain.review import Committed, ItemRating, ReviewPhase, SpanRating
from ai_psychiatrist.reviews.rating_files import FIELD, RatingEntry
from ai_psychiatrist.reviews.ratings import MOST_SPANS, committed_of, require_span
from ai_psychiatrist.store.records import Record
from ai_psychiatrist.store.store import Store

_MOST_NAME_CHARACTERS: Final = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedRatings:
    """What an import has stored: ratings of one assessment by one rater each."""

    stored: int
    were_there: int
    """How many were stored already, by an earlier import of the same."""


def import_ratings(
    store: Store, entries: Iterable[RatingEntry], *, phase: ReviewPhase
) -> ImportedRatings:
    """Commit the ratings of a file, each rater's of an assessment at once.

    `phase`: `BLIND`, or `SEEN` where the raters had been shown the program's scores. Raises
    `InputError` naming the place in the file that does not fit what is stored; then nothing of it
    is stored.
    """
    ordered = sorted(entries, key=_whose)
    prepared: dict[tuple[str, str], Committed] = {}
    for (_, rater), group in groupby(ordered, key=_whose):
        said = list(group)
        record = _record(said[0], store)
        whose = record.summary.id, rater
        if whose in prepared:
            msg = f"{said[0].place}: {rater!r} rates this assessment under another name as well"
            raise InputError(msg, field=FIELD)
        prepared[whose] = _committed(said, record, phase=phase)
    stored = 0
    with store.database.writing():
        for (record_id, rater), committed in prepared.items():
            known = committed_of(store.reviews.of(record_id)).get(rater)
            if known is None:
                if phase is ReviewPhase.SEEN:
                    store.reviews.note_shown(rater, (record_id,))
                store.reviews.begin(record_id, rater)
                store.reviews.append(record_id, rater, committed)
                stored += 1
            elif known != committed:
                msg = f"{record_id}: other ratings of {rater!r} are stored, and never changed"
                raise InputError(msg, field=FIELD)
    return ImportedRatings(stored=stored, were_there=len(prepared) - stored)


def _whose(entry: RatingEntry) -> tuple[str, str]:
    name = unicodedata.normalize("NFC", entry.rater)  # noqa: TID251  a name is short
    if not 0 < len(name) <= _MOST_NAME_CHARACTERS or not name.isprintable():
        msg = f"{entry.place}: a rater has a name of 1-{_MOST_NAME_CHARACTERS} characters"
        raise InputError(msg, field=FIELD)
    return entry.assessment_id, f"import:{name}"


def _record(entry: RatingEntry, store: Store) -> Record:
    """Return the assessment of an id, or the only one of a subject who is called so."""
    with suppress(NotFound):
        return store.get(entry.assessment_id)
    subject = store.keys.find(entry.assessment_id)
    found = () if subject is None else store.lists.of_subject(subject)
    if len(found) == 1:
        return store.get(found[0])
    told = (
        f"{len(found)} under its subject: name one by assessment_id" if found else "nor a subject"
    )
    raise InputError(f"{entry.place}: no assessment is stored under its id, {told}", field=FIELD)


def _committed(entries: Sequence[RatingEntry], record: Record, *, phase: ReviewPhase) -> Committed:
    """Return all that one rater says of an assessment, checked against what is stored of it."""
    first = entries[0].place
    scores = _scores(entries)
    missing = [item.value for item in Item if item not in scores]
    if scores and missing:
        msg = f"{first}: this rater's scores of {', '.join(missing)} are missing; give all or none"
        raise InputError(msg, field=FIELD)
    spans: dict[Item, list[SpanRating]] = {}
    for entry in entries:
        if entry.span is not None and entry.item is not None:
            found = spans.setdefault(entry.item, [])
            found.append(_located(entry, record))
            if len(found) > MOST_SPANS:
                msg = f"{entry.place}: more than {MOST_SPANS} marks of one item and rater"
                raise InputError(msg, field=FIELD)
    return Committed(
        items=tuple(
            ItemRating(item=item, score=scores.get(item), evidence=tuple(spans.get(item, ())))
            for item in Item
        ),
        phase=phase,
        has_scores=bool(scores),
        has_evidence=not all(entry.is_scored for entry in entries),
    )


def _scores(entries: Iterable[RatingEntry]) -> Mapping[Item, int | None]:
    scores: dict[Item, int | None] = {}
    for entry in entries:
        if entry.item is None or not entry.is_scored:
            continue
        if scores.setdefault(entry.item, entry.score) != entry.score:
            msg = f"{entry.place}: the item has another score of the same rater before"
            raise InputError(msg, field=FIELD)
    return scores


def _located(entry: RatingEntry, record: Record) -> SpanRating:
    """Return where the words of an entry stand; raises `InputError` where they do not."""
    text, (start, end) = record.transcript.text, entry.span or (0, 0)
    if entry.words is not None and text[start:end] != entry.words:
        # JavaScript and Java count UTF-16 units.
        units = text.encode("utf-16-le", "surrogatepass")
        start = len(units[: 2 * start].decode("utf-16-le", "replace"))
        end = start + len(entry.words)
        if text[start:end] != entry.words:
            msg = f"{entry.place}: its words do not stand there in the stored transcript"
            raise InputError(msg, field=FIELD)
    span = SpanRating(start=start, end=end)
    try:
        require_span(span, record.transcript, field=FIELD)
    except InputError as error:
        raise InputError(f"{entry.place}: {error}", field=FIELD) from None
    return span
