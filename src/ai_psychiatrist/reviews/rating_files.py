"""Ratings made in other programs: tables, and exports of Label Studio and INCEpTION."""

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.domain.review import GoldRating
from ai_psychiatrist.evaluation.datasets.label_columns import (
    FILE_ID,
    PERSON_ID,
    column_meanings,
    plain_name,
    same_meaning,
)
from ai_psychiatrist.infrastructure.given_files import read_regular, reason_of
from ai_psychiatrist.reviews.ratings import MOST_REASON

FIELD: Final = "FILE"
_MOST_BYTES: Final = 1 << 28
_ASSESSMENT: Final = "assessment_id"
_COLUMNS: Final = (
    *(_ASSESSMENT, "rater", "item", "kind", "score", "cannot_tell", "reason"),
    *("start", "end", "text"),
)
_RATERS: Final = ("raterid", "annotator", "annotatorid", "clinician", "reviewer")
_CANNOT_TELL: Final = frozenset({"cannottell", "unknown", "u"})
_SPANS: Final = frozenset({"labels", "hypertextlabels"})
_SCORES: Final = ("choices", "number", "rating")
"""Kinds of results in Label Studio; the name of a score's control is that of its item."""


class RatingFormat(StrEnum):
    """Where a file of ratings comes from."""

    CSV = "csv"
    """A row for each item or marked words of a rater, as `/v1/export?what=ratings` writes them."""
    LABEL_STUDIO = "label-studio"
    INCEPTION = "inception"
    """The annotations of one document by one person, as UIMA CAS JSON."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingEntry:
    """What a file says of one item: a score, or where words stand that carry one."""

    place: str
    """Where in the file, such as `line 7`."""
    assessment_id: str
    """Or what the subject of the only assessment is called."""
    rater: str
    item: Item | None = None
    """`None`: the rater looked for evidence, and this entry marks none."""
    is_scored: bool = False
    score: int | None = None
    """0-3; of a scored item `None` where the rater cannot tell."""
    span: tuple[int, int] | None = None
    """Characters, the end exclusive; code points, or UTF-16 units where these have the words."""
    words: str | None = field(default=None, repr=False)
    """What the file says the marked words are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What a file says of the gold score of an item."""

    place: str
    """Where in the file, such as `line 7`."""
    assessment_id: str
    rating: GoldRating = field(repr=False)


def read_decisions(path: Path) -> list[Decision]:
    """Return the gold scores of a CSV; raises `InputError`, also where an item is decided twice."""
    found: dict[tuple[str, Item], Decision] = {}
    for place, row in read_rows(_text_of(path), ("assessment_id", "item", "score", "reason")):
        if len(row["reason"]) > MOST_REASON:
            msg = f"{place}: its reason has more than {MOST_REASON} characters; shorten it"
            raise InputError(msg, field=FIELD)
        score, item = score_in(row["score"], place), item_named(row["item"], place)
        rating = GoldRating(item=item, score=score, reason=row["reason"])
        decision = Decision(place=place, assessment_id=row["assessment_id"], rating=rating)
        first = found.setdefault((decision.assessment_id, item), decision)
        if first is not decision:
            msg = f"{place}: {item.value} of this assessment is decided in {first.place} as well"
            raise InputError(msg, field=FIELD)
    return [*found.values()]


def read_ratings(path: Path, rating_format: RatingFormat) -> list[RatingEntry]:
    """Return the entries of a file; raises `InputError` naming the place that cannot be used."""
    text = _text_of(path)
    if rating_format is RatingFormat.CSV:
        return list(_of_table(text))
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        raise InputError(f"{path}: it is no valid JSON", field=FIELD) from None
    is_tasks = rating_format is RatingFormat.LABEL_STUDIO
    try:
        return list(_of_tasks(content) if is_tasks else _of_document(content))
    except (AttributeError, LookupError, TypeError, ValueError):
        # Their texts may hold words of the file.
        msg = f"{path}: it is not as {rating_format.value} exports annotations as JSON"
        raise InputError(msg, field=FIELD) from None


def _text_of(path: Path) -> str:
    try:
        return read_regular(path, most_bytes=_MOST_BYTES).decode("utf-8-sig")
    except OSError as error:
        raise InputError(f"{path}: it cannot be read: {reason_of(error)}", field=FIELD) from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: it is not UTF-8; save it as UTF-8", field=FIELD) from None


def read_rows(text: str, columns: tuple[str, ...]) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Yield each row of a CSV with its place; raises `InputError` where a column is missing.

    Columns have the names of `_COLUMNS`, and items their keys, however the file spells them.
    """
    first = text.partition("\n")[0]
    table = csv.DictReader(io.StringIO(text), delimiter=max(",;\t", key=first.count))
    table.fieldnames = names = _named(table.fieldnames or ())
    has_items = not {*Item}.isdisjoint(names)
    missing = [name for name in columns if name not in names and not (name == "item" and has_items)]
    if missing:
        raise InputError(f"line 1: the columns {', '.join(missing)} are missing", field=FIELD)
    try:
        for row in table:
            place = f"line {table.line_num}"
            if None in row or None in row.values():
                raise InputError(f"{place}: it has not as many cells as line 1", field=FIELD)
            yield place, {name: cell.strip() for name, cell in row.items()}
    except csv.Error:
        msg = f"line {table.line_num}: it is no line of a CSV"
        raise InputError(msg, field=FIELD) from None


def _named(header: Sequence[str]) -> list[str]:
    """Return what each column is: one of `_COLUMNS`, an item, or else as it is written.

    Assessments are named by their ids, or by what files of labels call an interview or a person.
    Raises `InputError` for two columns that mean the same.
    """
    own = {plain_name(name): name for name in _COLUMNS} | dict.fromkeys(_RATERS, "rater")
    meanings = column_meanings(header)
    names = [
        own.get(plain_name(name), meaning if meaning in [*Item] else name)
        for name, meaning in zip(header, meanings, strict=True)
    ]
    if _ASSESSMENT not in names:
        identifiers = [meanings.index(one) for one in (FILE_ID, PERSON_ID) if one in meanings]
        for at in identifiers[:1]:
            names[at] = _ASSESSMENT
    for at, name in enumerate(names):
        if name in names[:at] and name in [*_COLUMNS, *Item]:
            raise same_meaning("line 1", header[names.index(name)], header[at])
    return names


def item_named(name: object, place: str) -> Item:
    """Return an item by its key, its label, or any name that files of labels have for it."""
    (meaning,) = column_meanings([str(name)], are_items=True)
    for item in Item:
        if item == meaning or plain_name(str(name)) == plain_name(item.label):
            return item
    msg = f"{place}: it names no item; the items are {', '.join(Item)}"
    raise InputError(msg, field=FIELD)


def score_in(given: object, place: str) -> int | None:
    """Return a score that may be followed by words, `None` where the rater cannot tell."""
    text = str(given).strip()
    if plain_name(text) in _CANNOT_TELL:
        return None
    number = text.partition(" ")[0].removesuffix(".0")
    if number not in {"0", "1", "2", "3"}:
        raise InputError(f"{place}: a score is 0 to 3, or cannot tell", field=FIELD)
    return int(number)


def _of_table(text: str) -> Iterator[RatingEntry]:
    for place, row in read_rows(text, (_ASSESSMENT, "rater", "item")):
        if not row.get("kind", "committed").startswith("committed"):
            continue
        if "item" not in row:
            whose = RatingEntry(place=place, assessment_id=row[_ASSESSMENT], rater=row["rater"])
            for item in [one for one in Item if row.get(one)]:
                given = score_in(row[item], place)
                yield replace(whose, item=item, is_scored=True, score=given)
            continue
        said = RatingEntry(
            place=place,
            assessment_id=row[_ASSESSMENT],
            rater=row["rater"],
            item=item_named(row["item"], place),
        )
        start, end = row.get("start", ""), row.get("end", "")
        score = row.get("score") or ("u" if row.get("cannot_tell", "") == "true" else "")
        if score:
            yield replace(said, is_scored=True, score=score_in(score, place))
        if start.isdecimal() and end.isdecimal():
            yield replace(said, span=(int(start), int(end)), words=row.get("text") or None)
        elif start or end or not score:
            msg = (
                f"{place}: give a score, cannot_tell as true, or start and end of marked words, "
                "characters of the transcript from 0"
            )
            raise InputError(msg, field=FIELD)


def _of_tasks(tasks: list[Mapping[str, Any]]) -> Iterator[RatingEntry]:
    for number, task in enumerate(tasks, start=1):
        record_id = task["data"].get("assessment_id")
        if not isinstance(record_id, str):
            msg = f"task {number}: its data has no assessment_id; import tasks with it"
            raise InputError(msg, field=FIELD)
        for annotation in task["annotations"]:
            if annotation.get("was_cancelled"):
                continue
            by = annotation["completed_by"]
            rater = str(by.get("email") or by["id"] if isinstance(by, dict) else by)
            place = f"task {number}"
            said = RatingEntry(place=place, assessment_id=record_id, rater=rater)
            yield said
            for at, result in enumerate(annotation["result"], start=1):
                yield _of_result(result, replace(said, place=f"{place}, result {at}"))


def _of_result(result: Mapping[str, Any], said: RatingEntry) -> RatingEntry:
    kind, value = result["type"], result["value"]
    if kind in _SPANS:
        (label,) = value[kind]
        if not isinstance(value.get("text"), str):
            raise InputError(f"{said.place}: the marked words are not in it", field=FIELD)
        span = int(value["start"]), int(value["end"])
        return replace(said, item=item_named(label, said.place), span=span, words=value["text"])
    if kind not in _SCORES:
        msg = f"{said.place}: only labels, and choices, number or rating of items, can be taken in"
        raise InputError(msg, field=FIELD)
    given = value["choices"][0] if kind == "choices" else value[kind]
    item = item_named(result["from_name"], said.place)
    return replace(said, item=item, is_scored=True, score=score_in(given, said.place))


def _of_document(content: Mapping[str, Any]) -> Iterator[RatingEntry]:
    found: list[Mapping[str, Any]] = content["%FEATURE_STRUCTURES"]
    text = next(one["sofaString"] for one in found if one["%TYPE"] == "uima.cas.Sofa")
    units = text.encode("utf-16-le", "surrogatepass")
    about = next((one for one in found if one["%TYPE"].endswith(".DocumentMetaData")), {})
    title, rater = about.get("documentTitle"), about.get("documentId")
    if not (isinstance(title, str) and isinstance(rater, str)):
        msg = "its DocumentMetaData lacks documentTitle, the assessment's id, or documentId, a user"
        raise InputError(msg, field=FIELD)
    record_id = title.removesuffix(".txt")
    said = RatingEntry(place="the document", assessment_id=record_id, rater=rater)
    yield said
    for one in found:
        label = one.get("item", one.get("label"))
        if label is None or "begin" not in one:
            continue
        place, span = f"annotation {one['%ID']}", (int(one["begin"]), int(one["end"]))
        words = units[2 * span[0] : 2 * span[1]].decode("utf-16-le")
        item = item_named(label, place)
        yield replace(said, place=place, item=item, span=span, words=words)
