"""The clauses of a turn, each read after the one before it, and how often each says a thing is."""

import re
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
from ai_psychiatrist.services.language.vocabulary import words

POLARITIES: Final = {Status.AFFIRMED: Polarity.AFFIRMED, Status.DENIED: Polarity.DENIED}
"""What is said of a concept, for the two that say whether it is there."""
_SENTENCE_ENDS: Final = frozenset(".?!;…")
_SPEECH_MARKS: Final = frozenset(",:")
_SPEECH_WORDS: Final = 3
"""Among how many last words of a clause the saying stands: "said to me"."""
_QUOTED: Final = re.compile(r"[\"“](?P<words>[^\"“”\n]{12,400})[\"”]")
_OWN_SAYING: Final = re.compile(
    r"\bI(?:['’]m|['’]ve)?\b[^.?!]{0,30}\b(?:sa(?:y|id|ying)|th(?:ink|ought)|like|tell|told|feel|felt|go)\b"
    r"[^.?!]{0,12}$",
    re.IGNORECASE,
)
_OF_ANOTHER: Final = re.compile(r",\s{1,8}(?:I|I['’]m|I['’]ve|im|ive)\b", re.IGNORECASE)
"""Parts what is said of somebody or something from what the speaker says of himself or herself."""
_FRAGMENTS: Final = 4
"""How many clauses before a fragment the verb that it goes on with stands at most."""
_MOST_OF_IT: Final = 0.7
"""What part of a turn a quotation takes that is the turn itself."""
_BEFORE_SAYING: Final = 60
"""In characters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnClauses:
    """A turn cut into clauses, and what each of them says."""

    turn: str
    clauses: tuple[Clause, ...]
    readings: tuple[ClauseReading, ...]
    quoted: tuple[Clause, ...] = ()
    """Stretches between quotation marks that are not said to be the speaker's own words."""

    def is_quoted(self, place: int) -> bool:
        """Return whether a character of the turn stands in words of somebody or something else."""
        return any(one.start <= place < one.end for one in self.quoted)

    def continues_past(self, at: int) -> bool:
        """Return whether a clause without a verb goes on with what is told in the past tense.

        "I was in bits then. Awake all night."
        """
        if not _has_no_tense(self.readings[at].matched.texts):
            return False
        for back in range(at - 1, max(-1, at - 1 - _FRAGMENTS), -1):
            before = self.readings[back].matched.texts
            if not _has_no_tense(before):
                is_told = not words("past").isdisjoint(before)
                return is_told and words("present").isdisjoint(before)
        return False

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
        own = [
            one
            for one in occurrences_in(self.text(at))
            if not _OF_ANOTHER.search(self.text(at), *sorted((one.start, place)))
        ]
        if own:
            return min(own, key=lambda one: abs(one.start - place)).frequency(polarity)
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
    readings = tuple(_readings(texts))
    return TurnClauses(turn=turn, clauses=clauses, readings=readings, quoted=_quotations(turn))


def _quotations(turn: str) -> tuple[Clause, ...]:
    return tuple(
        Clause(start=found.start("words"), end=found.end("words"))
        for found in _QUOTED.finditer(turn)
        if len(found["words"]) < _MOST_OF_IT * len(turn)
        and not _OWN_SAYING.search(turn[max(0, found.start() - _BEFORE_SAYING) : found.start()])
    )


def _has_no_tense(texts: tuple[str, ...]) -> bool:
    return all(words(key).isdisjoint(texts) for key in ("present", "past", "self_subjects"))


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
            is_speech=_opens_speech(one, text),
        )


def _opens_speech(one: ClauseReading, text: str) -> bool:
    """Return whether a clause ends with what somebody else says: "my wife, she said to me,"."""
    matched = one.matched
    if text.rstrip()[-1:] not in _SPEECH_MARKS or not is_of_others(matched.texts):
        return False
    return any(
        hit.cue == "modality.reported" and hit.last >= len(matched.texts) - _SPEECH_WORDS
        for hit in matched.hits
    )
