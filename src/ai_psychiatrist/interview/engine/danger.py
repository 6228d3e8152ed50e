"""Signs of danger in one answer, read with the question that it answers."""

from dataclasses import replace
from typing import Final

from ai_psychiatrist.domain.examined import READ_LANGUAGE
from ai_psychiatrist.domain.interview import AnswerKind, GivenAnswer, Question
from ai_psychiatrist.domain.risk import RiskLevel
from ai_psychiatrist.domain.transcript import Speaker, Transcript, Turn
from ai_psychiatrist.interview.engine.record import Interview
from ai_psychiatrist.interview.snapshot import Danger, DangerPlace, UnexaminedAnswer
from ai_psychiatrist.services.language.identification import language_of
from ai_psychiatrist.services.risk.detector import detect_risk

_HOLDS_FROM: Final = RiskLevel.MODERATE


def danger_in(question: Question, answer: GivenAnswer) -> Danger | None:
    """Return what holds the interview, `None` when nothing does.

    Frequencies and refusals are the protocol's words and never read.
    """
    option = None if answer.option_id is None else question.option(answer.option_id)
    if option is not None and option.kind is not AnswerKind.OFFERED:
        return None
    report = detect_risk(_exchange(question.text, answer.text))
    if report.level.rank < _HOLDS_FROM.rank:
        return None
    holding = [s for s in report.signals if s.level.rank >= _HOLDS_FROM.rank]
    said_from = len(question.text) + 1
    return Danger(
        level=report.level,
        categories=tuple(sorted({signal.category for signal in holding})),
        places=tuple(
            DangerPlace(
                turn=answer.turn, start=signal.start - said_from, end=signal.end - said_from
            )
            for signal in holding
        ),
    )


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


def _exchange(asked: str, said: str) -> Transcript:
    """Return question and answer as a transcript.

    The turns are laid out here: parsed, an answer could open a turn of the interviewer.
    """
    words_start = len(asked) + 1
    text = f"{asked}\n{said}"
    return Transcript(
        text=text,
        turns=(
            Turn(index=0, speaker=Speaker.INTERVIEWER, start=0, words_start=0, end=words_start),
            Turn(
                index=1,
                speaker=Speaker.PARTICIPANT,
                start=words_start,
                words_start=words_start,
                end=len(text),
            ),
        ),
        speakers_assumed=False,
    )
