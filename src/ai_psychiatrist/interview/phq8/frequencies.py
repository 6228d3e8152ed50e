"""The frequencies that a stretch of an answer names."""

import re
from dataclasses import dataclass
from typing import Final

from ai_psychiatrist.interview.phq8.day_counts import (
    ANY,
    COUNT,
    MORE_THAN_HALF,
    NEARLY_EVERY_DAY,
    NO_ANSWER,
    NUMBER,
    SEVERAL,
    Reader,
    Scores,
    all_but,
    always,
    counted,
    counted_alone,
    counted_per_week,
    every_few,
    percentage,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Frequency:
    """A frequency that is said; characters of the stretch's words joined by spaces."""

    scores: Scores
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pattern:
    expression: re.Pattern[str]
    read: Reader


def _pattern(read: Reader, *alternatives: str) -> _Pattern:
    """Build a pattern that matches any of some alternatives as whole words."""
    return _Pattern(expression=re.compile(rf"(?<!\S)(?:{'|'.join(alternatives)})(?!\S)"), read=read)


_UNIT: Final = r"(?:days?|nights?|mornings?|afternoons?|evenings?|occasions?|times?)"
_DAY: Final = r"(?:days?|nights?|mornings?|afternoons?|evenings?|one of them)"
_KIND: Final = r"(?:bad |rough |low |bloody |whole |full |or so |separate |single )?"
_EVERY: Final = r"(?:each and every|every|each)"
_STRESS: Final = r"(?:single |bloody |damn |waking |sodding |freaking |blessed |last )?"
_NEARLY: Final = (
    r"(?:(?:nearly|almost|practically|virtually|basically|literally|just about|pretty much) )?"
)
_WEEKDAY: Final = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_OF_ALL: Final = (
    r"(?:\s*(?:out of|of|in|over) (?:the )?(?:last |past )?"
    r"(?:14|fourteen|two weeks|fortnight)(?: days| nights)?)"
)
_FEW: Final = r"(?:(?:just|only|quite) )?(?:a |one |the )?(?:few|several|handful of|a handful of)"

_TIME_OF_DAY: Final = (
    rf"(?:{NUMBER}|noon|midday|dawn|late|lunchtime|the (?:evening|morning|afternoon|early|small))"
)
_NO_FREQUENCIES: Final = (
    _pattern(
        always(ANY),
        r"(?:like|as|(?:the way|what|how) (?:i|ive)) (?:i )?always(?: \w+)?",
        rf"(?:until|till|til) {_TIME_OF_DAY}(?: \w+)*",
        r"(?:until|till|til) i (?:feel|felt|cant|burst|drop|fall|am|im)\b.*",
    ),
    _pattern(
        always(ANY),
        rf"(?:(?:{COUNT}|a few|several|many) (?:times? |\w+ )?|once |twice |once or twice )"
        r"(?:a|per|every|each) (?:day|night|hour|month|year)",
    ),
    _pattern(
        always(ANY),
        rf"(?:{COUNT}|a few|several|a couple of) "
        r"(?:hours?|minutes?|am|pm|weeks?|months?|years?|meals?|oclock)",
    ),
    _pattern(
        always(NO_ANSWER), rf"{COUNT} (?:days?|nights?) (?:ago|off|old|left|from now|late|early)"
    ),
    _pattern(
        always(NO_ANSWER),
        rf"(?:(?:{COUNT}|a few|some|several|many|lots of) )?"
        r"(?:good|decent|better|great|proper|fine|ok|okay) (?:days?|nights?|mornings?|evenings?)",
    ),
    _pattern(
        always(NO_ANSWER),
        r"one day (?:at a time|ill|i'll|i will)",
        r"one of these days|some ?day|the other (?:day|night)|day (?:by|to) day",
        r"(?:night|day) shifts?|days? off|at once|mostly",
        r"(?:for )?(?:about )?(?:a|one|the whole|all) week(?! and)",
        r"since \w+day|since (?:last|the|yesterday)\b.*|up to (?:last|yesterday)\b.*",
        r"(?:until|till) (?:last|yesterday|now|this|then|the|i|we|\w+day)\b.*",
    ),
    _pattern(
        counted_per_week,
        rf"{COUNT} (?:{_UNIT} )?(?:out )?of (?:the )?(?:last |past )?(?:7|seven)(?: days| nights)?",
    ),
    _pattern(
        always(NO_ANSWER),
        rf"{COUNT} out of (?!(?:14|fourteen|the|two|last|them)\b)\w+",
        rf"{NUMBER} of (?:the )?(?:last |past )?(?!14|fourteen){NUMBER}(?: {_UNIT})?",
    ),
)
"""What sounds like a frequency and is none, or one of another period."""
_OF_THE_DAYS: Final = (
    _pattern(every_few, rf"{_EVERY} (?P<step>{NUMBER}) {_DAY}"),
    _pattern(
        all_but,
        rf"(?:all(?: {_DAY})?|{_EVERY} {_DAY}) (?:but|except|bar) (?:for )?(?P<but>{NUMBER})"
        rf"(?: of them| {_UNIT})?",
    ),
    _pattern(
        always(NEARLY_EVERY_DAY), rf"{_EVERY} {_DAY} (?:but|except|bar) (?:for )?{_WEEKDAY}s?"
    ),
    _pattern(always(NO_ANSWER), rf"(?:all|{_EVERY}) {_DAY} (?:but|except|bar) .*"),
    _pattern(always(MORE_THAN_HALF), rf"{_EVERY} (?:other|second) {_DAY}"),
    _pattern(
        always(SEVERAL),
        rf"{_EVERY} (?:few|third|3rd|fourth|4th) {_DAY}",
        rf"{_EVERY} {_WEEKDAY}",
    ),
    _pattern(always(SEVERAL | MORE_THAN_HALF), rf"{_EVERY} couple of days"),
    _pattern(
        always(NEARLY_EVERY_DAY),
        rf"{_NEARLY}{_EVERY} {_STRESS}(?:day|night|morning|evening|afternoon|one of them|one)"
        r"(?: and (?:every )?(?:day|night))?(?: without fail)?",
        rf"everyday|nightly|{_NEARLY}daily",
    ),
    _pattern(
        always(NEARLY_EVERY_DAY),
        r"all the time|always|constantly|constant|permanently|continually|continuously|non ?stop",
        r"without fail|round the clock|day in(?: and)? day out|day after day|day and night",
        r"night after night|all (?:14|fourteen)(?: of them)?|"
        r"night and day|every minute of every day|all day every day|all day long every day",
        r"(?:for )?(?:the )?(?:whole|entire|full) (?:two weeks|fortnight|time)",
        r"all (?:two weeks|fortnight)|(?:(?:nearly|almost|practically|pretty much) )?"
        r"all (?:of them|of the days|of the nights|days|nights)",
    ),
    _pattern(
        always(MORE_THAN_HALF),
        r"more (?:days|nights|mornings|evenings) than not|more often than not",
        r"(?:(?:well|way|just|a bit|slightly|a little) )?(?:more than|over) (?:half|fifty percent)"
        r"(?: of)?(?: (?:the|these|those))?(?: days| nights| time| mornings)?",
    ),
    _pattern(always(SEVERAL), r"(?:less|fewer) than half|under half|not (?:even )?half"),
    _pattern(
        always(MORE_THAN_HALF),
        r"(?:three quarters|two thirds|(?:about |around |roughly )?half) (?:of )?(?:the |of )?"
        r"(?:days|nights|time|mornings)",
        r"three quarters|two thirds|a week and a half|(?:about |around |roughly )?half of them",
        r"(?:most|majority of|bulk of)(?: of)?(?: the| these| those)? "
        rf"(?:{_UNIT}|of them|two weeks|fortnight)",
        r"(?<!at )(?<!at the )most$",
    ),
    _pattern(
        percentage,
        r"(?:(?P<edge>over|more than) |about |around )?(?P<percent>\d{1,3}) percent"
        r"(?: of)?(?: the)?(?: days| nights| time)?",
    ),
)
_COUNTS: Final = (
    _pattern(always(SEVERAL), r"a (?:day|night) or (?:two|so)|weekly"),
    _pattern(
        counted,
        rf"(?:more like|closer to|make that|make it|lets say|counted) {COUNT}(?= of them$|$)"
        r"(?: of them)?",
    ),
    _pattern(
        counted_per_week,
        rf"{COUNT} {_KIND}(?:{_UNIT} )?(?:a|per|(?:out of )?each|(?:out of )?every) week",
    ),
    _pattern(
        always(SEVERAL),
        rf"a few {_KIND}(?:{_UNIT} )?(?:a|per|each|every) week",
        r"(?:once|once or twice|twice) (?:a|per) week",
    ),
    _pattern(
        always(SEVERAL),
        "once or twice|twice",
        r"(?:just |only )?once(?=(?: or so| on| in the| maybe| i think| that)(?!\S)|$)",
    ),
    _pattern(
        always(SEVERAL),
        rf"{_FEW}(?: of the)? {_KIND}{_UNIT}",
        r"(?:a few|several|a handful)(?: of them)?$",
    ),
    _pattern(counted, rf"{COUNT} {_KIND}{_UNIT}{_OF_ALL}?"),
    _pattern(counted, rf"{COUNT}{_OF_ALL}"),
    _pattern(
        counted,
        rf"{COUNT} (?:of them|of the days|of the nights|in all|altogether|in total|tops"
        r"|at most|at the most|at best|max|maximum|easily)",
    ),
    _pattern(
        always(SEVERAL),
        r"(?:at|on|over) (?:the )?weekends?",
        r"(?:just|only) the day (?:of|that|after|before)",
        rf"(?:just|only) (?:the |last |on )*(?:weekend|night|yesterday|{_WEEKDAY})(?: and \w+day)?",
    ),
)
# Of those that begin at one place the first counts.
_PATTERNS: Final = (*_NO_FREQUENCIES, *_OF_THE_DAYS, *_COUNTS)
_ALONE: Final = re.compile(
    r"(?:(?:(?P<rough>about|around|roughly)|not many|or|and|so|then|meant|counted"
    r"|make that|more like|maybe|probably|like|just|only|i'd|id|i|say"
    r"|guess|think|put|it|yeah|yes|hmm|um|perhaps) )*"
    rf"(?P<all>{COUNT})(?: (?:or so|ish|maybe|i|guess|think|suppose|roughly|probably))*\Z"
)


def frequencies_in(spoken: str) -> tuple[Frequency, ...]:
    """Find the frequencies in a stretch. `spoken`: its words joined by spaces."""
    alone = _ALONE.match(spoken)
    if alone is not None:
        start, end = alone.span("all")
        return (Frequency(scores=counted_alone(alone), start=start, end=end),)
    found = [
        (found.start(), order, found, pattern.read)
        for order, pattern in enumerate(_PATTERNS)
        for found in pattern.expression.finditer(spoken)
    ]
    kept: list[Frequency] = []
    for start, _, match, read in sorted(found, key=lambda entry: entry[:2]):
        if not kept or start >= kept[-1].end:
            kept.append(Frequency(scores=read(match), start=start, end=match.end()))
    return tuple(kept)
