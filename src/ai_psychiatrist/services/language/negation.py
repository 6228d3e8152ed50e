"""What governs a phrase: the negators, losses and obstacles in whose scope it stands.

In the terms of ConText (Harkema et al. 2009): a trigger has a scope in the clause, and decides
whether a finding in it is there.
"""

from collections.abc import Iterator
from typing import Final

from ai_psychiatrist.services.language.concepts import says_something
from ai_psychiatrist.services.language.phrases import Hit, MatchedText
from ai_psychiatrist.services.language.spoken import DENYING
from ai_psychiatrist.services.language.vocabulary import words

_SCOPE: Final = 8
"""How many words before a finding its negator stands at most."""
_DENYING: Final = frozenset({"negator", "inability"})
_NEAR_SCOPE: Final = 5
"""And what else governs it."""


def is_symptom_there(matched: MatchedText, hit: Hit, *, is_bad: bool | None) -> bool | None:
    """Return whether the symptom of a phrase is there, by what governs it; `None` where unclear.

    `is_bad`: what is said of a doing or a subject, `None` where nothing is.
    """
    value = {"symptom": True, "well": False}.get(hit.kind, is_bad)
    if value and _begins_with_none(matched, hit):
        value = False
    if value is None and hit.kind == "function" and _begins_in_way(matched, hit):
        value = True
    is_agreed = False
    for trigger in _governing(matched, hit):
        if trigger.kind != "negator":
            if trigger.kind == "inability" and hit.kind == "symptom":
                return None
            value = _turned(trigger.kind, hit.kind, value=value)
        elif is_agreed or _is_said_twice(matched, trigger, hit):
            # "Never any" and "not nothing" deny once.
            is_agreed = False
        elif value is None and hit.kind == "topic" and not _has_none(matched, trigger, hit):
            return None
        else:
            value = not value
            is_agreed = matched.texts[trigger.first] in words("concord")
            if matched.texts[trigger.first] in words("denying_subjects"):
                # "I've stopped, none of it ..." begins anew.
                break
    return value


def is_negated(matched: MatchedText, hit: Hit, passed: frozenset[int] = frozenset()) -> bool:
    """Return whether a phrase that says something by itself stands under an odd number of denials.

    Unlike in `is_symptom_there`, a denial that reaches into the phrase counts: "don't want to die".
    `passed`: words that deny nothing.
    """
    value = any(
        cue.subject == "cue"
        and cue.first < hit.first <= cue.last
        and not DENYING.isdisjoint(matched.texts[cue.first : hit.first])
        and words("disclosing").isdisjoint(matched.texts[hit.first : cue.last + 1])
        for cue in matched.hits
    )
    is_agreed = False
    for trigger in _governing(matched, hit):
        if trigger.kind not in _DENYING or trigger.first in passed:
            continue
        if is_agreed:
            is_agreed = False
            continue
        value = not value
        is_agreed = matched.texts[trigger.first] in words("concord")
    return value


def _begins_with_none(matched: MatchedText, hit: Hit) -> bool:
    """Return whether "no" governs what a phrase begins with: "no problem with my appetite"."""
    return any(
        cue.subject == "cue"
        and cue.first < hit.first <= cue.last
        and matched.texts[cue.first] in words("no")
        for cue in matched.hits
    )


def _begins_in_way(matched: MatchedText, hit: Hit) -> bool:
    """Return whether what is in the way reaches into a doing: "can't face" and "face a meal"."""
    return any(
        cue.cue == "cue.obstacle"
        and cue.first < hit.first <= cue.last
        and not DENYING.isdisjoint(matched.texts[cue.first : hit.first])
        for cue in matched.hits
    )


def _is_said_twice(matched: MatchedText, trigger: Hit, hit: Hit) -> bool:
    """Return whether a phrase denies by itself, so that a negator before it agrees with it."""
    if hit.kind == "symptom":
        # "I don't feel nothing about it."
        texts = matched.texts[hit.first : hit.last + 1]
        return trigger.last + 1 == hit.first and "nothing" in texts
    return hit.kind == "well" and matched.texts[hit.first] in words("concord")


def _turned(trigger: str, kind: str, *, value: bool | None) -> bool | None:
    """Return what a phrase says under a trigger that does not negate."""
    match trigger:
        case "inability":
            return not value
        case "loss":
            return kind != "symptom"
        case "obstacle" if kind != "symptom":
            return True
        case "ability" if value is None and kind == "function":
            return False
    return value


def _has_none(matched: MatchedText, trigger: Hit, hit: Hit) -> bool:
    """Return whether a negator says that there is none: "no energy", "haven't the energy"."""
    return matched.texts[trigger.first] in words("concord") or not words("having").isdisjoint(
        matched.texts[trigger.first : hit.first]
    )


def _governing(matched: MatchedText, hit: Hit) -> Iterator[Hit]:
    """Yield the triggers that govern a phrase, the nearest first."""
    until = hit.first
    for cue in reversed(matched.hits):
        is_cue = cue.subject == "cue" and cue.last < until and not _is_answer(matched, cue)
        if not is_cue or _is_part_of_quality(matched, cue):
            continue
        scope = _SCOPE if cue.kind == "negator" else _NEAR_SCOPE
        if hit.first - cue.last > scope or _is_cut(matched, cue, hit):
            return
        yield cue
        until = cue.first


def _is_part_of_quality(matched: MatchedText, cue: Hit) -> bool:
    """Return whether a trigger only belongs to how something is: "nothing wrong with"."""
    return any(
        other.subject == "quality" and other.first <= cue.first and cue.last <= other.last
        for other in matched.hits
        if other.last > cue.last
    )


def _is_answer(matched: MatchedText, cue: Hit) -> bool:
    """Return whether a "no" answers something and negates nothing."""
    texts, after = matched.texts, cue.last + 1
    if not cue.first and after in matched.words.after_comma and cue.kind == "negator":
        # "Not really, it affects my sleep."
        return True
    if texts[cue.first] not in words("answering") or cue.last != cue.first:
        return False
    if after >= len(texts) or after in matched.words.after_comma:
        return True
    return texts[cue.first] in words("no") and texts[after] in words("after_no")


def _is_cut(matched: MatchedText, cue: Hit, hit: Hit) -> bool:
    """Return whether what a trigger governs ends before a phrase."""
    reached = any(
        cue.last < other.first < hit.first
        for other in matched.hits
        if says_something(other) or other.subject == "quality"
    )
    if any(_ends_at(matched, cue, at, reached=reached) for at in range(cue.last + 1, hit.first)):
        return True
    if _is_own_subject(matched, cue, hit.first):
        return True
    if any(_is_disclosed(matched, cue, at) for at in range(cue.last + 2, hit.last + 1)):
        return True
    last = matched.texts[cue.last]
    is_whole = cue.kind == "negator" and last != "not" and last not in words("carriers")
    if is_whole and matched.texts[cue.last + 1] in words("self_with_verb"):
        # "I wasn't, I'm useless", said without a comma.
        return True
    return (
        reached
        and hit.first in matched.words.after_comma
        and matched.texts[hit.first] not in words("continuing")
    )


def _ends_at(matched: MatchedText, cue: Hit, at: int, *, reached: bool) -> bool:
    """Return whether what a trigger governs ends at a word; `reached`: it governs one before."""
    word = matched.texts[at]
    if _is_own_subject(matched, cue, at):
        return True
    if word in words("continuing"):
        return False
    is_linked = word in words("links") or at in matched.words.after_comma
    return (is_linked and reached) or word in words("turning")


def _is_own_subject(matched: MatchedText, cue: Hit, at: int) -> bool:
    """Return whether the speaker begins a clause at a word, and no verb reaches into it."""
    is_subject = matched.texts[at] in words("self_subjects") and at > cue.last + 1
    return is_subject and matched.texts[at - 1] not in words("carriers")


def _is_disclosed(matched: MatchedText, cue: Hit, at: int) -> bool:
    """Return whether a clause begins at a word that a trigger only denies to be known or told.

    "I don't think that I" reaches through its verb; "nobody knows that I" and "I never told anyone
    that my husband" deny the knowing and the telling alone.
    """
    texts = matched.texts
    if texts[at] not in words("self_subjects") | words("told_subjects"):
        return False
    between = texts[cue.first + 1 : at]
    is_doubt = texts[cue.last + 1] == "know" and texts[max(0, cue.first - 1)] in words(
        "self_subjects"
    )
    return not words("disclosing").isdisjoint(between) or ("know" in between and not is_doubt)
