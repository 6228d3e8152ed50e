"""What the page of one assessment shows, made ready: anchors, places, marks and totals."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Final

from ai_psychiatrist.domain.evidence import Quote, Segment
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.domain.risk import RiskGroup
from ai_psychiatrist.domain.transcript import Speaker, Transcript
from ai_psychiatrist.results.full_result import FullResult
from ai_psychiatrist.results.models import ItemResult
from ai_psychiatrist.results.page.marks import Piece, Span, pieces_of
from ai_psychiatrist.results.risk_result import (
    RiskResult,
    RiskSignalResult,
    UnexaminedTurnResult,
)
from ai_psychiatrist.results.wording import SentenceParts, sentence_parts, signal_groups

TAGS: Final = {
    Item.NO_INTEREST: "Interest",
    Item.DEPRESSED: "Mood",
    Item.SLEEP: "Sleep",
    Item.TIRED: "Energy",
    Item.APPETITE: "Appetite",
    Item.FAILURE: "Worth",
    Item.CONCENTRATING: "Focus",
    Item.MOVING: "Motion",
}
"""As short as a mark has room for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceView:
    """Where in the transcript something stands."""

    turn: int
    """Counted from 1, as people count."""
    mark: str | None
    """The anchor of its first mark; `None` where no transcript is shown."""
    seconds: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceView:
    """One quote that carries an item."""

    anchor: str
    tag: str
    """Such as `Sleep 2`."""
    number: int
    quote: Quote
    places: tuple[PlaceView, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemView:
    """One item with its evidence."""

    item: Item
    number: int
    """1-8, which is its key."""
    slug: str
    tag: str
    found: ItemResult | None
    """`None` where the scoring has no result."""
    evidence: tuple[EvidenceView, ...]

    @property
    def label(self) -> str:
        """The item's name."""
        return self.item.label


@dataclass(frozen=True, slots=True, kw_only=True)
class SignView:
    """One sign of danger."""

    anchor: str
    tag: str
    sign: RiskSignalResult
    sentence: SentenceParts
    place: PlaceView
    question_turn: int | None
    """Counted from 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SignGroupView:
    """Signs of danger that a reader does the same with."""

    group: RiskGroup
    signs: tuple[SignView, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DangerView:
    """The signs of danger of a transcript, and its turns, with them marked."""

    risk: RiskResult
    groups: tuple[SignGroupView, ...]
    turns: tuple["TurnView", ...]
    """Empty where the text is not at hand."""

    @property
    def signs(self) -> tuple[SignView, ...]:
        """All that are listed, in the order of the groups."""
        return tuple(one for group in self.groups for one in group.signs)


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnerView:
    """What a mark leads to."""

    anchor: str
    slug: str
    """Of the item; `danger` for a sign of danger."""
    tag: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PieceView:
    """A stretch of a turn, marked or not."""

    text: str = field(repr=False)
    anchor: str
    owners: tuple[OwnerView, ...]
    ends: tuple[OwnerView, ...]

    @property
    def slugs(self) -> tuple[str, ...]:
        """The items that it is evidence of, each once."""
        return tuple(dict.fromkeys(owner.slug for owner in self.owners))

    @property
    def style(self) -> str:
        """The classes of its mark."""
        classes = [f"of-{slug}" for slug in self.slugs]
        return " ".join([*classes, "several"] if len(classes) > 1 else classes)

    @property
    def described_by(self) -> str:
        """The anchors of what says what its cards hold."""
        return " ".join(f"{owner.anchor}-what" for owner in self.owners)


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnView:
    """One turn as it is shown, without its label."""

    number: int
    """Counted from 1."""
    anchor: str
    speaker: Speaker
    label: str | None = field(repr=False)
    seconds: float | None
    start: int
    """First character of the words, in code points of the transcript."""
    pieces: tuple[PieceView, ...]
    unread: UnexaminedTurnResult | None
    """Where it is in a language that is not read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SheetView:
    """One assessment, ready to be shown."""

    name: str = field(repr=False)
    """What the interview is called; empty for one without a name."""
    result: FullResult
    items: tuple[ItemView, ...]
    danger: DangerView

    @property
    def turns(self) -> tuple[TurnView, ...]:
        """The transcript; empty where the text is not at hand."""
        return self.danger.turns


def sheet_view(result: FullResult, transcript: Transcript | None, *, name: str = "") -> SheetView:
    """Return what the page of a result shows, with its transcript where it is at hand."""
    seconds = result.transcript.turn_seconds
    items = tuple(_items(result, seconds, has_text=transcript is not None))
    danger = danger_view(result.risk, transcript, items=items, seconds=seconds)
    return SheetView(name=name, result=result, items=items, danger=danger)


def danger_view(
    risk: RiskResult,
    transcript: Transcript | None,
    *,
    items: Sequence[ItemView] = (),
    seconds: Sequence[float | None] = (),
) -> DangerView:
    """Return what a page shows of danger; the evidence of `items` is marked in the turns as well.

    `seconds`: when each turn begins in the recording, where that is known.
    """
    groups = tuple(_groups(risk.signals, seconds, has_text=transcript is not None))
    signs = [one for group in groups for one in group.signs]
    unread = {one.turn: one for one in risk.examined.turns_not_examined}
    turns = () if transcript is None else tuple(_turns(transcript, items, signs, unread))
    return DangerView(risk=risk, groups=groups, turns=turns)


def _turns(
    transcript: Transcript,
    items: Sequence[ItemView],
    signs: Sequence[SignView],
    unread: Mapping[int, UnexaminedTurnResult],
) -> Iterator[TurnView]:
    owners = {owner.anchor: owner for owner in _owners(items, signs)}
    spans = _spans_by_turn(items, signs)
    for turn in transcript.turns:
        here = spans.get(turn.index, ())
        cut = pieces_of(transcript.text, turn.words_start, turn.end, here)
        yield TurnView(
            number=turn.index + 1,
            anchor=f"t{turn.index + 1}",
            speaker=turn.speaker,
            label=turn.label,
            seconds=turn.start_seconds,
            start=turn.words_start,
            pieces=tuple(_piece(piece, owners) for piece in cut),
            unread=unread.get(turn.index),
        )


def _items(
    result: FullResult, seconds: Sequence[float | None], *, has_text: bool
) -> Iterator[ItemView]:
    found = {} if result.quantitative is None else result.quantitative.items or {}
    for number, item in enumerate(Item, start=1):
        slug = item.value.removeprefix("PHQ8_").lower()
        one = found.get(item.value)
        yield ItemView(
            item=item,
            number=number,
            slug=slug,
            tag=TAGS[item],
            found=one,
            evidence=tuple(
                EvidenceView(
                    anchor=f"q-{slug}-{at}",
                    tag=f"{TAGS[item]} {at}",
                    number=at,
                    quote=quote,
                    places=tuple(_place(part, seconds, has_text) for part in quote.segments),
                )
                for at, quote in enumerate(() if one is None else one.evidence, start=1)
            ),
        )


def _groups(
    signals: Sequence[RiskSignalResult], seconds: Sequence[float | None], *, has_text: bool
) -> Iterator[SignGroupView]:
    """Yield the groups; the signs are numbered as they are shown."""
    numbers = count(1)
    for one in signal_groups(signals):
        signs = (
            _sign(sign, next(numbers), _place(sign, seconds, has_text)) for sign in one.signals
        )
        yield SignGroupView(group=one.group, signs=tuple(signs))


def _sign(sign: RiskSignalResult, number: int, place: PlaceView) -> SignView:
    return SignView(
        anchor=f"danger-{number}",
        tag=f"Danger {number}",
        sign=sign,
        sentence=sentence_parts(sign),
        place=place,
        question_turn=None if sign.question_turn is None else sign.question_turn + 1,
    )


def _place(
    part: Segment | RiskSignalResult,
    seconds: Sequence[float | None],
    has_text: bool,  # noqa: FBT001 - of this file alone
) -> PlaceView:
    return PlaceView(
        turn=part.turn + 1,
        mark=f"m{part.start}" if has_text else None,
        seconds=seconds[part.turn] if 0 <= part.turn < len(seconds) else None,
    )


def _owners(items: Sequence[ItemView], signs: Sequence[SignView]) -> Iterator[OwnerView]:
    for sign in signs:
        yield OwnerView(anchor=sign.anchor, slug="danger", tag=sign.tag)
    for item in items:
        for one in item.evidence:
            yield OwnerView(anchor=one.anchor, slug=item.slug, tag=one.tag)


def _spans_by_turn(
    items: Sequence[ItemView], signs: Sequence[SignView]
) -> Mapping[int, Sequence[Span]]:
    spans: dict[int, list[Span]] = {}
    for one in signs:
        span = Span(start=one.sign.start, end=one.sign.end, owner=one.anchor)
        spans.setdefault(one.sign.turn, []).append(span)
    for evidence in (one for item in items for one in item.evidence):
        for part in evidence.quote.segments:
            span = Span(start=part.start, end=part.end, owner=evidence.anchor)
            spans.setdefault(part.turn, []).append(span)
    return spans


def _piece(piece: Piece, owners: Mapping[str, OwnerView]) -> PieceView:
    return PieceView(
        text=piece.text,
        anchor=f"m{piece.start}",
        owners=tuple(owners[one] for one in piece.owners),
        ends=tuple(owners[one] for one in piece.ends),
    )
