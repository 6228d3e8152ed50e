"""The walk through one clause: each phrase of a concept, and what the clause makes of it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from ai_psychiatrist.services.language.assertion import ClauseReading, Finding, Status, Strength
from ai_psychiatrist.services.language.clauses import is_asked
from ai_psychiatrist.services.language.concepts import (
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
from ai_psychiatrist.services.language.matcher import Hit, MatchedText
from ai_psychiatrist.services.language.modality import is_supposed, opens_supposition, with_modality
from ai_psychiatrist.services.language.quality import quality_of
from ai_psychiatrist.services.language.remembered import remembered
from ai_psychiatrist.services.language.triggers import is_symptom_there
from ai_psychiatrist.services.language.vocabulary import concept_tables, words

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
    is_supposed: bool = False
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
        findings=tuple(_findings(matched, before, is_question=is_question)),
        is_supposed=opens_supposition(matched),
        experiencer=last_person(matched.texts),
    )


def _findings(matched: MatchedText, before: Before, *, is_question: bool) -> Iterator[Finding]:
    for hit in matched.hits:
        if not says_something(hit):
            continue
        if hit.kind in _INFERRED and is_part_of_another(hit, matched.hits):
            continue
        yield _finding(matched, hit, before, is_question=is_question)


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
        strength=Strength.STATED if is_stated else Strength.INFERRED,
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
    goes_on = before.is_supposed and matched.texts[0] in words("links")
    return Status.SUPPOSED if goes_on or is_supposed(matched, hit) else None


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
            return not (at and texts[at - 1] in words("perfect"))
    return False
