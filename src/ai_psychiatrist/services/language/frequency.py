"""How often a clause, an answer or a count of days says that something is there."""

import re
from dataclasses import dataclass
from functools import cache
from typing import Final

from ai_psychiatrist.domain.evidence import Frequency, Polarity
from ai_psychiatrist.services.language.assertion import read_clause
from ai_psychiatrist.services.language.clauses import clauses_of
from ai_psychiatrist.services.language.concepts import Status, match_concepts, says_something
from ai_psychiatrist.services.language.memory import remembered
from ai_psychiatrist.services.language.phrases import Hit, MatchedText, Matcher, every_phrase
from ai_psychiatrist.services.language.questions import answer_opening
from ai_psychiatrist.services.language.spoken import Spoken, every_word, spoken
from ai_psychiatrist.services.language.vocabulary import word_list, words


@dataclass(frozen=True, slots=True, kw_only=True)
class Occurrence:
    """How often something is there: what is said, and from which character of the clause."""

    start: int
    cue: str

    def frequency(self, polarity: Polarity) -> Frequency:
        """Return how often the symptom is there, given whether it is affirmed or denied.

        "I never sleep" is every night, and "I sleep well every night" is not at all.
        """
        if self.cue in _NEGATIVE:
            affirmed, otherwise = _NEGATIVE[self.cue]
            return affirmed if polarity is Polarity.AFFIRMED else otherwise
        stated = Frequency(self.cue)
        return _WELL_THAT_OFTEN.get(stated, stated) if polarity is Polarity.DENIED else stated


_NEGATIVE: Final = {
    "not_at_all": (Frequency.NEARLY_EVERY_DAY, Frequency.NOT_AT_ALL),
    "rarely": (Frequency.MORE_THAN_HALF, Frequency.SEVERAL_DAYS),
}
"""How often a symptom is there when what it affects, or the symptom itself, is never there."""
_WELL_THAT_OFTEN: Final = {
    Frequency.NEARLY_EVERY_DAY: Frequency.NOT_AT_ALL,
    Frequency.MORE_THAN_HALF: Frequency.SEVERAL_DAYS,
}

NUMBERS: Final = word_list("frequency", "numbers")
"""The words of whole numbers, from zero on."""
_NUMBER: Final = rf"(?:{'|'.join(NUMBERS)}|\d{{1,2}})\b"
_NUMBER_WORDS: Final = frozenset(NUMBERS)
_COUNTING: Final = frozenset({*NUMBERS, "once", "all"})
_UNIT: Final = r"(?:days?|nights?|mornings?|afternoons?|evenings?|times?)"
_COUNTED: Final = re.compile(
    rf"\b(?P<count>{_NUMBER})(?:(?: {_UNIT})?,?(?: or| to| maybe| out)? {_NUMBER})?"
    rf" (?:{_UNIT}"
    r"(?: (?:a|per|every|each|this|out of|outta|of|in|over) (?:the )?(?:last |past )?"
    rf"(?P<span>week or two|one week|week|two weeks|fortnight|{_NUMBER}))?"
    r"|(?:(?:out )?of|outta) (?:the )?(?:last |past )?"
    rf"(?:(?P<days>seven|7|fourteen|14)\b|(?P<of>{_NUMBER}) {_UNIT}))"
)
_WITHIN: Final = re.compile(r"\b(?:this|past|last) (?P<span>week|fortnight|two weeks)\b")
_DAYS_OF_SPAN: Final = {
    "week": 7,
    "one week": 7,
    "week or two": 14,
    "fortnight": 14,
    "two weeks": 14,
    "weeks": 14,
}
# "Haven't felt low once", "didn't cry at all this week".
_NOT_ONCE: Final = re.compile(
    r"\b(?:not|never|havent|hasnt|hadnt|didnt|dont|wasnt|isnt|aint)\b[^,]*?"
    r"(?:(?<!at )\bonce\b(?! (?:or|a|i|in|more))|\bat all\b.*\b(?:week|weeks|fortnight)\b)"
)


@remembered(256)
def occurrences_in(text: str) -> tuple[Occurrence, ...]:
    """Find the frequencies that a clause states."""
    words = every_word(text)
    found = _matcher().match(words).hits
    if found and not _is_counted_too(words, found):
        return tuple(Occurrence(start=words.spans[hit.first][0], cue=hit.kind) for hit in found)
    if not words.has_digits_or(_COUNTING):
        return ()
    told = words.with_commas
    if _NOT_ONCE.search(told) is not None:
        return (Occurrence(start=0, cue="not_at_all"),)
    counted = _counted(told)
    return () if counted is None else (Occurrence(start=0, cue=counted.value),)


def _is_counted_too(words: Spoken, found: tuple[Hit, ...]) -> bool:
    """Return whether days are counted beside "every day": "all day, four days of the fourteen"."""
    if any(hit.kind != Frequency.NEARLY_EVERY_DAY for hit in found):
        return False
    return words.has_digits_or(_NUMBER_WORDS) and _counted(words.with_commas) is not None


@cache
def _matcher() -> Matcher:
    return every_phrase("frequency")


def _counted(told: str) -> Frequency | None:
    """Read "four nights a week" or "ten of the last fourteen days"."""
    found = _COUNTED.search(told)
    if found is None:
        return None
    count, days = whole_number(found["count"]), _days_of(found, told)
    if days is None or not 0 < count <= days:
        return None
    share = count / days
    if share > 0.8:
        return Frequency.NEARLY_EVERY_DAY
    return Frequency.MORE_THAN_HALF if share > 0.5 else Frequency.SEVERAL_DAYS


def _days_of(found: re.Match[str], told: str) -> int | None:
    """Return of how many days the count is, said beside it or anywhere in the clause."""
    span = found["span"] or found["days"] or found["of"]
    if span is None:
        within = _WITHIN.search(told)
        span = within and within["span"]
    if span is None:
        return None
    return _DAYS_OF_SPAN.get(span) or whole_number(span)


def whole_number(word: str) -> int:
    """Return a number that is written in digits or as one of `NUMBERS`."""
    return int(word) if word.isdecimal() else NUMBERS.index(word)


_DAYS: Final = 14
_LEAST_DAYS: Final = (
    (12, Frequency.NEARLY_EVERY_DAY),
    (7, Frequency.MORE_THAN_HALF),
    (2, Frequency.SEVERAL_DAYS),
)
"""From how many days of a fortnight on (Kroenke et al. 2009)."""
_NAMED_SPAN: Final = re.compile(r"\b(?:weeks|fortnight|week)\b")
_FORTNIGHT: Final = "fortnight"
_FRAME: Final = re.compile(r"\b(?:(?:two|2|couple(?: of)?) weeks|fortnight|(?:fourteen|14) days)\b")
_COUNTS: Final = re.compile(
    rf"(?:\w+ ){{0,3}}?\b(?P<least>{_NUMBER})(?: (?:(?:or|to|maybe) )?(?P<most>{_NUMBER}))?"
)
_COUNTS_OF_SOME: Final = re.compile(
    rf"{_COUNTS.pattern}(?: \w+){{0,3}}? (?:out of|of|in|over|during|a|per)"
    r"(?: (?:every|each|last|past|couple|this|of|two))*"
    rf" (?P<span>week|weeks|fortnight|{'|'.join(NUMBERS[2:])}|7|10|14)\b"
)


def days_asked_of(asked: str) -> str:
    """Return the span of which an interviewer asks, empty where none is named: "these two weeks".

    It holds for the questions after it, too.
    """
    found = _FRAME.search(asked.casefold())
    return "" if found is None else _FORTNIGHT


def counted_days(said: str, asked: str = "") -> Frequency | None:
    """Read the days that an answer counts; of how many, it or its question has to say."""
    answer = " ".join(spoken(said).texts)
    of_some = _COUNTS_OF_SOME.search(answer)
    if of_some is not None:
        return _frequency(of_some, of_some["span"])
    alone, span = _COUNTS.match(answer), _NAMED_SPAN.search(asked.casefold())
    return None if alone is None or span is None else _frequency(alone, span[0])


def _frequency(found: re.Match[str], span: str) -> Frequency | None:
    """Return what the fewest of the counted days come to in a fortnight."""
    days = _DAYS_OF_SPAN.get(span) or whole_number(span)
    count = min(whole_number(found["least"]), whole_number(found["most"] or found["least"]))
    if not 0 < count <= days:
        return None
    in_a_fortnight = round(count / days * _DAYS)
    return next((often for least, often in _LEAST_DAYS if in_a_fortnight >= least), None)


_ASKED: Final = "how_often.asked_often"
_ANSWER_CLAUSES: Final = 3
"""Among how many clauses of an answer it stands."""
_LONGEST_ADDITION: Final = 40
"""In characters: of a clause that says only how often,"""
_LONGEST_BACKWARD: Final = 80
"""and of one that opens with "it" or its like."""
_BACKWARD_BY: Final = 2
"""By which word it does."""
_AFTER_ASIDE: Final = ((), ("so",), ("it",))
"""What may follow "I think" that only says how surely."""
_TOLD: Final = frozenset({Status.AFFIRMED, Status.DENIED})
_OFTEN: Final = {
    often.value: often
    for often in (
        Frequency.SEVERAL_DAYS,
        Frequency.MORE_THAN_HALF,
        Frequency.NEARLY_EVERY_DAY,
    )
}


@dataclass(frozen=True, slots=True, kw_only=True)
class HowOften:
    """A frequency, and the characters of the clause that tells it."""

    frequency: Frequency
    start: int
    end: int


def asks_how_often(asked: str) -> bool:
    """Return whether a question asks for the frequency of what was mentioned before it.

    "Do you drink coffee every day?" asks for something else.
    """
    clause = _last_clause(asked)
    matched = match_concepts(clause)
    asking = next((hit.first for hit in matched.hits if hit.cue == _ASKED), None)
    if asking is not None:
        # "Joking aside, how often is it bad?"
        return _is_bare(matched, asking)
    return bool(occurrences_in(clause)) and _is_bare(matched)


def _is_bare(matched: MatchedText, first: int = 0) -> bool:
    """Return whether words from one on hold nothing but how often, and what goes on about that."""
    named = {
        at
        for hit in matched.hits
        if says_something(hit) or hit.subject in {"how_often", "quality"}
        for at in range(hit.first, hit.last + 1)
    }
    return all(
        at in named or word in words("asking_on") or word.isdecimal()
        for at, word in enumerate(matched.texts)
        if at >= first
    )


def goes_on(asked: str) -> bool:
    """Return whether the last words of an interviewer ask for more of the same."""
    return any(hit.cue == "how_often.more" for hit in match_concepts(_last_clause(asked)).hits)


def how_often(said: str, asked: str, span: str = "") -> HowOften | None:
    """Return how often something is there by the answer to a question for just that.

    `span`: of which days an earlier question asked, where this one does not say.
    """
    answer = clauses_of(said)[:_ANSWER_CLAUSES]
    counted_of = asked if _NAMED_SPAN.search(asked.casefold()) else span
    for clause in answer:
        frequency = _stated(said[clause.start : clause.end], counted_of)
        if frequency is not None:
            return HowOften(frequency=frequency, start=clause.start, end=clause.end)
    first = said[: next((one.end for one in answer), 0)]
    return _chosen(first, asked) or _agreed_with(first, asked)


def _chosen(answer: str, asked: str) -> HowOften | None:
    """Return the one of several frequencies offered that an answer opens like: "Most, really"."""
    last, opening = _last_clause(asked), every_word(answer).texts[:1]
    offered = {
        _OFTEN[one.cue]
        for one in occurrences_in(last)
        if one.cue in _OFTEN and every_word(last[one.start :]).texts[:1] == opening
    }
    if len(offered) != 1:
        return None
    return HowOften(frequency=offered.pop(), start=0, end=len(answer))


def _agreed_with(answer: str, asked: str) -> HowOften | None:
    """Return the frequency that a question offers, if the answer is yes."""
    last, read = _last_clause(asked), read_clause(answer)
    offered = _often_in(last)
    cues = {hit.cue for hit in (*read.matched.hits, *match_concepts(last).hits)}
    if len(offered) != 1 or not cues.isdisjoint({"quality.good", _ASKED}):
        return None
    return (
        HowOften(frequency=offered[0], start=0, end=len(answer))
        if answer_opening(read).says
        else None
    )


def how_often_alone(said: str) -> HowOften | None:
    """Return the frequency that an answer states alone although the question did not ask for it."""
    for clause in clauses_of(said)[:_ANSWER_CLAUSES]:
        text = said[clause.start : clause.end]
        frequency = _stated(text) if says_only_how_often(text) else None
        if frequency is not None:
            return HowOften(frequency=frequency, start=clause.start, end=clause.end)
    return None


def says_only_how_often(text: str, span: str = "") -> bool:
    """Return whether a clause states only the frequency of what was mentioned before it.

    `span`: of which days a question asked.
    """
    length = len(text.strip())
    if length > _LONGEST_BACKWARD or not (occurrences_in(text) or counted_days(text, span)):
        return False
    read = read_clause(text)
    is_backward = not words("backward").isdisjoint(read.matched.texts[:_BACKWARD_BY])
    if length > _LONGEST_ADDITION and not is_backward:
        return False
    tells = any(found.status in _TOLD for found in read.findings)
    return not tells and not _tells_of_speaker(read.matched.texts)


def _tells_of_speaker(texts: tuple[str, ...]) -> bool:
    """Return whether the speaker does something: not in "I suppose", "since I moved"."""
    at = next((at for at, word in enumerate(texts) if word in words("speaker")), None)
    if at is None:
        return False
    is_aside = texts[at + 1 : at + 2] and texts[at + 1] in words("asides")
    is_short = texts[at + 2 : at + 3] in _AFTER_ASIDE
    is_dated = not words("dating").isdisjoint(texts[:at])
    return not ((is_aside and is_short) or is_dated)


def is_that_often(text: str) -> bool:
    """Return whether a clause states only on how many days something is, and on some at least."""
    return says_that_often(text) and says_only_how_often(text)


def says_that_often(text: str) -> bool:
    """Return whether a clause states that something is there on some days at least."""
    return bool(_often_in(text))


def _stated(text: str, asked: str = "") -> Frequency | None:
    matched = match_concepts(text)
    # "Most days are fine" counts the days without the symptom.
    if any(hit.cue == "quality.good" for hit in matched.hits):
        return None
    if stated := _often_in(text):
        return stated[0]
    is_whole = any(hit.cue == "how_often.whole" for hit in matched.hits)
    return Frequency.NEARLY_EVERY_DAY if is_whole else counted_days(text, asked)


def _often_in(text: str) -> list[Frequency]:
    return [_OFTEN[one.cue] for one in occurrences_in(text) if one.cue in _OFTEN]


def _last_clause(asked: str) -> str:
    texts = [asked[one.start : one.end] for one in clauses_of(asked)]
    return next((text for text in reversed(texts) if text.strip()), "")
