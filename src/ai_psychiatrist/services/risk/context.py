"""The sentence that a statement stands in, and the question that it answers."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Final

from ai_psychiatrist.domain.risk import RiskReport, RiskSignal, RiskSource
from ai_psychiatrist.domain.transcript import Speaker, Transcript, Turn

_MOST_CHARACTERS: Final = 600
"""On either side of a statement, and of a question."""
_FEW_CHARACTERS: Final = 200
"""On either side of a quote, of which there are many."""
_FEW_WORDS: Final = 8
"""A line of fewer, without the mark of an end, is shown with its neighbours of the same speaker."""
_SHORT_QUESTION: Final = 6
"""In words; one of no more is shown with the question before it, such as "Or of self-harm?"."""
_MOST_TURNS: Final = 6
"""How far the lines of a sentence, and the question before a statement, are looked for."""
_CUT: Final = "…"
_END: Final = re.compile(r"[.?!…]+[\"'”’)\]]*(?=\s|$)|\n\s*\n")
_PAUSE: Final = re.compile(r"(?:\.{2,}|…)[\"'”’)\]]*$")
"""Ends a sentence only where no small letter follows."""
_ABBREVIATION: Final = re.compile(
    r"(?:^|[\s(])(?:dr|mr|mrs|ms|prof|st|vs|approx|[a-hj-z]|(?:[a-z]\.)+[a-z])\.$", re.IGNORECASE
)
_LISTENING: Final = re.compile(
    r"(?:\W*\b(?:m+-?h+m+|m+|uh-?huh|hm+|okay|ok|alright|right|yeah|yes|sure|i see|go on|of course|"
    r"thank you|thanks|take your time)\b)+\W*",
    re.IGNORECASE,
)
"""What an interviewer says who asks nothing."""


def with_words(transcript: Transcript, report: RiskReport, *, resources: str) -> RiskReport:
    """Return the finished report: with the words of each sign, their sentence and its question.

    `resources`: where to turn in danger.
    """
    passages = (
        replace(one, text=transcript.text[one.start : one.end]) for one in report.reader.read_first
    )
    reader = replace(
        report.reader,
        sign_count=sum(one.source is RiskSource.READER for one in report.signals),
        unshared_count=sum(not one.is_shared for one in report.signals),
        read_first=tuple(passages),
    )
    signals = tuple(in_context(transcript, one) for one in report.signals)
    return replace(report, signals=signals, reader=reader, resources=resources)


def in_context(transcript: Transcript, signal: RiskSignal) -> RiskSignal:
    """Return a sign with its words and what a reader needs to understand them by themselves.

    The sentences that the words touch, `…` where one is too long to be shown, and the last
    sentence of the interviewer before, a question if that turn holds one.
    """
    turn = transcript.turns[signal.turn]
    words = transcript.words(turn)
    sentence = sentence_around(
        words, signal.start - turn.words_start, signal.end - turn.words_start
    )
    asked = _asking_turn(transcript, turn)
    return replace(
        signal,
        text=transcript.text[signal.start : signal.end],
        sentence=_over_lines(transcript, turn, sentence),
        question=None if asked is None else _question(transcript.words(asked)),
        question_turn=None if asked is None else asked.index,
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Neighbours:
    """The sentences around that of a statement, for a reader; empty where there is none."""

    before: str
    """Of the same speaker."""
    after: str
    after_turn: int
    """The turn of the sentence after it, which another speaker may have."""


def neighbours(transcript: Transcript, signal: RiskSignal) -> Neighbours:
    """Return the sentences before and after a sign's, of which the sentence itself has none."""
    turn = transcript.turns[signal.turn]
    words = transcript.words(turn)
    first, last = signal.start - turn.words_start, signal.end - turn.words_start
    whole = sentence_bounds(words, first, last)
    # A sentence may run over several lines of its speaker.
    earlier = reversed(transcript.turns[max(0, turn.index - _MOST_TURNS) : turn.index])
    own = takewhile(lambda one: one.speaker is turn.speaker, earlier)
    later = transcript.turns[turn.index + 1 : turn.index + 1 + _MOST_TURNS]
    opening = [words[: whole.start], *map(transcript.words, own)]
    closing = [(turn, words[whole.stop :]), *((one, transcript.words(one)) for one in later)]
    before = (_last_sentence(one.strip()) for one in opening)
    after = ((one, _first_sentence(said.strip())) for one, said in closing)
    found = next((one for one in after if one[1] not in signal.sentence), (turn, ""))
    return Neighbours(
        before=next((one for one in before if one not in signal.sentence), ""),
        after=found[1],
        after_turn=found[0].index,
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Surroundings:
    """What stands around a quote: the rest of its sentence, and the question before it."""

    before: str
    after: str
    question: str | None
    question_turn: int | None


def surroundings(transcript: Transcript, turn: Turn, start: int, end: int) -> Surroundings:
    """Return what stands around a stretch of a turn; offsets in code points of the transcript."""
    words, first, last = transcript.words(turn), start - turn.words_start, end - turn.words_start
    whole = sentence_bounds(words, first, last)
    before, after = words[whole.start : first].lstrip(), words[last : whole.stop].rstrip()
    asked = _asking_turn(transcript, turn)
    return Surroundings(
        before=_last_words(before, _FEW_CHARACTERS),
        after=_first_words(after, _FEW_CHARACTERS),
        question=None if asked is None else _question(transcript.words(asked)),
        question_turn=None if asked is None else asked.index,
    )


def sentence_around(words: str, start: int, end: int) -> str:
    """Return the sentences that a stretch of words touches."""
    whole = sentence_bounds(words, start, end)
    opening = _last_words(words[whole.start : start], _MOST_CHARACTERS)
    closing = _first_words(words[end : whole.stop], _MOST_CHARACTERS)
    return f"{opening}{words[start:end]}{closing}".strip()


def _last_words(words: str, most: int) -> str:
    """Return the whole words at the end that fit into so many characters."""
    return words if len(words) <= most else f"{_CUT} {words[-most:].partition(' ')[2]}"


def _first_words(words: str, most: int) -> str:
    return words if len(words) <= most else f"{words[:most].rpartition(' ')[0]} {_CUT}"


def sentence_bounds(words: str, start: int, end: int) -> slice:
    """Return from where to where the sentences go that a stretch of words touches."""
    first = max(0, start - 2 * _MOST_CHARACTERS)
    near = words[first : end + 2 * _MOST_CHARACTERS]
    ends = [first + at for at in _ends(near)]
    opens = max((at for at in ends if at <= start), default=first)
    # A statement may itself end with the mark that ends its sentence.
    closes = min((at for at in ends if at >= end), default=first + len(near))
    return slice(opens, closes)


def _ends(words: str) -> Iterator[int]:
    """Yield where sentences end; a pause before a small letter and an abbreviation end none."""
    for found in _END.finditer(words):
        before, after = words[max(0, found.end() - 20) : found.end()], words[found.end() :]
        is_pause = _PAUSE.search(before) and after[:20].lstrip()[:1].islower()
        if not is_pause and not _ABBREVIATION.search(before):
            yield found.end()


def _over_lines(transcript: Transcript, turn: Turn, sentence: str) -> str:
    """Return a sentence with the lines of its speaker that it runs over.

    Recognisers of speech and people who write messages break sentences into lines.
    """
    words, parts = transcript.words(turn).strip(), [sentence]
    if words.startswith(sentence):
        for line in _lines(transcript, turn, -1):
            if len(" ".join(parts).split()) >= _FEW_WORDS or _is_ended(line):
                break
            parts.insert(0, line)
    if words.endswith(sentence):
        for line in _lines(transcript, turn, 1):
            if len(" ".join(parts).split()) >= _FEW_WORDS or _is_ended(parts[-1]):
                break
            parts.append(line)
    return " ".join(parts)


def _is_ended(line: str) -> bool:
    return any(at == len(line) for at in _ends(line))


def _lines(transcript: Transcript, turn: Turn, step: int) -> Iterator[str]:
    """Yield the words of the turns of the same speaker right before, or right after."""
    near = _near(transcript, turn, step)
    own = takewhile(lambda one: (one.speaker, one.label) == (turn.speaker, turn.label), near)
    return (transcript.words(one).strip()[:_MOST_CHARACTERS] for one in own)


def _near(transcript: Transcript, turn: Turn, step: int) -> Iterator[Turn]:
    for at in range(turn.index + step, turn.index + step * (_MOST_TURNS + 1), step):
        if 0 <= at < len(transcript.turns):
            yield transcript.turns[at]


def _asking_turn(transcript: Transcript, turn: Turn) -> Turn | None:
    """Return the interviewer's turn before, ignoring turns that only show attention."""
    return next(
        (
            one
            for one in _near(transcript, turn, -1)
            if one.speaker is Speaker.INTERVIEWER
            and not _LISTENING.fullmatch(transcript.words(one)[:_MOST_CHARACTERS].strip())
        ),
        None,
    )


def _question(words: str) -> str | None:
    """Return the last question of a turn, or its last sentence where it asks nothing."""
    asked = words.rfind("?")
    words = (words if asked < 0 else words[: asked + 1]).strip()
    last = _last_sentence(words)
    before = words.removesuffix(last).rstrip()
    if before.endswith("?") and len(last.split()) <= _SHORT_QUESTION:
        last = f"{_last_sentence(before)} {last}"
    return last or None


def _first_sentence(words: str) -> str:
    return sentence_around(words, 0, 1) if words else ""


def _last_sentence(words: str) -> str:
    return sentence_around(words, len(words) - 1, len(words)) if words else ""
