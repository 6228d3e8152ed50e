"""The clauses of a turn, each read after those before it, and what one adds to another."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from ai_psychiatrist.domain.evidence import Frequency, Polarity
from ai_psychiatrist.services.language.assertion import START, Before, ClauseReading, read_clause
from ai_psychiatrist.services.language.clauses import Clause, clauses_of
from ai_psychiatrist.services.language.concepts import Status
from ai_psychiatrist.services.language.experiencer import is_of_others
from ai_psychiatrist.services.language.frequency import (
    counted_days,
    is_that_often,
    occurrences_in,
    says_only_how_often,
    says_that_often,
)
from ai_psychiatrist.services.language.vocabulary import words

BARE_WORDS: Final = 4
"""Up to how many words an answer may be a bare word and its like."""
POLARITIES: Final = {Status.AFFIRMED: Polarity.AFFIRMED, Status.DENIED: Polarity.DENIED}
"""What is said of a concept, for the two that say whether it is there."""
_OPPOSITE: Final = {Status.DENIED: "quality.bad", Status.AFFIRMED: "quality.good"}
_STATE_WORDS: Final = 6
"""How many words may name a state alone: "low now and again"."""
_NO_STATE: Final = frozenset({"cue.negator", "cue.inability", "quality.good", "answer.no"})
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
    span: str = ""
    """Of which days its question asks."""

    def continues_past(self, at: int) -> bool:
        """Return whether a clause without a verb continues one in the past tense.

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

    def end(self, at: int, status: Status) -> int:
        """Return where a clause ends, with the next one if that only says how often it is."""
        return self.clauses[at + self._added(at, status)].end

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
        added_count = self._added(at, status)
        if not added_count:
            return Frequency.UNSTATED
        added = self.text(at + added_count)
        told = occurrences_in(added)
        if told:
            return told[0].frequency(polarity)
        return counted_days(added, self.span) or Frequency.UNSTATED

    def _added(self, at: int, status: Status) -> int:
        """Return how many of the next clauses say nothing but how often this is.

        Of two, the second corrects the first: "not always, but most days".
        """
        if not self._is_added(at + 1, status):
            return 0
        is_corrected = self._is_added(at + 2, status)
        return 2 if is_corrected and self.readings[at + 2].matched.texts[:1] == ("but",) else 1

    def _is_added(self, at: int, status: Status) -> bool:
        if at >= len(self.clauses) or not says_only_how_often(self.text(at), self.span):
            return False
        # "Not too bad. A bit low now and again" says how often it is otherwise.
        hits = self.readings[at].matched.hits
        opposite = next((hit.first for hit in hits if hit.cue == _OPPOSITE.get(status)), None)
        # ... and "I sleep fine, that's never been a problem" does not.
        return opposite is None or any(
            hit.cue == "cue.negator" and hit.first < opposite for hit in hits
        )

    def correction(self, at: int, concept: str) -> int | None:
        """Return the clause that says what is there in place of what a short one denies.

        "Not sad. Empty. Several days." Only a stated frequency shows that it is there.
        """
        if len(self.readings[at].matched.texts) > BARE_WORDS:
            return None
        after = at + 1
        if self._is_state(after, concept) and says_that_often(self.text(after)):
            is_told = any(
                hit.cue == "quality.bad" for hit in self.readings[after].matched.hits
            ) or any(found.concept == concept for found in self.readings[after].findings)
            return after if is_told else None
        is_named = self._is_state(after, concept) and after + 1 < len(self.clauses)
        return after if is_named and is_that_often(self.text(after + 1)) else None

    def _is_state(self, at: int, concept: str) -> bool:
        """Whether a clause is a few words that affirm something, and nothing of another concept."""
        if at >= len(self.clauses):
            return False
        one = self.readings[at]
        is_fragment = len(one.matched.texts) <= _STATE_WORDS and _has_no_tense(one.matched.texts)
        is_other = any(
            found.concept != concept or found.status is not Status.AFFIRMED
            for found in one.findings
        )
        kinds = {hit.cue for hit in one.matched.hits}
        return is_fragment and not is_other and kinds.isdisjoint(_NO_STATE)


def turn_clauses(turn: str, span: str = "") -> TurnClauses:
    """Read the clauses of a turn. `span`: of which days its question asks."""
    clauses = tuple(one for one in clauses_of(turn) if turn[one.start : one.end].strip())
    texts = [turn[one.start : one.end] for one in clauses]
    readings = tuple(_readings(texts))
    return TurnClauses(
        turn=turn, clauses=clauses, readings=readings, quoted=_quotations(turn), span=span
    )


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
            is_hypothetical=one.is_hypothetical and not is_end,
            is_speech=_opens_speech(one, text),
        )


def _opens_speech(one: ClauseReading, text: str) -> bool:
    """Return whether a clause introduces another person's words: "my wife, she said to me,"."""
    matched = one.matched
    if text.rstrip()[-1:] not in _SPEECH_MARKS or not is_of_others(matched.texts):
        return False
    return any(
        hit.cue == "modality.reported" and hit.last >= len(matched.texts) - _SPEECH_WORDS
        for hit in matched.hits
    )
