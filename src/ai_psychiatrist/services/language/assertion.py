"""What a clause asserts of each concept: affirmed, negated, hypothetical, or of another person.

In the terms of ConText (Harkema et al. 2009): whether a finding is negated (`negation`), who its
experiencer is (`experiencer`), and whether it is hypothetical. What only names a concept is read by
the word that says how it is.
"""

from dataclasses import dataclass
from typing import Final

from ai_psychiatrist.services.language.clauses import is_asked
from ai_psychiatrist.services.language.concepts import (
    Status,
    is_part_of_another,
    match_concepts,
    says_something,
)
from ai_psychiatrist.services.language.experiencer import (
    has_strange_subject,
    is_named_others,
    is_reported,
    last_person,
    may_be_own,
)
from ai_psychiatrist.services.language.memory import remembered
from ai_psychiatrist.services.language.negation import is_symptom_there
from ai_psychiatrist.services.language.phrases import Hit, MatchedText
from ai_psychiatrist.services.language.vocabulary import concept_tables, phrases, words


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What a clause says of a concept; `start` and `end` are characters of the clause."""

    concept: str
    status: Status
    is_stated: bool
    """Whether words say it by themselves, and it is not inferred from a doing or a subject."""
    start: int
    end: int
    is_past_tense: bool
    """Whether the verb that governs it is in the simple past."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClauseReading:
    """One clause as it was read."""

    matched: MatchedText
    findings: tuple[Finding, ...]
    is_hypothetical: bool
    """Whether it opens with a supposition, which may go on in the next clause."""
    experiencer: Status | None
    """The last person in it: `OTHER`, or `AFFIRMED` for the speaker; `None` where nobody is."""

    def spanned(self, found: Finding) -> int:
        """Return over how many words a finding goes."""
        return sum(found.start <= start < found.end for start, _ in self.matched.words.spans)


_SUPPOSED_SCOPE: Final = 12
"""How many words before a phrase what supposes it stands at most."""
_NEAR: Final = 8
"""And on either side what doubts it or takes it back."""
_AFTER: Final = 2
"""How many words after a phrase its denial may begin."""
_FUTURE: Final = frozenset({"will", "wont"})
_DOUBTING: Final = frozenset({"mixed", "doubt"})


def is_hypothetical(matched: MatchedText, hit: Hit) -> bool:
    """Return whether something before a phrase only supposes it."""
    cues = list(matched.among("modality"))
    plain = [cue for cue in cues if cue.kind == "not_supposed"]
    return any(
        cue.kind == "supposed"
        and cue.first < hit.first <= cue.last + _SUPPOSED_SCOPE
        and not any(one.first <= cue.first <= one.last for one in plain)
        and not _is_of_other_clause(matched, cue, hit)
        for cue in cues
    )


def _is_of_other_clause(matched: MatchedText, cue: Hit, hit: Hit) -> bool:
    """Return whether the speaker begins a statement after "will": "she won't settle, I'm lost"."""
    if matched.texts[cue.first] not in _FUTURE:
        return False
    own = words("self_subjects")
    return own.isdisjoint(matched.texts[: cue.first]) and not own.isdisjoint(
        matched.texts[cue.last + 1 : hit.first + 1]
    )


def with_modality(matched: MatchedText, hit: Hit, status: Status) -> Status:
    """Return a status with what the words about a phrase make of it."""
    cues = list(matched.among("modality"))
    if any(cue.kind == "denied_after" and 0 < cue.first - hit.last <= _AFTER for cue in cues):
        return Status.DENIED
    near = {
        cue.kind for cue in cues if cue.first - hit.last <= _NEAR and hit.first - cue.last <= _NEAR
    }
    if "retraction" in near:
        return Status.DENIED
    return status if near.isdisjoint(_DOUBTING) else Status.UNCLEAR


_AFTER_TOPIC: Final = 8
"""How many words after a subject such a word stands at most,"""
_AFTER_DOING: Final = 3
"""after a doing,"""
_BEFORE: Final = 3
"""and before either."""
_FLIPPING: Final = frozenset({"cue.negator", "cue.loss"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Quality:
    """How something is, and the last word that says so."""

    is_bad: bool
    last: int


def quality_of(matched: MatchedText, hit: Hit) -> Quality | None:
    """Return how a doing or a subject is by the nearest word that says so."""
    near = [
        (distance, other)
        for other in matched.among("quality")
        if (distance := _distance(matched, hit, other)) is not None
    ]
    if not near:
        return None
    _, nearest = min(near, key=lambda one: one[0])
    return Quality(is_bad=_is_bad(matched, hit, nearest), last=max(nearest.last, hit.last))


def _distance(matched: MatchedText, hit: Hit, quality: Hit) -> int | None:
    """Return how many words lie between, `None` where they do not belong together."""
    if quality.kind not in {"good", "bad"}:
        return None
    after, before = quality.first - hit.last, hit.first - quality.last
    is_doing = hit.kind == "function"
    if 0 < after <= (_AFTER_DOING if is_doing else _AFTER_TOPIC):
        if is_doing and _is_apart(matched, hit, quality):
            return None
        distance = after
    elif 0 < before <= _BEFORE:
        distance = before
    else:
        return None
    return None if _has_other_subject(matched, hit, quality) else distance


def _is_bad(matched: MatchedText, hit: Hit, quality: Hit) -> bool:
    flips = sum(
        cue.cue in _FLIPPING and hit.last < cue.first < quality.first for cue in matched.hits
    )
    return (quality.kind == "bad") is (flips % 2 == 0)


def _is_apart(matched: MatchedText, hit: Hit, quality: Hit) -> bool:
    """Return whether a comma or another verb parts a doing from the word that says how it is."""
    between = range(hit.last + 1, quality.first + 1)
    return not matched.words.after_comma.isdisjoint(between) or not words("parting").isdisjoint(
        matched.texts[at] for at in between
    )


def _has_other_subject(matched: MatchedText, hit: Hit, quality: Hit) -> bool:
    """Return whether another subject stands between a phrase and the word that says how it is."""
    between = matched.texts[min(hit.last, quality.last) + 1 : max(hit.first, quality.first)]
    return any(word in words("joining") or word in words("self_subjects") for word in between)


_INFERRED: Final = frozenset({"function", "topic"})
"""The kinds of phrases of which something has to be said."""
_STATUSES: Final = {True: Status.AFFIRMED, False: Status.DENIED, None: Status.UNCLEAR}
_TENSE_REACH: Final = 7
"""How many words before a phrase the verb that gives its tense stands at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Before:
    """What goes on from the clauses before."""

    is_others: bool = False
    """Whether they are about somebody else."""
    is_hypothetical: bool = False
    is_speech: bool = False
    """Whether they end with somebody else's saying, so that this is what was said."""


START: Final = Before()


@remembered(256)
def read_clause(text: str, before: Before = START) -> ClauseReading:
    """Read one clause."""
    matched = match_concepts(text)
    is_question = is_asked(text)
    return ClauseReading(
        matched=matched,
        findings=tuple(
            _finding(matched, hit, before, is_question=is_question)
            for hit in matched.hits
            if says_something(hit)
            and not (hit.kind in _INFERRED and is_part_of_another(hit, matched.hits))
        ),
        is_hypothetical=any(
            matched.texts[: len(opening)] == opening for opening in phrases("opens_supposition")
        ),
        experiencer=last_person(matched.texts),
    )


def _finding(matched: MatchedText, hit: Hit, before: Before, *, is_question: bool) -> Finding:
    quality = quality_of(matched, hit) if hit.kind in _INFERRED else None
    value = is_symptom_there(matched, hit, is_bad=None if quality is None else quality.is_bad)
    is_stated = value is not None and hit.kind not in _INFERRED
    if value and hit.kind == "function" and not _is_general(matched, hit):
        value = None
    status = _STATUSES[value]
    last = hit.last if quality is None else quality.last
    return Finding(
        concept=hit.subject,
        status=_of_somebody(matched, hit, before, is_question=is_question)
        or with_modality(matched, hit, status),
        is_stated=is_stated,
        start=matched.words.spans[hit.first][0],
        end=matched.words.spans[last][1],
        is_past_tense=_is_past_tense(matched, hit),
    )


def _of_somebody(
    matched: MatchedText, hit: Hit, before: Before, *, is_question: bool
) -> Status | None:
    """Return what a phrase is where it is not plainly the speaker's, `None` where it is."""
    if before.is_speech:
        return Status.UNCLEAR
    owner = last_person(matched.texts[: hit.first])
    if is_named_others(matched, hit) or owner is Status.OTHER:
        return Status.UNCLEAR if may_be_own(matched, hit) else Status.OTHER
    if owner is None and before.is_others and words("self_named").isdisjoint(matched.texts):
        return Status.OTHER
    if owner is Status.UNCLEAR or is_question or is_reported(matched, hit):
        return Status.UNCLEAR
    if has_strange_subject(matched, hit) or _is_taken_elsewhere(matched, hit):
        return Status.UNCLEAR
    goes_on = before.is_hypothetical and matched.texts[0] in words("links")
    return Status.HYPOTHETICAL if goes_on or is_hypothetical(matched, hit) else None


def _is_taken_elsewhere(matched: MatchedText, hit: Hit) -> bool:
    """Return whether a first word is taken up for something else: "slow, the laptop is slow"."""
    if hit.last or not (words("self_named") | words("mine")).isdisjoint(matched.texts):
        return False
    return any(
        other.kind == "look_alike" and other.subject == hit.subject for other in matched.hits
    )


def _is_general(matched: MatchedText, hit: Hit) -> bool:
    """Return whether what cannot be done is not one thing alone, which the speaker may dislike."""
    objects = concept_tables()[hit.subject].get("objects")
    is_whole = hit.first == hit.last == len(matched.texts) - 1
    if objects is None or is_whole:
        return True
    return not set(matched.texts[hit.last : hit.last + 2]).isdisjoint(objects)


def _is_past_tense(matched: MatchedText, hit: Hit) -> bool:
    """Return whether the nearest verb that shows a tense shows the simple past."""
    texts = matched.texts
    for at in range(hit.first, max(-1, hit.first - _TENSE_REACH), -1):
        if texts[at] in words("present"):
            return False
        if texts[at] in words("past"):
            # "I couldn't tell you what they said" is a way of speaking, of now.
            is_saying = any(
                other.cue == "modality.not_supposed" and other.first <= at <= other.last
                for other in matched.hits
            )
            return not (is_saying or (at and texts[at - 1] in words("perfect")))
    return False
