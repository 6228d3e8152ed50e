"""The stretch of a clause that a negator governs, and where it ends."""

from dataclasses import dataclass, field
from typing import Final

from ai_psychiatrist.services.cues.cue import Cue
from ai_psychiatrist.services.cues.lexicon import Hit, Words, word_set

_FIRST_PERSON: Final = frozenset({"i", "im", "ive"})


@dataclass(slots=True, kw_only=True)
class Scope:
    """The stretch that a negator governs, as far as the clause has been read."""

    kind: Cue
    hit: Hit
    is_negated: bool = True
    functions: list[Hit] = field(default_factory=list)
    reached: Cue | None = None
    """The last valence that was negated."""
    has_valence: bool = False
    is_linked: bool = False
    """Whether "and" or a comma came after the last valence."""
    is_partial: bool = False
    """Whether it is "not always" rather than "not"."""

    def negate_again(self, cue: Cue, hit: Hit, words: Words) -> None:
        """Take in a second negator: "don't have no energy" negates once, "never not" twice."""
        is_concord = cue in {Cue.DETERMINER, Cue.WEAK_NEGATOR}
        is_restart = hit.text == self.hit.text or self._is_false_start(hit, words)
        if not is_concord and not is_restart:
            self.is_negated = not self.is_negated

    def _is_false_start(self, hit: Hit, words: Words) -> bool:
        if self.hit.first != self.hit.last:
            return False
        between = words.texts[self.hit.last + 1 : hit.first]
        return 0 < len(between) <= 3 and word_set("answers", "fillers").issuperset(between)

    def is_left_by(self, cue: Cue) -> bool:
        """Whether a valence stands outside this negation, which has reached another one."""
        if self.reached is None or cue is self.reached:
            return False
        if self.is_linked:
            return True
        return self.kind is Cue.INABILITY and self.reached is Cue.FUNCTION and cue is Cue.SYMPTOM

    def is_ended_by(self, subject: Hit, words: Words) -> bool:
        """Whether a new subject, or "just", stands outside this negation."""
        if self.reached is not None:
            return True
        between = words.texts[self.hit.last + 1 : subject.first]
        carriers = word_set("answers", "carriers")
        return subject.text in _FIRST_PERSON and bool(between) and carriers.isdisjoint(between)

    def reach(self, cue: Cue) -> None:
        """Note that a valence stands inside this negation."""
        self.reached, self.is_linked, self.has_valence = cue, False, True
