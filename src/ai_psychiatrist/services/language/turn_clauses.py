"""The clauses of a turn, each read after the one before it, and how often each says a thing is."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from ai_psychiatrist.domain.evidence import Frequency, Polarity
from ai_psychiatrist.services.language.assertion import ClauseReading, Status
from ai_psychiatrist.services.language.clause_reading import START, Before, read_clause
from ai_psychiatrist.services.language.clauses import Clause, clauses_of
from ai_psychiatrist.services.language.counted_days import counted_days
from ai_psychiatrist.services.language.experiencer import is_of_others
from ai_psychiatrist.services.language.frequency import occurrences_in
from ai_psychiatrist.services.language.how_often import says_only_how_often

POLARITIES: Final = {Status.AFFIRMED: Polarity.AFFIRMED, Status.DENIED: Polarity.DENIED}
"""What is said of a concept, for the two that say whether it is there."""
_SENTENCE_ENDS: Final = frozenset(".?!;…")


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnClauses:
    """A turn cut into clauses, and what each of them says."""

    turn: str
    clauses: tuple[Clause, ...]
    readings: tuple[ClauseReading, ...]

    def text(self, at: int) -> str:
        """Return the words of a clause."""
        return self.turn[self.clauses[at].start : self.clauses[at].end]

    def end(self, at: int) -> int:
        """Return where a clause ends, with the next one if that only says how often it is."""
        return self.clauses[at + 1 if self._is_added_to(at) else at].end

    def frequency(self, at: int, status: Status, place: int) -> Frequency:
        """Return how often the symptom is there, by the words nearest to a place that say so."""
        polarity = POLARITIES.get(status)
        if polarity is None:
            return Frequency.UNSTATED
        told = occurrences_in(self.text(at))
        if told:
            return min(told, key=lambda one: abs(one.start - place)).frequency(polarity)
        if not self._is_added_to(at):
            return Frequency.UNSTATED
        added = self.text(at + 1)
        told = occurrences_in(added)
        return told[0].frequency(polarity) if told else counted_days(added) or Frequency.UNSTATED

    def _is_added_to(self, at: int) -> bool:
        """Whether the next clause says nothing but how often this is."""
        return at + 1 < len(self.clauses) and says_only_how_often(self.text(at + 1))


def turn_clauses(turn: str) -> TurnClauses:
    """Read the clauses of a turn."""
    clauses = tuple(one for one in clauses_of(turn) if turn[one.start : one.end].strip())
    texts = [turn[one.start : one.end] for one in clauses]
    return TurnClauses(turn=turn, clauses=clauses, readings=tuple(_readings(texts)))


def _readings(texts: list[str]) -> Iterator[ClauseReading]:
    before = START
    for text in texts:
        one = read_clause(text, before)
        yield one
        is_others = is_of_others(one.matched.texts)
        is_end = text.rstrip()[-1:] in _SENTENCE_ENDS
        before = Before(
            is_others=before.is_others if is_others is None else is_others,
            is_supposed=one.is_supposed and not is_end,
        )
