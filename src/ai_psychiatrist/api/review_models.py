"""What raters send, and what they get back."""

from dataclasses import fields
from datetime import datetime
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import ConfigDict, Field, JsonValue, StrictBool, StrictInt
from pydantic.config import JsonDict

from ai_psychiatrist.api.requests import RequestBody
from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.domain.phq8 import MAX_ITEM_SCORE, Item
from ai_psychiatrist.domain.review import (
    Adjudicated,
    ChangedScore,
    Committed,
    EvidenceVerdict,
    GoldRating,
    ItemRating,
    MissedEvidence,
    RejectReason,
    ReviewPhase,
    ReviewRow,
    Said,
    SpanRating,
    Verdict,
)
from ai_psychiatrist.domain.risk import RiskLevel
from ai_psychiatrist.results.result import Result
from ai_psychiatrist.reviews.ratings import MOST_REASON, MOST_SPANS
from ai_psychiatrist.store.contents import kind_of

Score: TypeAlias = Annotated[StrictInt, Field(ge=0, le=MAX_ITEM_SCORE)]
Position: TypeAlias = Annotated[StrictInt, Field(ge=0, le=2**31)]


class SpanRequest(RequestBody):
    """Words that are marked: characters of the transcript, the end exclusive."""

    start: Position
    """First character, in code points of the transcript."""
    end: Position
    """The character after the last."""


class ItemRatingRequest(RequestBody):
    """One item as the rater reads the interview: a score, or that none can be given."""

    score: Score | None = None
    """0-3; null where you cannot tell."""
    cannot_tell: StrictBool = False
    """Whether no score can be told."""
    evidence: Annotated[tuple[SpanRequest, ...], Field(max_length=MOST_SPANS, fail_fast=True)] = ()
    """Where in the interview the score comes from; within the participant's words."""


class RatingsRequest(RequestBody):
    """All eight items, rated once and for all."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "items": {
                        item.value: {"score": 1, "evidence": []}
                        if item is not Item.MOVING
                        else {"cannot_tell": True}
                        for item in Item
                    }
                }
            ]
        }
    )

    items: Annotated[
        dict[Item, ItemRatingRequest],
        Field(min_length=len(Item), max_length=len(Item), fail_fast=True),
    ]
    """Each item by its key, such as `PHQ8_Sleep`."""

    def as_said(self) -> Committed:
        """Return the ratings; the store says in which phase they came."""
        ratings = tuple(
            ItemRating(
                item=item,
                score=_score(given.score, cannot_tell=given.cannot_tell, field="items"),
                evidence=tuple(
                    SpanRating(start=span.start, end=span.end) for span in given.evidence
                ),
            )
            for item, given in self.items.items()
        )
        return Committed(items=ratings, phase=ReviewPhase.BLIND)


class GoldItemRequest(RequestBody):
    """The gold score of an item, or that none can be given."""

    score: Score | None = None
    """0-3; null where the interview does not tell."""
    cannot_tell: StrictBool = False
    """True in place of a score."""
    reason: Annotated[str, Field(max_length=MOST_REASON)] = ""
    """Why; needed where a rater says something else."""


class GoldRequest(RequestBody):
    """Gold scores; items that all raters scored alike may be left out."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"items": {"PHQ8_Sleep": {"score": 2, "reason": "Every second night."}}}]
        }
    )

    items: Annotated[
        dict[Item, GoldItemRequest],
        Field(default_factory=dict, max_length=len(Item), fail_fast=True),
    ]
    """Items by key, such as `PHQ8_Sleep`."""

    def decided(self) -> tuple[GoldRating, ...]:
        """Return what is decided; raises `InputError` for neither or both of score and unknown."""
        return tuple(
            GoldRating(
                item=item,
                score=_score(given.score, cannot_tell=given.cannot_tell, field="items"),
                reason=given.reason,
            )
            for item, given in self.items.items()
        )


_FIELDS: Final[dict[str, frozenset[str]]] = {
    "evidence": frozenset({"evidence", "verdict", "reason"}),
    "missed": frozenset({"start", "end"}),
    "score": frozenset({"score", "cannot_tell"}),
}
_OF_ALL: Final[frozenset[str]] = frozenset().union(*_FIELDS.values())
_NEEDED: Final[dict[str, tuple[str, ...]]] = {
    "evidence": ("evidence", "verdict"),
    "missed": ("start", "end"),
    "score": (),
}


def _fields_of(kind: str) -> JsonDict:
    """Return the JSON schema of a row of this kind: it has no field of another one."""
    needed: list[JsonValue] = list(_NEEDED[kind])
    fields: JsonDict = {name: {"not": {}} for name in sorted(_OF_ALL - _FIELDS[kind])}
    given: JsonDict = {name: {"not": {"type": "null"}} for name in _NEEDED[kind]}
    return {"required": needed, "properties": {"kind": {"const": kind}, **fields, **given}}


class ReviewRowRequest(RequestBody):
    """One remark: on a quote, on words that were missed, or another score."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "kind": "evidence",
                    "item": "PHQ8_Sleep",
                    "evidence": 0,
                    "verdict": "rejected",
                    "reason": "past",
                },
                {"kind": "missed", "item": "PHQ8_Tired", "start": 120, "end": 141},
                {"kind": "score", "item": "PHQ8_Sleep", "score": 2},
            ],
            "oneOf": [_fields_of(kind) for kind in _FIELDS],
        }
    )

    kind: Literal["evidence", "missed", "score"]
    """What the row says."""
    item: Item
    evidence: Position | None = None
    """For `evidence`: which of the item's quotes, from 0."""
    verdict: Verdict | None = None
    """For `evidence`."""
    reason: RejectReason | None = None
    """For `evidence` that is rejected: why."""
    start: Position | None = None
    """For `missed`: the first character."""
    end: Position | None = None
    """For `missed`: the character after the last one."""
    score: Score | None = None
    """For `score`: 0-3."""
    cannot_tell: StrictBool = False
    """For `score`: true in place of a score."""

    def as_said(self) -> Said:
        """Return the remark; raises `InputError` for fields of another kind, or too few."""
        self._refuse_other_fields()
        if self.kind == "score":
            score = _score(self.score, cannot_tell=self.cannot_tell, field="score")
            return ChangedScore(item=self.item, score=score)
        if self.kind == "missed":
            if self.start is None or self.end is None:
                msg = "a row of kind missed needs start and end"
                raise InputError(msg, field="start" if self.start is None else "end")
            span = SpanRating(start=self.start, end=self.end)
            return MissedEvidence(item=self.item, span=span)
        if self.evidence is None or self.verdict is None:
            msg = "a row of kind evidence needs evidence, a position from 0, and verdict"
            raise InputError(msg, field="evidence" if self.evidence is None else "verdict")
        return EvidenceVerdict(
            item=self.item, evidence=self.evidence, verdict=self.verdict, reason=self.reason
        )

    def _refuse_other_fields(self) -> None:
        for name in sorted(self.model_fields_set & _OF_ALL - _FIELDS[self.kind]):
            msg = f"a row of kind {self.kind} has no field {name}"
            raise InputError(msg, field=name)


def _score(score: int | None, *, cannot_tell: bool, field: str) -> int | None:
    if (score is None) != cannot_tell:
        msg = "give either a score, 0-3, or cannot_tell as true"
        raise InputError(msg, field=field)
    return score


class SpanResult(Result):
    """Words that were marked: characters of the transcript, the end exclusive."""

    start: int
    """First character, in code points of the transcript."""
    end: int
    """The character after the last."""


class RatedItemResult(Result):
    """One item as a rater scored it."""

    score: int | None
    """0-3; null where it cannot be told."""
    cannot_tell: bool
    """Whether no score could be told."""
    evidence: tuple[SpanResult, ...]
    """Where the words stand that carry it."""


class GoldItemResult(Result):
    """The gold score of an item."""

    score: int | None
    """0-3; null where it cannot be told."""
    reason: str
    """Why, in the adjudicator's words; empty where all raters say the same and none was given."""


class ReviewRowResult(Result):
    """One thing that a rater said; fields of other kinds are null."""

    number: int
    """Rises with each row that anybody adds, over all assessments of the tenant."""
    at: datetime
    """When it was written."""
    rater: str
    """Id of whoever said it; of a rater without a key it holds the name that they gave."""
    mine: bool
    """Whether you said it."""
    kind: Literal["committed", "evidence", "missed", "score", "gold"]
    """`committed` ratings of all items, a verdict on a piece of `evidence`, words that the program
    `missed`, a later `score`, or `gold` scores of all items."""
    phase: ReviewPhase | None = None
    """Of committed ratings: `blind`, or `seen` where scores had been given before."""
    items: dict[str, RatedItemResult] | None = None
    """Of `committed`: the rating of each item by its key."""
    item: Item | None = None
    """Of all other kinds: the item that it is about."""
    evidence: int | None = None
    """Of `evidence`: which of the program's quotes for the item, from 0."""
    verdict: Verdict | None = None
    """Of `evidence`: whether the quote counts."""
    reason: RejectReason | None = None
    """Of `evidence`: why it was rejected; null where it was accepted."""
    span: SpanResult | None = None
    """Of `missed`: where the words stand."""
    score: int | None = None
    """Of `score`: 0-3, or null where `cannot_tell` is true."""
    cannot_tell: bool | None = None
    """Of `score`: whether no score could be told."""
    gold: dict[str, GoldItemResult] | None = None
    """Of `gold`: the gold score of each item by its key; `rater` is the adjudicator."""
    raters: tuple[str, ...] | None = None
    """Of `gold`: whose scores were compared."""


class ReviewResult(Result):
    """How far you are with an assessment, and what was said of it."""

    phase: ReviewPhase
    """How far you are with rating it."""
    begun: bool
    """Whether your review is begun; ratings are taken only then."""
    rows: tuple[ReviewRowResult, ...]
    """Your own, and those of others once your ratings are committed."""


def row_result(row: ReviewRow, rater: str) -> ReviewRowResult:
    """Return a row as a rater gets it."""
    said: dict[str, object] = {one.name: getattr(row.said, one.name) for one in fields(row.said)}
    if isinstance(row.said, Committed):
        said["items"] = {
            one.item.value: {
                "score": one.score,
                "cannot_tell": one.score is None and row.said.has_scores,
                "evidence": one.evidence,
            }
            for one in row.said.items
        }
    if isinstance(row.said, Adjudicated):
        said = {"gold": {one.item.value: one for one in row.said.items}, "raters": row.said.raters}
    if isinstance(row.said, ChangedScore):
        said["cannot_tell"] = row.said.score is None
    return ReviewRowResult.model_validate(
        {
            "number": row.number,
            "at": row.at,
            "rater": row.rater,
            "mine": row.rater == rater,
            "kind": kind_of(row.said),
            **said,
        }
    )


class QueuedResult(Result):
    """An assessment to rate."""

    assessment_id: str
    """What its routes ask for."""
    created_at: datetime
    """When it was begun."""
    subject_id: str
    """Random; the same for all assessments of one subject."""
    danger: RiskLevel | None
    """The level of the signs of danger; never hidden."""
    raters: int
    """How many have committed their ratings."""
    phase: ReviewPhase
    """How far you are with rating it: one that is `seen` counts in no blind figure."""


class QueueResult(Result):
    """What to rate next, the first one first."""

    cases: tuple[QueuedResult, ...]
    """Reviews that you have begun, then where a rating tells most, each tenth a random one."""
    waiting: int
    """How many you have not rated, those beyond `limit` included."""
