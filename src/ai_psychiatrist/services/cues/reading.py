"""One reading per turn: its clauses, read when first asked about and only looked up after that."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field

from ai_psychiatrist.domain.evidence import Frequency, Polarity, Timeframe
from ai_psychiatrist.services.cues.clauses import (
    Clause,
    clauses_near,
    clauses_of,
    without_outer_spaces,
)
from ai_psychiatrist.services.cues.statement import Statement, answered, statement_of
from ai_psychiatrist.services.language.frequency import Occurrence, occurrences_in
from ai_psychiatrist.services.language.temporality import (
    Period,
    Told,
    timeframe_among,
    told_in,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Said:
    """What a phrase or an answer says, and in which of the clauses."""

    clause: int
    polarity: Polarity


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnReading:
    """The clauses of one turn, to be asked about any number of spans of its words."""

    words: str
    clauses: tuple[Clause, ...]
    _starts: tuple[int, ...]
    _statements: dict[int, Statement] = field(default_factory=dict)
    _occurrences: dict[int, tuple[Occurrence, ...]] = field(default_factory=dict)
    _told: dict[int, Told] = field(default_factory=dict)

    def polarity_of(self, start: int, end: int) -> Polarity:
        """Read the polarity of characters `start` to `end` of the turn's words."""
        inside: list[_Said] = []
        beside: list[_Said] = []
        touched = self._touched(start, end)
        for at in touched:
            statement, shift = self._statement(at), self.clauses[at].start
            if statement.is_question:
                inside.extend(self._answered_itself(at, touched))
                continue
            for vote in statement.votes:
                is_inside = vote.start + shift < end and vote.end + shift > start
                said = _Said(clause=at, polarity=vote.polarity)
                (inside if is_inside else beside).append(said)
        if inside or beside:
            return self._settled(inside or beside)
        return _without_votes([self._statement(at) for at in touched])

    def frequency_of(self, start: int, end: int) -> Frequency:
        """Read how often the symptom in characters `start` to `end` is there."""
        nearest: tuple[int, Occurrence] | None = None
        for at in self._touched(start, end):
            for occurrence in self._occurrences_in(at):
                place = self.clauses[at].start + occurrence.start
                distance = 0 if start <= place < end else min(abs(place - start), abs(place - end))
                if nearest is None or distance < nearest[0]:
                    nearest = (distance, occurrence)
        if nearest is None:
            return Frequency.UNSTATED
        return nearest[1].frequency(self.polarity_of(start, end))

    def timeframe_of(self, start: int, end: int) -> Timeframe:
        """Read when what characters `start` to `end` say was so."""
        inside: list[Period] = []
        beside: list[Period] = []
        touched = self._touched(start, end)
        for at in touched:
            shift = self.clauses[at].start
            for period in self._told_in(at).periods:
                is_inside = period.start + shift < end and period.end + shift > start
                (inside if is_inside else beside).append(period)
        if inside or beside:
            return timeframe_among(inside or beside) or Timeframe.UNSTATED
        return Timeframe.PAST if touched and self._is_of_past(touched) else Timeframe.UNSTATED

    def _touched(self, start: int, end: int) -> range:
        start, end = without_outer_spaces(self.words, start, end)
        first = max(bisect_right(self._starts, start) - 1, 0)
        return range(first, bisect_left(self._starts, max(end, start + 1)))

    def _statement(self, at: int) -> Statement:
        statement = self._statements.get(at)
        if statement is None:
            statement = self._statements[at] = statement_of(self._text(at))
        return statement

    def _occurrences_in(self, at: int) -> tuple[Occurrence, ...]:
        occurrences = self._occurrences.get(at)
        if occurrences is None:
            occurrences = self._occurrences[at] = occurrences_in(self._text(at))
        return occurrences

    def _told_in(self, at: int) -> Told:
        told = self._told.get(at)
        if told is None:
            told = self._told[at] = told_in(self._text(at))
        return told

    def _text(self, at: int) -> str:
        return self.words[self.clauses[at].start : self.clauses[at].end]

    def _answered_itself(self, at: int, touched: range) -> Iterator[_Said]:
        """Yield what "insomnia? no" says."""
        if at + 1 not in touched:
            return
        following = self._statement(at + 1)
        answer = following.answer or following.opening
        if answer is not None:
            asked = {vote.polarity for vote in self._statement(at).votes}
            yield _Said(clause=at, polarity=answered(asked, answer))

    def _settled(self, said: list[_Said]) -> Polarity:
        """Return the polarity that all agree on; what is so now counts before what was."""
        polarities = {one.polarity for one in said}
        if len(polarities) == 1:
            return polarities.pop()
        if polarities != {Polarity.AFFIRMED, Polarity.DENIED}:
            return Polarity.UNCLEAR
        lasting = {one.polarity for one in said if not self._is_over(one.clause)}
        if len(lasting) == 1:
            return lasting.pop()
        recent = [one for one in said if self._is_recent(one.clause)]
        earlier = [one for one in said if not self._is_recent(one.clause)]
        if all(self._told_in(one.clause).is_past_tense for one in earlier):
            lasting = {one.polarity for one in recent}
        return lasting.pop() if len(lasting) == 1 else Polarity.UNCLEAR

    def _is_over(self, at: int) -> bool:
        return self._told_in(at).timeframe is Timeframe.PAST

    def _is_recent(self, at: int) -> bool:
        return self._told_in(at).timeframe is Timeframe.RECENT

    def _is_of_past(self, touched: range) -> bool:
        """Whether clauses in the past tense belong to a time that their sentence names."""
        if not any(self._told_in(at).is_past_tense for at in touched):
            return False
        after = touched[-1] + 1
        if after < len(self.clauses) and self._told_in(after).looks_back:
            return True
        for at in range(touched[0], 0, -1):
            before = self._told_in(at - 1)
            if before.ends_sentence or self._told_in(at).is_contrast:
                return False
            if before.timeframe is not None:
                return before.timeframe is Timeframe.PAST
        return False


def read_turn(words: str) -> TurnReading:
    """Cut a turn into clauses, which are read when they are asked about."""
    return _reading(words, clauses_of(words))


def read_around(words: str, start: int, end: int) -> TurnReading:
    """Cut only what stands near a span, so that the cost does not grow with the text."""
    return _reading(words, clauses_near(words, start, end))


def _reading(words: str, clauses: tuple[Clause, ...]) -> TurnReading:
    starts = tuple(clause.start for clause in clauses)
    return TurnReading(words=words, clauses=clauses, _starts=starts)


def _without_votes(statements: list[Statement]) -> Polarity:
    """Return what bare answers say, or what is told without any cue."""
    answers: set[Polarity] = set()
    for statement in statements:
        if statement.answer is not None:
            if statement.is_correction:
                answers.clear()
            answers.add(statement.answer)
    tells = any(statement.is_plain for statement in statements)
    if not answers:
        is_doubtful = any(statement.is_doubtful for statement in statements)
        return Polarity.AFFIRMED if tells and not is_doubtful else Polarity.UNCLEAR
    clear = answers - {Polarity.UNCLEAR}
    # "No, I lie there till four" may deny that all is well.
    if len(clear) != 1 or (tells and Polarity.DENIED in clear):
        return Polarity.UNCLEAR
    return clear.pop()
