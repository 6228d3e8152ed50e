"""What the page of an assessment shows besides its result: cards with anchors, marked turns."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, count, pairwise
from typing import Final

from ai_psychiatrist.domain.assessment import Assessment
from ai_psychiatrist.domain.evidence import Quote, Segment
from ai_psychiatrist.domain.items import ItemAssessment
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.domain.risk import RiskGroup, RiskReport, RiskSignal, UnexaminedTurn
from ai_psychiatrist.domain.transcript import Transcript, Turn
from ai_psychiatrist.interview.interview_store import ReadInterview, latest_done
from ai_psychiatrist.results.wording import signal_groups
from ai_psychiatrist.services.risk.context import (
    Neighbours,
    Surroundings,
    neighbours,
    surroundings,
)

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
class RaterMark:
    """Words of one turn that a rater marked; offsets in code points of the transcript."""

    turn: int
    start: int
    end: int
    text: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class CardView:
    """What a mark leads to: a quote that carries an item, or a sign of danger."""

    anchor: str
    slug: str
    """Of the item; `danger` for a sign of danger."""
    tag: str
    """Such as `Sleep 2`."""
    said: Quote | RiskSignal | RaterMark
    around: Neighbours | Surroundings | None = None
    """Where the transcript is at hand: of a sign of danger its neighbours, of a quote the rest of
    its sentence and the question."""

    @property
    def parts(self) -> Sequence[Segment | RiskSignal | RaterMark]:
        """Where its words stand."""
        return self.said.segments if isinstance(self.said, Quote) else (self.said,)


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemView:
    """One item with its evidence."""

    item: Item
    slug: str
    found: ItemAssessment | None
    """`None` where the scoring has no result."""
    evidence: tuple[CardView, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A stretch of the transcript that something stands on; offsets in code points."""

    start: int
    end: int
    owner: CardView
    """The card that it belongs to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PieceView:
    """A stretch of a turn whose characters all belong to the same cards."""

    text: str = field(repr=False)
    start: int
    owners: tuple[CardView, ...]
    """The cards in the order of the spans; empty for words that are no evidence."""
    ends: tuple[CardView, ...]
    """Those whose span ends here."""

    @property
    def slugs(self) -> tuple[str, ...]:
        """The items that it is evidence of, each once."""
        return tuple(dict.fromkeys(owner.slug for owner in self.owners))


def pieces_of(text: str, start: int, end: int, spans: Sequence[Span]) -> Iterator[PieceView]:
    """Yield pieces that tile `text[start:end]` in order and never nest; spans are clipped to it."""
    here = [span for span in spans if max(span.start, start) < min(span.end, end)]
    if not here and start < end:
        yield PieceView(text=text[start:end], start=start, owners=(), ends=())
        return
    inner = {at for span in here for at in (span.start, span.end) if start < at < end}
    for first, last in pairwise(sorted({start, end} | inner)):
        on = [span for span in here if span.start <= first and last <= span.end]
        yield PieceView(
            text=text[first:last],
            start=first,
            owners=tuple(dict.fromkeys(span.owner for span in on)),
            ends=tuple(dict.fromkeys(one.owner for one in on if min(one.end, end) == last)),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnView:
    """One turn, its words cut into marked and other pieces."""

    turn: Turn
    pieces: tuple[PieceView, ...]
    unread: UnexaminedTurn | None
    """Where it is in a language that is not read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneView:
    """Where in the interview something is said of one item, or of danger."""

    name: str
    slug: str
    places: Sequence[float]
    """Percent of the interview."""
    turns: Sequence[int]
    """From 0, each once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DangerView:
    """The signs of danger of a transcript, and its turns, with them marked."""

    risk: RiskReport
    groups: Mapping[RiskGroup, Sequence[CardView]]
    turns: tuple[TurnView, ...]
    """Empty where the text is not at hand."""
    seconds: Sequence[float | None]
    """When each turn begins in the recording; empty where that is not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderView:
    """One person who has read a statement of danger."""

    name: str = field(repr=False)
    is_you: bool
    day: str
    """When, in UTC."""
    note: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class SheetView:
    """One assessment, ready to be shown."""

    name: str = field(repr=False)
    """What the interview is called; empty for one without a name."""
    result: Assessment
    items: tuple[ItemView, ...]
    danger: DangerView
    lanes: tuple[LaneView, ...]
    """Empty where the text is not at hand."""
    study_id: str | None = field(default=None, repr=False)
    """Whose assessment it is; in no title of a window."""
    interviews: tuple[ReadInterview, ...] = ()
    """The interviews about it, the newest first."""
    readers: Mapping[tuple[int, int], Sequence[ReaderView]] | None = None
    """Who has read the statements to read now, by start and end; `None` where nobody can tell."""
    interview_readers: Sequence[Sequence[Sequence[ReaderView]]] = ()
    """The same of each statement of each interview."""

    @property
    def interview(self) -> ReadInterview | None:
        """The one whose answers count."""
        return latest_done(self.interviews)


def sheet_view(result: Assessment, transcript: Transcript | None, *, name: str = "") -> SheetView:
    """Return what the page of a result shows, with its transcript where it is at hand."""
    items = tuple(_items(result, transcript))
    danger = danger_view(
        result.risk,
        transcript,
        evidence=[card for item in items for card in item.evidence],
        seconds=result.transcript.turn_seconds,
    )
    lanes = () if transcript is None else tuple(_lanes(items, danger, len(transcript.text)))
    return SheetView(name=name, result=result, items=items, danger=danger, lanes=lanes)


def _lanes(items: Sequence[ItemView], danger: DangerView, length: int) -> Iterator[LaneView]:
    signs = [*chain.from_iterable(danger.groups.values())]
    of_items = ((one.item.label, one.slug, one.evidence) for one in items)
    for name, slug, cards in (("Danger", "danger", signs), *of_items):
        parts = [part for card in cards for part in card.parts]
        if parts:
            yield LaneView(
                name=name,
                slug=slug,
                places=[round(100 * part.start / length, 2) for part in parts],
                turns=sorted({part.turn for part in parts}),
            )


def danger_view(
    risk: RiskReport,
    transcript: Transcript | None,
    *,
    evidence: Sequence[CardView] = (),
    seconds: Sequence[float | None] = (),
) -> DangerView:
    """Return what a page shows of danger; the `evidence` of items is marked in the turns as well.

    `seconds`: when each turn begins in the recording, where that is known.
    """
    # The signs are numbered as they are shown.
    numbers = count(1)
    groups = {
        group: [_sign(sign, next(numbers), transcript) for sign in signals]
        for group, signals in signal_groups(risk.signals).items()
    }
    cards = [*chain.from_iterable(groups.values()), *evidence]
    turns = () if transcript is None else tuple(_turns(transcript, cards, risk))
    return DangerView(risk=risk, groups=groups, turns=turns, seconds=seconds)


def _sign(sign: RiskSignal, number: int, transcript: Transcript | None) -> CardView:
    return CardView(
        anchor=f"danger-{number}",
        slug="danger",
        tag=f"Danger {number}",
        said=sign,
        around=None if transcript is None else neighbours(transcript, sign),
    )


def _turns(
    transcript: Transcript, cards: Iterable[CardView], risk: RiskReport
) -> Iterator[TurnView]:
    spans: dict[int, list[Span]] = defaultdict(list)
    for card in cards:
        for part in card.parts:
            spans[part.turn].append(Span(start=part.start, end=part.end, owner=card))
    unread = {one.turn: one for one in risk.examined.turns_not_examined}
    for turn in transcript.turns:
        pieces = pieces_of(transcript.text, turn.words_start, turn.end, spans[turn.index])
        yield TurnView(turn=turn, pieces=tuple(pieces), unread=unread.get(turn.index))


def slug_of(item: Item) -> str:
    """Return what an item is called in anchors and classes."""
    return item.value.removeprefix("PHQ8_").lower()


def _items(result: Assessment, transcript: Transcript | None) -> Iterator[ItemView]:
    found = {} if result.quantitative is None else result.quantitative.items
    for item in Item:
        slug = slug_of(item)
        one = found.get(item)
        evidence = (
            CardView(
                anchor=f"q-{slug}-{at}",
                slug=slug,
                tag=f"{TAGS[item]} {at}",
                said=quote,
                around=None if transcript is None else _around(quote, transcript),
            )
            for at, quote in enumerate(() if one is None else one.evidence, start=1)
        )
        yield ItemView(item=item, slug=slug, found=one, evidence=tuple(evidence))


def _around(quote: Quote, transcript: Transcript) -> Surroundings | None:
    if len({part.turn for part in quote.segments}) != 1:
        return None
    first, last = quote.segments[0], quote.segments[-1]
    return surroundings(transcript, transcript.turns[first.turn], first.start, last.end)
