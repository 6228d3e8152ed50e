"""Whose symptom a clause speaks of: the speaker's own or somebody else's."""

from typing import Final

from ai_psychiatrist.services.cues.lexicon import word_set

_NOBODY_ELSE: Final = range(0)
_REPORTS_WITHIN: Final = 4
"""How many words after the other person a verb of saying stands at most."""


def others_words(texts: tuple[str, ...]) -> range:
    """Return which words of a clause speak of somebody else.

    "My wife can't sleep" does to its end, "my wife worries about me" up to "me". In "my wife says
    I'm lazy" the opinion is hers, whoever it is about.
    """
    subject = _end_of_other_subject(texts)
    if subject is None:
        return _NOBODY_ELSE
    selves = word_set("people", "selves")
    saying = texts[subject : subject + _REPORTS_WITHIN]
    opinions = word_set("people", "opinions")
    for word in saying:
        if word in opinions:
            return range(subject, len(texts))
        if word in selves:
            break
    if texts[subject - 1] in word_set("people", "sayers"):
        return _NOBODY_ELSE
    for at in range(subject, len(texts)):
        if texts[at] in selves:
            return range(subject, at)
    return range(subject, len(texts))


def _end_of_other_subject(texts: tuple[str, ...]) -> int | None:
    """Return the place after a subject that is not the speaker, when the clause begins with one."""
    openers, at = word_set("people", "openers"), 0
    while at < len(texts) and texts[at] in openers:
        at += 1
    if at == len(texts):
        return None
    if texts[at] in word_set("people", "pronouns") or texts[at] in word_set("people", "sayers"):
        return at + 1
    if texts[at] not in word_set("people", "owners"):
        return None
    persons = word_set("people", "persons")
    for noun in range(at + 1, min(at + 4, len(texts))):
        if texts[noun] in persons:
            return noun + 1
    return None
