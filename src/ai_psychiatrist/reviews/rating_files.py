"""Ratings made in other programs: tables, and exports of Label Studio and INCEpTION."""

import csv
import io
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.domain.review import GoldRating
from ai_psychiatrist.infrastructure.given_files import read_regular, reason_of
from ai_psychiatrist.reviews.ratings import MOST_REASON

FIELD: Final = "FILE"
_MOST_BYTES: Final = 1 << 28
_PREFIX: Final = "phq8"
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
    """Yield each row of a CSV with its place; raises `InputError` where a column is missing."""
    first = text.partition("\n")[0]
    table = csv.DictReader(io.StringIO(text), delimiter=max(",;\t", key=first.count))
    missing = [name for name in columns if name not in (table.fieldnames or ())]
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


def item_named(name: object, place: str) -> Item:
    """Return an item by its key or label, whatever the case and punctuation."""
    plain = _plain(name)
    for item in Item:
        key = _plain(item.value)
        if plain in {key, key.removeprefix(_PREFIX), _plain(item.label)}:
            return item
    msg = f"{place}: it names no item; the items are {', '.join(Item)}"
    raise InputError(msg, field=FIELD)


def score_in(given: object, place: str) -> int | None:
    """Return a score that may be followed by words, `None` where the rater cannot tell."""
    text = str(given).strip()
    if _plain(text) in _CANNOT_TELL:
        return None
    number = text.partition(" ")[0].removesuffix(".0")
    if number not in {"0", "1", "2", "3"}:
        raise InputError(f"{place}: a score is 0 to 3, or cannot tell", field=FIELD)
    return int(number)


def _plain(name: object) -> str:
    return "".join(one for one in str(name).casefold() if one.isalnum())


def _of_table(text: str) -> Iterator[RatingEntry]:
    for place, row in read_rows(text, ("assessment_id", "rater", "item")):
        if not row.get("kind", "committed").startswith("committed"):
            continue
        said = RatingEntry(
            place=place,
            assessment_id=row["assessment_id"],
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
