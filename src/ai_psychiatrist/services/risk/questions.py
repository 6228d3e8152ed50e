"""What an interviewer asks about danger, in one sentence or over several."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from ai_psychiatrist.domain.risk import RiskCategory, RiskKind, RiskLevel
from ai_psychiatrist.services.language.memory import remembered
from ai_psychiatrist.services.language.questions import question_in
from ai_psychiatrist.services.language.spoken import every_word
from ai_psychiatrist.services.language.vocabulary import words as listed
from ai_psychiatrist.services.risk.statement import (
    ASKED,
    SPOKEN_KINDS,
    is_harmless,
    match_danger,
    match_replies,
    read_statement,
    reply_words,
)

_QUESTION_CHARACTERS: Final = 600
_SHORTEST_QUESTION: Final = 6
"""In words; a shorter one is read with what was said before it."""
_SHORT_QUESTION: Final = 9
"""In words; so short a one with "that" or "it" takes up what was said before it."""
_LONGEST_FOLLOW_UP: Final = 10
_LONGEST_BACKCHANNEL: Final = 4
_LONGEST_EXPLANATION: Final = 40
_SENTENCES_BEFORE: Final = 2
"""How many sentences before a question it may take up."""
_TOO: Final = "too"
_SAFETY: Final = "safety"
_OPEN: Final = "topic"
_LEVELS: Final = {"moderate": RiskLevel.MODERATE, _OPEN: RiskLevel.MODERATE}
_ASKED_KINDS: Final = tuple(f"{kind.value}{ASKED}" for kind in SPOKEN_KINDS)
_SENTENCE: Final = re.compile(r"[^.?!]+[.?!]*")
_TAKING_UP: Final = frozenset(
    {"that", "it", "this", "those", "these", "them", "so", "any", "either", "such", "one"}
)
_TO_SPEAKER: Final = {
    "you": "i",
    "your": "my",
    "yours": "mine",
    "yourself": "myself",
    "youve": "ive",
    "youre": "im",
    "you're": "im",
    "you'd": "i'd",
    "you'll": "i'll",
}
_PEOPLE: Final = {
    "their": "my",
    "themselves": "myself",
    "they": "i",
    "theyre": "im",
    "they'd": "i'd",
}
"""In what is said of people in general before a question that takes it up."""
_THOUGHTS: Final = frozenset(
    {RiskKind.WISH_TO_BE_DEAD, RiskKind.NONSPECIFIC_THOUGHTS, RiskKind.BURDEN_AND_DESPAIR}
)
_ANYBODY: Final = frozenset({"patients", "clients", "folk", "folks", "women", "men"})
"""In "many patients think of it" nobody is asked about."""
_OF_OTHERS: Final = frozenset({RiskCategory.ABUSE, RiskCategory.HARM_TO_OTHERS})
"""Another person belongs into these."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DangerQuestion:
    """What an interviewer asked about."""

    kind: RiskKind
    level: RiskLevel
    """How soon a person should look where it is affirmed."""
    is_about_safety: bool = False
    """Whether "no" tells of danger, as after "do you feel safe at home?"."""
    is_hypothetical: bool = False
    """Whether it asks what might be."""
    is_open: bool = False
    """Whether it asks about a danger only where one is the topic: "so you stopped yourself?"."""
    is_leading: bool = False
    """Whether it says no itself, so that "yes" may agree or not: "you aren't suicidal?"."""
    is_distant: bool = False
    """Whether it asks what was long ago."""
    is_follow_up: bool = False
    """Whether it goes on with a danger told before: "how often?"."""
    words: frozenset[str] = frozenset()
    """The words of the question, which leave a denial plain."""


def questions_in(words: str) -> tuple[DangerQuestion, ...]:
    """Return what an interviewer's turn asks about, one question for each category.

    A question about suicide is not also one about self-harm.
    """
    return _questions_in(words[-_QUESTION_CHARACTERS:])


@remembered(128)
def _questions_in(tail: str) -> tuple[DangerQuestion, ...]:
    sentences = _SENTENCE.findall(tail)
    last = _last_asked(sentences)
    if last is None:
        return _asked_in(" ".join(sentences), taken_up=False)
    for sentence in reversed(sentences[last + 1 :]):
        # "How are you? And I have to ask you about thoughts of suicide."
        found = _asked_in(sentence, taken_up=False)
        if found and len(sentence.split()) >= _SHORTEST_QUESTION:
            return found
    found = _asked_in(sentences[last], taken_up=False)
    if found or not _takes_up(sentences[last]):
        return found
    for before in range(last - 1, max(-1, last - 1 - _SENTENCES_BEFORE), -1):
        found = _asked_in(" ".join(sentences[before : last + 1]), taken_up=True)
        if found:
            return found
    return ()


def follow_up(words: str, topic: DangerQuestion) -> tuple[DangerQuestion, ...]:
    """Return the question that follows up on a danger mentioned before, if the turn is one.

    "How often?", "do you have the means?", "anything else like that?".
    """
    sentences = _SENTENCE.findall(words[-_QUESTION_CHARACTERS:])
    last = _last_asked(sentences)
    if last is None:
        return ()
    text = sentences[last]
    matched = match_replies(text)
    if not 0 < len(matched.texts) <= _LONGEST_FOLLOW_UP or question_in(text).asked:
        return ()
    if not any(matched.among("follow_up")) or any(matched.among("permission")):
        return ()
    leading = _is_leading(text)
    return (replace(topic, is_leading=leading, is_follow_up=True, words=_words_of(text)),)


def leaves_open(words: str) -> bool:
    """Return whether a turn only listens, so that the question before it is still answered."""
    texts = every_word(words).texts
    if "?" in words or len(texts) > _LONGEST_BACKCHANNEL:
        return False
    return not texts or any(hit.first == 0 for hit in match_replies(words).among("backchannel"))


def explains(words: str) -> bool:
    """Return whether a turn says why or what it asked, and neither asks on nor leaves the topic.

    "I ask everybody that" after "why do you ask?".
    """
    if "?" in words or question_in(words).asked:
        return False
    matched = match_replies(words)
    return 0 < len(matched.texts) <= _LONGEST_EXPLANATION and any(matched.among("explaining"))


def meant_by(asked: tuple[DangerQuestion, ...], opening: str) -> tuple[DangerQuestion, ...]:
    """Keep what "someone else" or "only myself" answers when several dangers were asked about."""
    named = {hit.kind for hit in match_danger(opening).among("whom")}
    if len(named) != 1:
        return asked
    is_of_others = named == {"others"}
    meant = tuple(one for one in asked if (one.kind is RiskKind.HARM_TO_OTHERS) is is_of_others)
    return meant or asked


def denies_one(opening: str) -> bool:
    """Whether an answer denies what it names and nothing else: "not others"."""
    return match_danger(opening).texts[:1] == ("not",)


def _last_asked(sentences: Sequence[str]) -> int | None:
    return max((at for at, sentence in enumerate(sentences) if "?" in sentence), default=None)


def _takes_up(sentence: str) -> bool:
    texts = every_word(sentence).texts
    if _TAKING_UP.isdisjoint(texts):
        return len(texts) < _SHORTEST_QUESTION
    # "Has that been on your mind?" is of no topic of its own.
    return len(texts) <= _SHORT_QUESTION or not question_in(sentence).asked


def _asked_in(text: str, *, taken_up: bool) -> tuple[DangerQuestion, ...]:
    if "?" not in text and any(match_replies(text).among("advice")):
        return ()
    by_phrases = list(_by_phrases(text))
    known_kinds = {one.kind.category for one in by_phrases}
    by_statements = _by_statements(text, taken_up=taken_up)
    others = [one for one in by_statements if one.kind.category not in known_kinds]
    found: dict[RiskCategory, DangerQuestion] = {}
    for question in (*by_phrases, *others):
        category = question.kind.category
        if category not in _OF_OTHERS and _is_of_another(text):
            continue
        known = found.setdefault(category, question)
        if question.level.rank > known.level.rank:
            found[category] = question
    if RiskCategory.SUICIDAL_IDEATION in found:
        found.pop(RiskCategory.SELF_HARM, None)
    return tuple(found.values())


def _by_phrases(text: str) -> Iterator[DangerQuestion]:
    """Read the phrases that ask for a danger."""
    matched = match_danger(text)
    is_first = True
    for hit in matched.among(*_ASKED_KINDS):
        if is_harmless(matched, hit) or (hit.kind == _TOO and is_first):
            continue
        is_first = False
        question = DangerQuestion(
            kind=RiskKind(hit.subject.removesuffix(ASKED)),
            level=_LEVELS.get(hit.kind, RiskLevel.HIGH),
            is_about_safety=hit.kind == _SAFETY,
            is_open=hit.kind == _OPEN,
            is_leading=_is_leading(text[: matched.words.spans[hit.first][0]]),
        )
        yield _as_put(question, text)


def _by_statements(text: str, *, taken_up: bool) -> Iterator[DangerQuestion]:
    """Read what it would state, were it the participant's: "you'd be better off dead"."""
    if "?" not in text or reply_words("of_death").isdisjoint(every_word(text).texts):
        return
    said = _of_speaker(text, _TO_SPEAKER | (_PEOPLE if taken_up else {}))
    for danger in read_statement(said).dangers:
        is_thought = danger.kind in _THOUGHTS and not danger.is_implied
        if is_thought and danger.level.is_urgent and not danger.is_of_others:
            is_leading = _is_leading(said[: danger.start])
            question = DangerQuestion(kind=danger.kind, level=danger.level, is_leading=is_leading)
            yield _as_put(question, text)


def _as_put(question: DangerQuestion, text: str) -> DangerQuestion:
    return replace(
        question,
        is_hypothetical=any(match_danger(text).among("moods")),
        is_distant=any(match_replies(text).among("distant")),
        words=_words_of(text),
    )


def _of_speaker(text: str, turned: Mapping[str, str]) -> str:
    """Return the words of a text with some put in the place of others, and its commas."""
    spoken = every_word(text)
    return " ".join(
        f"{', ' if at in spoken.after_comma and at else ''}{turned.get(word, word)}"
        for at, word in enumerate(spoken.texts)
    )


def _is_leading(before: str) -> bool:
    """Whether a denial stands before what is asked for, and not within it."""
    return any(match_replies(before).among("leading"))


def _is_of_another(text: str) -> bool:
    """Return whether it asks about another person: one is named, and "you" is not."""
    texts = set(every_word(text).texts)
    named = listed("other") - listed("vague") - _ANYBODY
    return not texts.isdisjoint(named) and texts.isdisjoint(reply_words("you"))


def _words_of(text: str) -> frozenset[str]:
    return frozenset(every_word(text).texts) - reply_words("limits")
