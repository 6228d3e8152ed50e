"""One clause read from left to right: which of its words affirm a symptom, and which deny one."""

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from ai_psychiatrist.domain.evidence import Polarity
from ai_psychiatrist.services.cues.cue import NEGATORS, VALENCES, Cue, Vote
from ai_psychiatrist.services.cues.lexicon import Hit, Words, hits_of, word_set, words_of
from ai_psychiatrist.services.cues.scope import Scope

_REACH: Final = 5
"""How many words ahead "lost", "lack of" or "would" govern."""


_BARE_ANSWERS: Final = frozenset({"no", "never", "none", "not at all", "not really", "not once"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What a clause says."""

    votes: tuple[Vote, ...]
    has_open_negation: bool
    """Whether something is negated of which nothing is known, or only supposed."""
    is_english: bool


@lru_cache(maxsize=512)
def read_clause(text: str) -> Reading:
    """Read one clause."""
    words = words_of(text)
    walk = _Walk(words=words)
    for hit in hits_of(text, "polarity"):
        walk.take(hit)
    walk.close()
    english = word_set("answers", "english")
    return Reading(
        votes=tuple(walk.votes),
        has_open_negation=walk.is_open,
        is_english=not english.isdisjoint(words.texts),
    )


@dataclass(slots=True, kw_only=True)
class _Walk:
    words: Words
    votes: list[Vote] = field(default_factory=list)
    is_open: bool = False
    _scope: Scope | None = None
    _governors: dict[Cue, Hit] = field(default_factory=dict)
    """The last "lost", "can" and "would", which govern a few words ahead."""
    _is_governed: bool = False
    """Whether an obstacle ("trouble", "too tired to") governs what follows."""
    _is_hypothetical: bool = False

    def take(self, hit: Hit) -> None:
        cue = Cue(hit.cue)
        if cue in NEGATORS:
            self._negate(cue, hit)
        elif cue in VALENCES:
            self._weigh(cue, hit)
        else:
            self._note(cue, hit)

    def close(self) -> None:
        """End the scope that is open, if any."""
        scope, self._scope = self._scope, None
        if scope is None or scope.has_valence:
            return
        if scope.functions and scope.is_negated:
            for hit in scope.functions:
                self._vote(hit, Polarity.AFFIRMED)
        elif scope.kind is Cue.INABILITY and scope.is_negated and not self._is_hypothetical:
            self._vote(scope.hit, Polarity.AFFIRMED)
        else:
            self.is_open = True

    def _negate(self, cue: Cue, hit: Hit) -> None:
        if self._is_answer(hit):
            self.is_open = True
            return
        scope = self._scope
        if scope is not None and hit.text == "without":
            # "I can't get through a day without crying" takes the second negation back.
            self.close()
            return
        if scope is None or scope.reached is not None:
            self.close()
            self._scope = Scope(kind=cue, hit=hit)
            return
        scope.negate_again(cue, hit, self.words)

    def _is_answer(self, hit: Hit) -> bool:
        if hit.text not in _BARE_ANSWERS:
            return False
        after = hit.last + 1
        if after == len(self.words.texts):
            return self._scope is None
        following = self.words.texts[after]
        if hit.text == "never" and following == "not":
            return False
        return following in word_set("answers", "after") and not (
            self._scope is not None and following == ","
        )

    def _weigh(self, cue: Cue, hit: Hit) -> None:
        if self._is_hypothetical:
            self.is_open = True
            return
        if self._is_governed and (cue is not Cue.SYMPTOM or self._scope is not None):
            return
        if self._is_discourse(hit):
            return
        scope = self._scope
        if scope is not None and scope.is_left_by(cue):
            self.close()
            scope = None
        value = self._valence(cue, hit)
        if value is None:
            if scope is not None and cue is Cue.FUNCTION:
                scope.functions.append(hit)
                scope.reached = cue
            return
        if scope is not None:
            scope.reach(cue)
            if scope.is_negated:
                value = _inverse(value)
                if cue is Cue.EXCESS:
                    value = Polarity.AFFIRMED
        is_partial = scope is not None and scope.is_partial
        self._vote(hit, Polarity.UNCLEAR if is_partial else value)
        self._is_governed = cue is Cue.OBSTACLE or self._next_word(hit) == "to"

    def _is_discourse(self, hit: Hit) -> bool:
        """Whether it is the "well" or "okay" that only opens a statement."""
        texts = self.words.texts
        before, following = texts[: hit.first][-1:], self._next_word(hit)
        return (
            hit.text in {"well", "okay", "ok", "alright", "good"}
            and following in word_set("answers", "after")
            and (hit.text == "well" or following != ",")
            and word_set("answers", "openings").issuperset(before)
        )

    def _valence(self, cue: Cue, hit: Hit) -> Polarity | None:
        is_lost = self._is_within(Cue.LOSS, hit, _REACH)
        is_able = self._is_within(Cue.ABILITY, hit, 2)
        self._governors.pop(Cue.LOSS, None)
        if is_lost:
            return Polarity.DENIED if cue is Cue.SYMPTOM else Polarity.AFFIRMED
        if cue is Cue.FUNCTION:
            return Polarity.DENIED if is_able else None
        if cue is not Cue.WELL:
            return Polarity.AFFIRMED
        if self._scope is None and self._is_within(Cue.UNREAL, hit, _REACH):
            self.is_open = True
            return None
        return Polarity.DENIED

    def _is_within(self, governor: Cue, hit: Hit, reach: int) -> bool:
        found = self._governors.get(governor)
        return found is not None and hit.first - found.last <= reach

    def _note(self, cue: Cue, hit: Hit) -> None:
        match cue:
            case Cue.AFFIRMED | Cue.DENIED:
                self._vote(hit, Polarity(cue.value))
            case Cue.SUBJECT | Cue.CONTRAST:
                self._is_governed = False
                if self._scope is not None and self._scope.is_ended_by(hit, self.words):
                    self.close()
            case Cue.LINK:
                self._link(hit)
            case Cue.UNIVERSAL:
                self._limit()
            case Cue.HEDGE | Cue.ANSWER_NO:
                self.is_open = True
            case Cue.HYPOTHETICAL:
                self._is_hypothetical = True
            case _:
                self._governors[cue] = hit

    def _link(self, hit: Hit) -> None:
        self._is_governed = False
        if hit.text in {",", "then"}:
            self._is_hypothetical = False
        if self._scope is not None and self._scope.reached is not None:
            self._scope.is_linked = True

    def _limit(self) -> None:
        scope = self._scope
        if scope is None or scope.kind is not Cue.NEGATOR or scope.is_linked:
            return
        scope.is_partial = True
        self.votes = [
            Vote(start=vote.start, end=vote.end, polarity=Polarity.UNCLEAR)
            if vote.start > scope.hit.start
            else vote
            for vote in self.votes
        ]

    def _vote(self, hit: Hit, polarity: Polarity) -> None:
        self.votes.append(Vote(start=hit.start, end=hit.end, polarity=polarity))

    def _next_word(self, hit: Hit) -> str | None:
        after = hit.last + 1
        return self.words.texts[after] if after < len(self.words.texts) else None


def _inverse(polarity: Polarity) -> Polarity:
    return Polarity.AFFIRMED if polarity is Polarity.DENIED else Polarity.DENIED
