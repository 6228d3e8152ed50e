"""One clause read from left to right: which of its words affirm a symptom, and which deny one."""

from dataclasses import dataclass, field
from typing import Final

from ai_psychiatrist.domain.evidence import Polarity
from ai_psychiatrist.services.cues.cue import NEGATORS, VALENCES, VERDICTS, Cue, Vote
from ai_psychiatrist.services.cues.lexicon import Hit, Words, hits_of, word_set, words_of
from ai_psychiatrist.services.cues.person import others_words
from ai_psychiatrist.services.cues.remembered import remembered
from ai_psychiatrist.services.cues.scope import Scope

_REACH: Final = 5
"""How many words ahead "lost", "lack of" or "would" govern."""


_CUES: Final = {cue.value: cue for cue in Cue}
_COMPARED: Final = frozenset({"no more", "no less", "no worse"})
_BARE_ANSWERS: Final = frozenset({"no", "never", "none", "not at all", "not really", "not once"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What a clause says."""

    votes: tuple[Vote, ...]
    has_open_negation: bool
    """Whether something is negated of which nothing is known, or only supposed."""
    is_doubtful: bool
    """Whether it hedges or supposes, or is about somebody else."""
    is_english: bool


@remembered(512)
def read_clause(text: str) -> Reading:
    """Read one clause."""
    words = words_of(text)
    others = others_words(words.texts)
    walk = _Walk(words=words, others=others, is_doubtful=_is_about_others(words, others))
    for hit in hits_of(text, "polarity"):
        walk.take(hit)
    walk.finish()
    english, foreign = word_set("answers", "english"), word_set("answers", "foreign")
    return Reading(
        votes=tuple(walk.votes),
        has_open_negation=walk.is_open,
        is_doubtful=walk.is_doubtful,
        is_english=(
            not english.isdisjoint(words.texts) and len(foreign.intersection(words.texts)) < 2
        ),
    )


def _is_about_others(words: Words, others: range) -> bool:
    if not others:
        return False
    return others.stop == len(words.texts) and "my" not in words.texts[others.start :]


@dataclass(slots=True, kw_only=True)
class _Walk:
    words: Words
    others: range
    """The words that speak of somebody else."""
    is_doubtful: bool
    votes: list[Vote] = field(default_factory=list)
    is_open: bool = False
    _minimiser: Hit | None = None
    _scope: Scope | None = None
    _governors: dict[Cue, Hit] = field(default_factory=dict)
    """The last "lost", "can" and "would", which govern a few words ahead."""
    _is_governed: bool = False
    """Whether "trouble", "too tired to" or "the point of" governs what follows."""
    _is_hypothetical: bool = False
    _is_unreal_throughout: bool = False
    """Whether "would" or "might" makes the other half of an "if" a supposition too."""

    def take(self, hit: Hit) -> None:
        cue = _CUES[hit.cue]
        if cue in NEGATORS:
            self._negate(cue, hit)
        elif cue in VALENCES:
            self._weigh(cue, hit)
        elif cue in VERDICTS:
            self._pronounce(cue, hit)
        else:
            self._note(cue, hit)

    def close(self) -> None:
        """End the scope that is open, if any."""
        scope, self._scope = self._scope, None
        if scope is None or scope.has_valence:
            return
        if scope.functions:
            value = Polarity.AFFIRMED if scope.is_negated else Polarity.DENIED
            for hit in scope.functions:
                self._vote(hit, value)
        elif scope.hit.text in _COMPARED and "than" in self.words.texts[scope.hit.last :]:
            self._vote(scope.hit, Polarity.DENIED)
        elif scope.kind is Cue.INABILITY and scope.is_negated and not self._is_hypothetical:
            self._vote(scope.hit, Polarity.AFFIRMED)
        else:
            self.is_open = True

    def finish(self) -> None:
        """End the clause."""
        self.close()
        if self._minimiser is not None and not self.votes:
            self._vote(self._minimiser, Polarity.DENIED)

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
        is_possible = scope is None and self._is_within(Cue.UNCERTAIN, hit, _REACH)
        self._vote(hit, Polarity.UNCLEAR if is_partial or is_possible else value)
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
        lost = self._governors.pop(Cue.LOSS, None)
        if lost is not None and is_lost and self._next_word(hit) == "or":
            self._governors[Cue.LOSS] = hit
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
            case Cue.SUBJECT | Cue.CONTRAST:
                self._is_governed = False
                if self._scope is not None and self._scope.is_ended_by(hit, self.words):
                    self.close()
            case Cue.LINK:
                self._link(hit)
            case Cue.UNIVERSAL:
                self._limit()
            case Cue.ANSWER_NO:
                self.is_open = True
            case Cue.HEDGE:
                self.is_open = self.is_doubtful = True
            case Cue.HYPOTHETICAL:
                self._suppose(hit)
            case _:
                self._governors[cue] = hit

    def _pronounce(self, cue: Cue, hit: Hit) -> None:
        """Take in a phrase that says by itself how it is."""
        match cue:
            case Cue.MINIMISER:
                self._minimiser = hit
            case Cue.RETRACTION:
                self.votes = []
                self._vote(hit, Polarity.DENIED)
            case Cue.AFFIRMED:
                self._lament(hit)
            case Cue.DENIED:
                self._vote(hit, Polarity.DENIED)
            case Cue.EXCEPTION if self._scope is not None:
                return
            case _:
                self._vote(hit, Polarity.UNCLEAR)

    def _lament(self, hit: Hit) -> None:
        """Take in "can't cope", which "it's not that I can't cope" denies."""
        scope, value = self._scope, Polarity.AFFIRMED
        if scope is not None and scope.reached is None and not scope.functions:
            value = Polarity.DENIED if scope.is_negated else value
            scope.reach(Cue.SYMPTOM)
        self._vote(hit, value)
        self._is_governed = True

    def _suppose(self, hit: Hit) -> None:
        modals, texts = word_set("conditional", "modals"), self.words.texts
        self._is_hypothetical = self.is_doubtful = True
        self._is_unreal_throughout = not modals.isdisjoint(texts[hit.last + 1 :])
        if not modals.isdisjoint(texts[: hit.first]):
            self.votes = []

    def _link(self, hit: Hit) -> None:
        self._is_governed = False
        if hit.text in {",", "then"} and not self._is_unreal_throughout:
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
        if hit.first in self.others:
            polarity = Polarity.UNCLEAR
        self.votes.append(Vote(start=hit.start, end=hit.end, polarity=polarity))

    def _next_word(self, hit: Hit) -> str | None:
        after = hit.last + 1
        return self.words.texts[after] if after < len(self.words.texts) else None


def _inverse(polarity: Polarity) -> Polarity:
    return Polarity.AFFIRMED if polarity is Polarity.DENIED else Polarity.DENIED
