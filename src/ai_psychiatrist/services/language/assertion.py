"""What one clause says of each concept: stated, denied, another's, supposed, or unclear.

In the terms of ConText (Harkema et al. 2009): a trigger has a scope in the clause, and decides
whether a finding in it is negated, hypothetical, or experienced by somebody else.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Final

from ai_psychiatrist.services.language.matcher import Hit, Matcher
from ai_psychiatrist.services.language.spoken import Spoken, spoken
from ai_psychiatrist.services.language.vocabulary import concept_tables, lists, word_table

_SCOPE: Final = 8
"""How many words before a finding its negator stands at most."""
_NEAR_SCOPE: Final = 5
"""And what else governs it."""
_AFTER: Final = 2
"""How many words after a finding its denial may begin."""
_TENSE_REACH: Final = 7
_SUPPOSED_SCOPE: Final = 12
_QUALITY_AFTER: Final = 8
_QUALITY_BEFORE: Final = 3
_ADVERB_AFTER: Final = 3
_CONCORD: Final = frozenset("no none nothing nobody any neither nor hardly never".split())
_HAVING: Final = frozenset("have havent hasnt hadnt got get had any without much".split())
_CARRIERS: Final = frozenset(
    "think feel say saying said believe know call mean suppose reckon find notice noticed that when"
    " where how why what as because until time imagine remember".split()
)
_SELF_SUBJECTS: Final = frozenset({"i", "im", "ive", "i'd", "i'll"})
_SUPPOSING: Final = frozenset({("if",), ("suppose",), ("imagine",), ("say",)})
_PERFECT: Final = frozenset("ive have has havent hasnt weve not".split())
_POSSESSIVES: Final = frozenset("he hes his she shes her their they theyre".split())
_LINKS: Final = frozenset({"and", "but", "then", "plus", "so", "because", "though", "although"})
_CONTINUING: Final = frozenset({"or", "nor"})


class Status(StrEnum):
    """What is said of a concept."""

    AFFIRMED = "affirmed"
    DENIED = "denied"
    OTHER = "other"
    """It is somebody else's."""
    SUPPOSED = "supposed"
    """It is wished for, feared, or might be."""
    UNCLEAR = "unclear"


class Strength(StrEnum):
    """What a reading stands on, the surest first."""

    STATED = "stated"
    """Words that say it by themselves."""
    INFERRED = "inferred"
    """A doing or a subject, and what is said of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What a clause says of a concept; `start` and `end` are characters of the clause."""

    concept: str
    status: Status
    strength: Strength
    start: int
    end: int
    is_past_tense: bool
    """Whether the verb that governs it is in the simple past."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClauseReading:
    """One clause as it was read."""

    words: Spoken
    hits: tuple[Hit, ...]
    findings: tuple[Finding, ...]
    is_supposed: bool
    """Whether it opens with a supposition, which may go on in the next clause."""
    experiencer: Status | None
    """`OTHER` or `AFFIRMED` (the speaker) as the last person named in it, `None` where nobody is."""

    def spanned(self, found: Finding) -> int:
        """Return over how many words a finding goes."""
        return sum(found.start <= start < found.end for start, _ in self.words.spans)


def read_clause(text: str, *, is_others: bool = False, is_supposed: bool = False) -> ClauseReading:
    """Read one clause.

    `is_others`: whether what stood before it was about somebody else; `is_supposed`: whether it was
    supposed.
    """
    words = spoken(text)
    hits = matcher().find(words)
    walk = _Clause(
        words=words,
        hits=hits,
        is_question=_asks(text),
        is_others=is_others,
        is_supposed=is_supposed,
    )
    return ClauseReading(
        words=words,
        hits=hits,
        findings=tuple(walk.findings()),
        is_supposed=words.texts[:1] in _SUPPOSING or words.texts[:2] == ("what", "if"),
        experiencer=walk.experiencer(len(words.texts)),
    )


def is_instruction(text: str) -> bool:
    """Return whether a text tells a reader or a program what to do with it."""
    return any(hit.cue == "instruction.to_reader" for hit in matcher().find(spoken(text)))


@cache
def matcher() -> Matcher:
    """Return the phrases of all tables."""
    tables: dict[str, list[str]] = {}
    for section in ("cues", "modality", "quality"):
        subject = section.removesuffix("s")
        for key, entries in word_table("assertion", section).items():
            tables[f"{subject}.{key}"] = entries
    for concept, table in concept_tables().items():
        for key in ("symptom", "well", "function", "topic", "look_alike"):
            tables[f"{concept}.{key}"] = table.get(key, [])
        for key in ("asks_symptom", "asks_well", "asks_open"):
            tables[f"{concept}?.{key}"] = table.get(key, [])
    tables["instruction.to_reader"] = word_table("assertion", "instructions")["to_reader"]
    answers = word_table("assertion", "answers")
    tables |= {f"{key}.opening": answers[key] for key in ("ask", "tag", "suppose")}
    tables |= {f"answer.{key}": answers[key] for key in ("yes", "no", "taken_up")}
    return Matcher(tables, lists())


@cache
def _persons(key: str) -> frozenset[str]:
    return frozenset(word_table("assertion", "persons")[key])


def is_of_concept(hit: Hit) -> bool:
    """Whether a phrase says something of a concept."""
    return (
        hit.cue.startswith("PHQ8_") and not hit.cue.endswith(".look_alike") and "?" not in hit.cue
    )


def _is_other(word: str) -> bool:
    return word in _persons("other") or (word[-1:] == "s" and word[:-1] in _persons("other"))


def _asks(text: str) -> bool:
    return text.rstrip(" \t\r\n\"'”’)").endswith("?")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Clause:
    words: Spoken
    hits: tuple[Hit, ...]
    is_question: bool
    is_others: bool
    is_supposed: bool

    def findings(self) -> Iterator[Finding]:
        for hit in self.hits:
            if not is_of_concept(hit):
                continue
            concept, _, kind = hit.cue.partition(".")
            if kind in {"function", "topic"} and self._is_part_of_another(concept, hit):
                continue
            yield self._read(concept, kind, hit)

    def _is_part_of_another(self, concept: str, hit: Hit) -> bool:
        """Whether a longer phrase of another concept holds this one: "enjoy my food"."""
        return any(
            other.first <= hit.first
            and hit.last <= other.last
            and other.last - other.first > hit.last - hit.first
            and is_of_concept(other)
            and not other.cue.startswith(f"{concept}.")
            for other in self.hits
        )

    def experiencer(self, before: int) -> Status | None:
        """Return whose matter it is by the nearest person before a word."""
        texts = self.words.texts
        is_own = False
        for at in range(min(before, len(texts)) - 1, -1, -1):
            word = texts[at]
            if word == "i" and at and _is_other(texts[at - 1]):
                # "The lad I sponsor".
                return Status.OTHER
            if word in _SELF_SUBJECTS or word in {"myself", "we", "weve", "mine"}:
                return Status.AFFIRMED
            if word in {"me", "us"} and texts[max(0, at - 1)] in _persons("self_makers"):
                return Status.AFFIRMED
            if word in _persons("self"):
                is_own = True
            elif _is_other(word):
                return Status.OTHER
            elif word in _persons("generic"):
                return Status.UNCLEAR
        return Status.AFFIRMED if is_own else None

    def _has_strange_subject(self, hit: Hit) -> bool:
        """Whether a thing or a person without a known name is what a phrase speaks of."""
        texts = self.words.texts
        if not _SELF_SUBJECTS.isdisjoint(texts) or "me" in texts or "myself" in texts:
            return False
        before = texts[: hit.first]
        if "my" in before:
            at = len(before) - 1 - before[::-1].index("my")
            noun = texts[at + 1 : at + 4]
            return at + 1 < hit.first and _persons("own").isdisjoint(noun)
        return not _persons("bare").issuperset(before)

    def _read(self, concept: str, kind: str, hit: Hit) -> Finding:
        value, strength, last = self._value(concept, kind, hit)
        status = Status.UNCLEAR
        if value is not None:
            status = Status.AFFIRMED if value else Status.DENIED
        if value and kind == "function" and not self._is_general(concept, hit):
            status = Status.UNCLEAR
        status = self._qualified(status, hit)
        start, end = self.words.spans[hit.first][0], self.words.spans[max(last, hit.last)][1]
        return Finding(
            concept=concept,
            status=status,
            strength=strength,
            start=start,
            end=end,
            is_past_tense=self._is_past_tense(hit),
        )

    def _is_general(self, concept: str, hit: Hit) -> bool:
        """Whether what cannot be done is not one thing alone, which the speaker may dislike."""
        objects = concept_tables()[concept].get("objects")
        if objects is None or hit.last + 1 >= len(self.words.texts):
            return True
        return not {self.words.texts[at] for at in (hit.last, hit.last + 1)}.isdisjoint(objects)

    def _is_past_tense(self, hit: Hit) -> bool:
        """Return whether the nearest verb that shows a tense shows the simple past."""
        texts = self.words.texts
        for at in range(hit.first, max(-1, hit.first - _TENSE_REACH), -1):
            if texts[at] in _persons("present"):
                return False
            if texts[at] in _persons("past"):
                return not (at and texts[at - 1] in _PERFECT)
        return False

    def _value(self, concept: str, kind: str, hit: Hit) -> tuple[bool | None, Strength, int]:
        """Return whether the symptom is there by what governs a phrase, and its last word."""
        quality = self._quality(hit, kind) if kind in {"function", "topic"} else None
        triggers = self._triggers(hit, concept)
        last = hit.last
        match kind:
            case "symptom":
                value: bool | None = True
            case "well":
                value = False
            case _ if quality is not None:
                value, last = quality
            case _:
                value = None
        is_governed = False
        concord = ""
        for trigger in triggers:
            name = trigger.cue.partition(".")[2]
            word = self.words.texts[trigger.first]
            match name:
                case "negator":
                    if concord in _CONCORD and concord:
                        concord = ""
                        continue
                    if value is None and kind == "topic" and not self._has_none(trigger, hit):
                        return None, Strength.INFERRED, last
                    if value is None:
                        value = True
                    else:
                        value = not value
                    concord, is_governed = word, True
                case "inability":
                    if kind == "symptom":
                        return None, Strength.INFERRED, last
                    value, is_governed = True if value in {None, False} else not value, True
                case "loss":
                    value = (kind != "symptom") if value in {None, False, True} else value
                    is_governed = True
                case "obstacle":
                    if kind != "symptom":
                        value, is_governed = True, True
                case "ability":
                    if value is None and kind == "function":
                        value, is_governed = False, True
        is_stated = kind in {"symptom", "well"}
        return value, Strength.STATED if is_stated else Strength.INFERRED, last

    def _has_none(self, trigger: Hit, hit: Hit) -> bool:
        """Whether a negator says that there is none of a thing: "no energy", "haven't the energy"."""
        texts = self.words.texts
        if texts[trigger.first] in _CONCORD:
            return True
        between = texts[trigger.first : hit.first]
        return not _HAVING.isdisjoint(between)

    def _triggers(self, hit: Hit, concept: str) -> Iterator[Hit]:
        """Yield the cues that govern a phrase, the nearest first."""
        until = hit.first
        for cue in reversed(self.hits):
            if not cue.cue.startswith("cue.") or cue.last >= until or self._is_answer(cue):
                continue
            near = _SCOPE if cue.cue == "cue.negator" else _NEAR_SCOPE
            if hit.first - cue.last > near or self._is_cut(cue, hit, concept):
                return
            yield cue
            until = cue.first

    def _is_answer(self, cue: Hit) -> bool:
        """Whether a "no" answers something and negates nothing."""
        texts, after = self.words.texts, cue.last + 1
        if texts[cue.first] not in {"no", "never", "none", "nothing"} or cue.last != cue.first:
            return False
        if after >= len(texts) or after in self.words.after_comma:
            return True
        return texts[cue.first] == "no" and texts[after] in _persons("after_no")

    def _is_cut(self, cue: Hit, hit: Hit, concept: str) -> bool:
        """Whether what a cue governs ends before a phrase."""
        texts = self.words.texts
        between = range(cue.last + 1, hit.first)
        reached = any(
            other.first in between
            for other in self.hits
            if is_of_concept(other) or other.cue.startswith("quality.")
        )
        for at in between:
            word = texts[at]
            if word in _SELF_SUBJECTS and at > cue.last + 1:
                if _CARRIERS.isdisjoint(texts[cue.first : at]):
                    return True
            if word in _CONTINUING:
                continue
            is_comma = at in self.words.after_comma
            if (word in _LINKS or is_comma) and reached:
                return True
            if word == "but":
                return True
        if hit.first in self.words.after_comma and reached:
            return texts[hit.first] not in _CONTINUING
        return False

    def _quality(self, hit: Hit, kind: str) -> tuple[bool, int] | None:
        """Return whether the word that says how it is says: bad; and its place."""
        best: tuple[int, bool, int] | None = None
        for other in self.hits:
            if other.cue not in {"quality.good", "quality.bad"}:
                continue
            after, before = other.first - hit.last, hit.first - other.last
            if 0 < after <= (_QUALITY_AFTER if kind == "topic" else _ADVERB_AFTER):
                if kind == "function" and self._is_apart(hit, other):
                    continue
                distance = after
            elif 0 < before <= _QUALITY_BEFORE:
                distance = before
            else:
                continue
            if self._is_others_quality(hit, other):
                continue
            value = other.cue == "quality.bad"
            if after > 0:
                flips = sum(
                    cue.cue in {"cue.negator", "cue.loss"} and hit.last < cue.first < other.first
                    for cue in self.hits
                )
                value = value if flips % 2 == 0 else not value
            if best is None or distance < best[0]:
                best = (distance, value, max(other.last, hit.last))
        return None if best is None else best[1:]

    def _is_apart(self, hit: Hit, quality: Hit) -> bool:
        """Whether a comma or another verb parts a doing from the word that says how it is."""
        between = range(hit.last + 1, quality.first + 1)
        return not self.words.after_comma.isdisjoint(between) or any(
            self.words.texts[at] in {"is", "was", "thats", "its", "im", "i", "how"}
            for at in between
        )

    def _is_others_quality(self, hit: Hit, quality: Hit) -> bool:
        """Whether another subject stands between a phrase and the word that says how it is."""
        low, high = min(hit.last, quality.last) + 1, max(hit.first, quality.first)
        return any(
            self.words.texts[at] in {"and", "but", "because", "so"}
            or self.words.texts[at] in _SELF_SUBJECTS
            for at in range(low, high)
        )

    def _qualified(self, status: Status, hit: Hit) -> Status:
        """Return the status with whose it is, and whether it is so."""
        if any(word in _POSSESSIVES for word in self.words.texts[hit.first : hit.first + 2]):
            return Status.OTHER
        owner = self.experiencer(hit.first)
        if owner is None and hit.first == 0 and self.is_others:
            owner = Status.OTHER
        if owner is Status.OTHER:
            return Status.OTHER
        if owner is Status.UNCLEAR or self.is_question or self._is_reported(hit):
            return Status.UNCLEAR
        if self._has_strange_subject(hit):
            return Status.UNCLEAR
        if self._is_supposed(hit) or (self.is_supposed and self.words.texts[0] in _LINKS):
            return Status.SUPPOSED
        if any(
            other.cue == "modality.denied_after" and 0 < other.first - hit.last <= _AFTER
            for other in self.hits
        ):
            return Status.DENIED
        near = {
            other.cue
            for other in self.hits
            if other.first - hit.last <= _SCOPE and hit.first - other.last <= _SCOPE
        }
        if "modality.retraction" in near:
            return Status.DENIED
        if not near.isdisjoint({"modality.mixed", "modality.doubt"}):
            return Status.UNCLEAR
        return status

    def _is_reported(self, hit: Hit) -> bool:
        texts = self.words.texts
        for cue in self.hits:
            if cue.cue != "modality.reported" or cue.last >= hit.first:
                continue
            before = texts[max(0, cue.first - 3) : cue.first]
            if any(word in _persons("other") or word in _persons("generic") for word in before):
                return True
        return False

    def _is_supposed(self, hit: Hit) -> bool:
        not_supposed = {
            at
            for cue in self.hits
            if cue.cue == "modality.not_supposed"
            for at in range(cue.first, cue.last + 1)
        }
        return any(
            cue.cue == "modality.supposed"
            and cue.first not in not_supposed
            and cue.last < hit.first
            and hit.first - cue.last <= _SUPPOSED_SCOPE
            for cue in self.hits
        )


def strongest(findings: Sequence[Finding]) -> Finding:
    """Return the one that stands on most."""
    return min(findings, key=lambda found: found.strength is not Strength.STATED)
