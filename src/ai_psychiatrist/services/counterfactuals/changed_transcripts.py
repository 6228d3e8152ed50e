"""The transcripts under which the items of an assessment are scored again.

One transcript changes the words of as many items as it can: of all whose cited clauses stand in
other turns and say nothing of one another.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TypeAlias

from ai_psychiatrist.domain.drive import Change
from ai_psychiatrist.domain.evidence import Quote, Relevance, Timeframe
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.domain.transcript import Speaker, Transcript, Turn
from ai_psychiatrist.services.counterfactuals.cited_clauses import (
    ClauseInPlace,
    cited_clauses,
    turn_at,
)
from ai_psychiatrist.services.counterfactuals.edited_transcript import (
    Edit,
    EditedTranscript,
    Span,
    edited,
    strike,
)
from ai_psychiatrist.services.counterfactuals.past import clause_ten_years_back
from ai_psychiatrist.services.counterfactuals.reversal import reversed_clause
from ai_psychiatrist.services.counterfactuals.rewording import reworded
from ai_psychiatrist.services.evidence_validation.support import AssertionClassifier


@dataclass(frozen=True, slots=True, kw_only=True)
class CitedItem:
    """An item of an assessment with the quotes that are cited for it."""

    item: Item
    score: int | None
    quotes: tuple[Quote, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedTranscript:
    """A transcript after one kind of change."""

    change: Change
    items: tuple[Item, ...]
    """Those for which it was made."""
    transcript: Transcript
    evidence: Mapping[str, tuple[str, ...]] = field(repr=False)
    """Item key → the quotes of all items as they stand in it."""


def changed_transcripts(
    transcript: Transcript, cited: Sequence[CitedItem], unread: frozenset[int] = frozenset()
) -> tuple[ChangedTranscript, ...]:
    """Return the transcripts that tell whether the cited words drive the scores.

    An item is among those of a change unless the change could not be made for it. `unread`: turns
    in a language that is not read.
    """
    changes = _Changes(transcript=transcript, cited=tuple(cited), unread=unread)
    return tuple(changes.made())


_Edits: TypeAlias = Callable[["_ItemClauses"], Sequence[Edit]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _ItemClauses:
    item: Item
    score: int
    quotes: tuple[Quote, ...]
    clauses: tuple[Span, ...]
    turns: frozenset[int]


@dataclass(frozen=True, kw_only=True)
class _Changes:
    transcript: Transcript
    cited: tuple[CitedItem, ...]
    unread: frozenset[int]

    def made(self) -> Iterator[ChangedTranscript]:
        if not self._scored:
            return
        yield self._after(Change.SILENT, self._scored, self._strikes(()))
        for group in self._apart:
            struck = [strike(self.transcript, span) for one in group for span in one.clauses]
            yield self._after(Change.ERASED, group, struck)
        yield from self._with(Change.REWORDED, self._scored, self._reworded)
        for group in self._apart:
            kept = [span for one in group for span in one.clauses]
            yield self._after(Change.ALONE, group, self._strikes(kept))
        for group in self._apart:
            yield from self._with(Change.TEN_YEARS_BACK, group, self._ten_years_back)
        for group in self._apart:
            yield from self._with(Change.REVERSED, group, self._reversed)

    @cached_property
    def _scored(self) -> tuple[_ItemClauses, ...]:
        return tuple(
            _ItemClauses(
                item=one.item,
                score=one.score,
                quotes=one.quotes,
                clauses=(clauses := cited_clauses(self.transcript, one.quotes)),
                turns=frozenset(turn_at(self.transcript, span).index for span in clauses),
            )
            for one in self.cited
            if one.score is not None and one.quotes
        )

    @cached_property
    def _apart(self) -> list[list[_ItemClauses]]:
        """The scored items in as few groups as come of putting each into the first it fits."""
        groups: list[list[_ItemClauses]] = []
        for one in self._scored:
            fitting = (group for group in groups if not any(self._touch(one, it) for it in group))
            group = next(fitting, None)
            if group is None:
                groups.append([one])
            else:
                group.append(one)
        return groups

    @cached_property
    def _reader(self) -> AssertionClassifier:
        return AssertionClassifier(self.transcript, self.unread)

    def _touch(self, one: _ItemClauses, other: _ItemClauses) -> bool:
        return (
            not one.turns.isdisjoint(other.turns)
            or self._tells_of(one, other.item)
            or self._tells_of(other, one.item)
        )

    def _tells_of(self, one: _ItemClauses, item: Item) -> bool:
        quotes = self._reader.for_item(one.quotes, item)
        return any(quote.relevance is Relevance.ABOUT for quote in quotes)

    def _with(
        self, change: Change, items: Sequence[_ItemClauses], edits_for: _Edits
    ) -> Iterator[ChangedTranscript]:
        edits = {one.item: edits_for(one) for one in items}
        changed = [one for one in items if edits[one.item]]
        if changed:
            distinct = {edit.span: edit for one in changed for edit in edits[one.item]}
            yield self._after(change, changed, list(distinct.values()))

    def _after(
        self, change: Change, items: Sequence[_ItemClauses], edits: Sequence[Edit]
    ) -> ChangedTranscript:
        after = edited(self.transcript, edits)
        return ChangedTranscript(
            change=change,
            items=tuple(one.item for one in items),
            transcript=after.transcript,
            evidence={one.item.value: tuple(_words(after, one.quotes)) for one in self.cited},
        )

    def _strikes(self, kept: Sequence[Span]) -> list[Edit]:
        """Return what strikes out all that the participant says but for some spans."""
        return [
            strike(self.transcript, span)
            for turn in self.transcript.participant_turns()
            for span in _between(turn, [one for one in kept if turn.start <= one.start < turn.end])
        ]

    def _ten_years_back(self, one: _ItemClauses) -> Sequence[Edit]:
        """Return the clauses moved ten years back, or none if a quote then still means now."""
        edits = [
            Edit(span, clause_ten_years_back(self._in_place(span), one.item))
            for span in one.clauses
        ]
        after = edited(self.transcript, edits)
        places = (after.place_of(quote) for quote in one.quotes)
        told = AssertionClassifier(after.transcript, self.unread).for_item(places, one.item)
        is_of_now = any(quote.supports_symptom or quote.denies_symptom for quote in told)
        is_past = any(quote.timeframe is Timeframe.PAST for quote in told)
        return edits if is_past and not is_of_now else ()

    def _reversed(self, one: _ItemClauses) -> Sequence[Edit]:
        """Return one clause turned round, of those that speak for the score if there are any."""
        supporting = one.score == 0
        for is_denial in (supporting, not supporting):
            for span in one.clauses:
                text = reversed_clause(self._in_place(span), one.item, is_denial=is_denial)
                if text is not None:
                    return [Edit(span, text)]
        return ()

    def _reworded(self, one: _ItemClauses) -> Sequence[Edit]:
        asked = {turn.index: turn for turn in map(self._asked, sorted(one.turns)) if turn}
        edits = map(self._other_wording, asked.values())
        return [edit for edit in edits if edit is not None]

    def _asked(self, index: int) -> Turn | None:
        """Return the turn of the question that a turn answers."""
        turns = self.transcript.turns
        before = (turns[at] for at in range(index - 1, -1, -1))
        asked = next((turn for turn in before if turn.speaker is not Speaker.PARTICIPANT), None)
        return asked if asked is not None and asked.speaker is Speaker.INTERVIEWER else None

    def _other_wording(self, turn: Turn) -> Edit | None:
        words = self.transcript.words(turn)
        beside = [
            (self._in_place(span), one.item)
            for one in self._scored
            for span in one.clauses
            if turn_at(self.transcript, span).index == turn.index + 1
        ]
        for text in reworded(words):
            is_same = partial(_reads_the_same, text)
            if all(is_same(clause, item) for clause, item in beside):
                return Edit(Span(turn.words_start, turn.end), text)
        return None

    def _in_place(self, span: Span) -> ClauseInPlace:
        return ClauseInPlace(self.transcript, span)


def _reads_the_same(question: str, clause: ClauseInPlace, item: Item) -> bool:
    before = clause.read(clause.text, item)
    after = clause.read(clause.text, item, question=question)
    return _said(before) == _said(after)


def _said(quote: Quote) -> tuple[object, ...]:
    return (quote.polarity, quote.frequency, quote.timeframe, quote.relevance)


def _words(after: EditedTranscript, quotes: Sequence[Quote]) -> Iterator[str]:
    """Yield the quotes that are left, as many as there were: two of one clause stay two."""
    yield from filter(None, map(after.words_of, quotes))


def _between(turn: Turn, kept: Sequence[Span]) -> Iterator[Span]:
    """Yield what lies between spans of a turn's words."""
    at = turn.words_start
    for span in sorted(set(kept)):
        if at < span.start:
            yield Span(at, span.start)
        at = max(at, span.end)
    if at < turn.end:
        yield Span(at, turn.end)
