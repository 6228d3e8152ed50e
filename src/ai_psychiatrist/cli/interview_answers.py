"""Where the answers of an interview come from, and what a line of one means."""

import sys
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final, Protocol

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.domain.interview import Question

STOP: Final = "stop"
_PROMPT: Final = "> "
_LONGEST_NUMBER: Final = 4


class AnswersEnded(Exception):
    """No further answer comes; the interview waits for the next one."""


class AnswerSource(Protocol):
    """Gives one line for each question."""

    @property
    def is_unseen(self) -> bool:
        """Whether nobody sees the lines unless they are printed."""
        ...

    def next_line(self) -> str:
        """Return the next answer; raises `AnswersEnded` when there is none."""
        ...

    def refuse(self, complaint: str) -> None:
        """Take note that the last line was no answer; raises when no better one can come."""
        ...


class Typed:
    """What a person types."""

    def __init__(self) -> None:
        # Arrow keys edit the line then; nothing typed is kept in a file.
        with suppress(ImportError):
            import readline  # noqa: F401, PLC0415

    @property
    def is_unseen(self) -> bool:
        """Whether the lines come through a pipe."""
        return not sys.stdin.isatty()

    def next_line(self) -> str:
        """Read a line that is not blank; the end of the input ends the answers."""
        while True:
            try:
                line = input(_prompt())
            except EOFError:
                raise AnswersEnded from None
            except UnicodeDecodeError:
                self.refuse("the answer is not UTF-8 text")
                continue
            if line.strip():
                return line

    def refuse(self, complaint: str) -> None:
        """Say it, so that the question is answered again."""
        sys.stderr.write(f"{complaint}\n")


def _prompt() -> str:
    """Return the prompt, and keep it out of output that goes elsewhere than to a terminal."""
    if sys.stdout.isatty():
        return _PROMPT
    if sys.stdin.isatty():
        sys.stderr.write(_PROMPT)
        sys.stderr.flush()
    return ""


class Scripted:
    """The lines of a file; blank ones are passed over."""

    is_unseen = True

    def __init__(self, text: str) -> None:
        self._lines = [
            (number, line.strip())
            for number, line in enumerate(text.splitlines(), start=1)
            if line.strip()
        ]
        self._at = 0

    def next_line(self) -> str:
        """Return the next line."""
        if self._at == len(self._lines):
            raise AnswersEnded
        self._at += 1
        return self._lines[self._at - 1][1]

    def refuse(self, complaint: str) -> None:
        """Raise `InputError` with the line's number: nobody is there to answer again."""
        number = self._lines[self._at - 1][0]
        raise InputError(f"--answers, line {number}: {complaint}", field="--answers")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadAnswer:
    """What a line means: an option, words, or the wish to stop."""

    option_id: str | None = None
    text: str | None = field(default=None, repr=False)
    is_stop: bool = False


def read_line(line: str, question: Question) -> ReadAnswer:
    """Tell what a line answers: `stop`, an option's number, its wording, or free text.

    Raises `InputError` for what is none of them.
    """
    said = line.strip()
    if said.casefold() == STOP:
        return ReadAnswer(is_stop=True)
    if said.isdecimal():
        return ReadAnswer(option_id=_numbered(said, question))
    wanted = _plain_wording(said)
    for option in question.options:
        if _plain_wording(option.text) == wanted:
            return ReadAnswer(option_id=option.id)
    if not question.allows_free_text:
        raise InputError(_choose(question), field="answer")
    if not _is_text(said):
        raise InputError("the answer is not UTF-8 text", field="answer")
    return ReadAnswer(text=said)


def _numbered(digits: str, question: Question) -> str:
    number = int(digits) if len(digits) <= _LONGEST_NUMBER else 0
    if not 1 <= number <= len(question.options):
        raise InputError(_choose(question), field="answer")
    return question.options[number - 1].id


def _choose(question: Question) -> str:
    """Return how to answer; a bare number may have been meant as days, so it is no free text."""
    words = ", or say it in words, such as `4 days`" if question.allows_free_text else ""
    return f"choose a number from 1 to {len(question.options)}{words}"


def _plain_wording(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(".")


def _is_text(said: str) -> bool:
    """Return whether a line was decoded; a terminal's wrong bytes become lone surrogates."""
    return not any("\ud800" <= character <= "\udfff" for character in said)
