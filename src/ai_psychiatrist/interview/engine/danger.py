"""Signs of danger in one answer, read with the question that it answers: by rules and by a model.

The rules decide first. A model may hold an interview that they would not, never the other way.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, Protocol

from ai_psychiatrist.agents.context import AssessmentContext, assessment_context
from ai_psychiatrist.agents.danger import reading_in_part
from ai_psychiatrist.domain.failures import FailureCode
from ai_psychiatrist.domain.interview import AnswerKind, GivenAnswer, Question
from ai_psychiatrist.domain.risk import (
    READ_LANGUAGE,
    ModelReading,
    ReadingStatus,
    RiskGroup,
    RiskLevel,
    RiskSignal,
)
from ai_psychiatrist.domain.transcript import exchange
from ai_psychiatrist.interview.engine.turn_clock import timed
from ai_psychiatrist.interview.record import (
    Danger,
    DangerPlace,
    DangerReading,
    Interview,
    UnexaminedAnswer,
)
from ai_psychiatrist.llm.calls import CallRecorder
from ai_psychiatrist.llm.replies import OnKept, PartialOutput
from ai_psychiatrist.services.language.identification import language_of
from ai_psychiatrist.services.risk.context import sentence_bounds
from ai_psychiatrist.services.risk.detector import detect_risk

_HOLDS_FROM: Final = RiskLevel.MODERATE


class DangerReader(Protocol):
    """A model that reads for danger alone."""

    @property
    def most_calls(self) -> int:
        """How many calls a reading may cost."""
        ...

    async def read(self, case: AssessmentContext, *, on_kept: OnKept | None = None) -> ModelReading:
        """Return the signs, or why there are none to be had.

        `on_kept`: gets the signs of refused replies, in case the reading is broken off.
        """
        ...


def danger_in(question: Question, answer: GivenAnswer) -> Danger | None:
    """Return what the rules hold the interview for, `None` when nothing does.

    Frequencies and refusals are the protocol's words and never read.
    """
    option = question.chosen(answer)
    if option is not None and option.kind is not AnswerKind.OFFERED:
        return None
    asked = exchange(f"{question.text}\n", _as_sentences(answer.text))
    # Who is silent or asks back is asked again, and not held.
    report = detect_risk(asked, goes_on=True)
    return danger_of(report.signals, question, answer)


def _as_sentences(text: str) -> str:
    """Return a message in which each line ends a sentence; all characters keep their place.

    People send what they say next on a line of its own: "… without me" takes nothing back from it.
    """
    return text.replace("\n", ".")


def without_danger(text: str, danger: Danger) -> str:
    """Return an answer with spaces in the place of the sentences in which danger stands.

    All other characters keep their place; the end of a line ends a sentence as well.
    """
    for place in danger.places:
        first = text.rfind("\n", 0, place.start) + 1
        lines = text[first : place.end] + text[place.end :].partition("\n")[0]
        found = sentence_bounds(lines, place.start - first, place.end - first)
        blank = " " * (found.stop - found.start)
        text = f"{text[: first + found.start]}{blank}{text[first + found.stop :]}"
    return text


def danger_of(
    signals: Sequence[RiskSignal], question: Question, answer: GivenAnswer
) -> Danger | None:
    """Return what signals in an answer hold the interview for, `None` when none is grave enough.

    What is past and over, quoted, about others or denied holds nothing, whatever its level.
    """
    holding = [
        signal
        for signal in signals
        if signal.group is RiskGroup.READ_NOW and signal.level.rank >= _HOLDS_FROM.rank
    ]
    if not holding:
        return None
    said_from = len(question.text) + 1
    places: dict[int, DangerPlace] = {}
    for signal in sorted(holding, key=lambda one: one.start):
        start, end = signal.start - said_from, signal.end - said_from
        # Several signs in one sentence are one statement, which a person reads once.
        opens = sentence_bounds(answer.text, start, end).start
        if known := places.get(opens):
            start, end = known.start, max(known.end, end)
        places[opens] = DangerPlace(turn=answer.turn, start=start, end=end)
    return Danger(
        level=max((signal.level for signal in holding), key=lambda level: level.rank),
        categories=tuple(sorted({signal.category for signal in holding})),
        places=tuple(places.values()),
        source=holding[0].source,
    )


def is_to_be_read(interview: Interview) -> bool:
    """Return whether the stored answer is for a model to read: words of the person, read once."""
    answer = interview.answer
    if answer is None or answer.option_id is not None:
        return False
    known = interview.danger_readings[-1:]
    return not any(
        one.turn == answer.turn and one.status is ReadingStatus.ANSWERED for one in known
    )


async def read_by_model(
    reader: DangerReader,
    question: Question,
    answer: GivenAnswer,
    calls: CallRecorder,
    *,
    seconds: float,
) -> ModelReading:
    """Have a model read an answer; one that is later than `seconds` has failed."""
    case = assessment_context(exchange(f"{question.text}\n", answer.text))
    kept: list[PartialOutput] = []
    try:
        async with timed(calls, seconds) as in_time:
            return await reader.read(replace(case, calls=in_time), on_kept=kept.append)
    except TimeoutError:
        last = kept[-1] if kept else None
        return await reading_in_part(case, last, FailureCode.DEADLINE_EXCEEDED)


def note_reading(interview: Interview, turn: int, reading: ModelReading) -> Interview:
    """Put down what became of a model's reading, in the place of one of the same answer before."""
    noted = DangerReading(turn=turn, status=reading.status, code=reading.code)
    others = tuple(one for one in interview.danger_readings if one.turn != turn)
    return replace(interview, danger_readings=(*others, noted))


def note_unread(interview: Interview) -> Interview:
    """Put down that the answer is in a language that is not read; it holds nothing up.

    An answer that does not tell its language goes with the one before it.
    """
    answer = interview.answer
    if answer is None or answer.option_id is not None:
        return interview
    before = interview.not_examined[-1:]
    language = language_of(answer.text)
    if language is None and before and before[0].turn == answer.turn - 1:
        language = before[0].language
    if language in {None, READ_LANGUAGE}:
        return interview
    unread = UnexaminedAnswer(turn=answer.turn, language=str(language))
    return replace(interview, not_examined=(*interview.not_examined, unread))
