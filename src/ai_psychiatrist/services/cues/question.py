"""Whether a clause asks rather than tells."""

from typing import Final

from ai_psychiatrist.services.cues.lexicon import word_set

_LONGEST_ECHO: Final = 3
"""How many words an echo of the interviewer's question ("insomnia?") has at most."""


def is_question(text: str, texts: tuple[str, ...]) -> bool:
    """Return whether a clause asks; `texts`: its words.

    "Do I look sad", "what do you mean?" and "insomnia?" do. "You know?", "does that make sense?"
    after a statement, and "why can't I sleep?" do not: they tell.
    """
    is_marked = "?" in text
    at = _after_openers(texts)
    if _is_inverted(texts, at):
        return True
    if not is_marked:
        return False
    spoken = [word for word in texts if word != ","]
    is_asking = texts[at : at + 1] and texts[at] in word_set("question", "asking")
    is_echo = 0 < len(spoken) <= _LONGEST_ECHO and word_set("people", "selves").isdisjoint(spoken)
    return bool(is_asking) or is_echo or _asks_back(spoken)


def _after_openers(texts: tuple[str, ...]) -> int:
    openers, at = word_set("question", "openers"), 0
    while at < len(texts):
        if texts[at : at + 2] == ("i", "mean"):
            at += 2
        elif texts[at] in openers:
            at += 1
        else:
            break
    return at


def _is_inverted(texts: tuple[str, ...], at: int) -> bool:
    return (
        at + 1 < len(texts)
        and texts[at] in word_set("question", "auxiliaries")
        and texts[at + 1] in word_set("question", "subjects")
    )


def _asks_back(spoken: list[str]) -> bool:
    """Whether the clause takes up a word of the question: "Interest in what, exactly?"."""
    asking = word_set("question", "asking")
    return not asking.isdisjoint(spoken[:3]) or spoken[-1:] in (["how"], ["what"])
