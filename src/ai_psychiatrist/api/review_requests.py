"""What a rater sends: ratings before the program's are shown, and remarks after that."""

from typing import Annotated, Final, Literal, TypeAlias

from pydantic import ConfigDict, Field, JsonValue, StrictBool, StrictInt
from pydantic.config import JsonDict

from ai_psychiatrist.api.requests import RequestBody
from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.domain.phq8 import MAX_ITEM_SCORE, Item
from ai_psychiatrist.domain.review import (
    ChangedScore,
    Committed,
    EvidenceVerdict,
    ItemRating,
    MissedEvidence,
    RejectReason,
    ReviewPhase,
    Said,
    SpanRating,
    Verdict,
)
from ai_psychiatrist.reviews.ratings import MOST_SPANS

Score: TypeAlias = Annotated[StrictInt, Field(ge=0, le=MAX_ITEM_SCORE)]
Position: TypeAlias = Annotated[StrictInt, Field(ge=0, le=2**31)]


class SpanRequest(RequestBody):
    """Words that are marked: characters of the transcript, the end exclusive."""

    start: Position
    """First character, in code points of the transcript."""
    end: Position
    """The character after the last."""


class ItemRatingRequest(RequestBody):
    """One item as the rater reads the interview: a score, or that it cannot be told."""

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
        """Return the ratings; the archive says in which phase they came."""
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
    fields: JsonDict = dict.fromkeys(sorted(_OF_ALL - _FIELDS[kind]), False)
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
