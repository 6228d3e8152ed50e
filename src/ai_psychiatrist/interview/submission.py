"""An answer as it comes in, and what is wrong with it."""

import json
import re
import unicodedata
from dataclasses import dataclass, field
from typing import Final

from ai_psychiatrist.domain.errors import InputError, RequestConflict
from ai_psychiatrist.domain.interview import (
    AnswerKind,
    AnswerOption,
    GivenAnswer,
    Question,
    QuestionPurpose,
)
from ai_psychiatrist.domain.phq8 import Item

_KEY: Final = re.compile(r"[A-Za-z0-9_.:-]{1,128}")
_UNSEEN: Final = frozenset({"Cc", "Cf", "Zs", "Zl", "Zp"})
"""Unicode categories of controls, invisible signs and spaces."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerSubmission:
    """An answer: an option, free text, or the wish to stop."""

    question_id: str
    idempotency_key: str
    """1 to 128 letters, digits, or `-_.:`; the same key twice is one answer."""
    version: int
    """Of the snapshot that is answered."""
    option_id: str | None = None
    text: str | None = field(default=None, repr=False)
    is_stop: bool = False
    """Ends the interview; the question stays unanswered. Needs neither option nor text."""
    is_pause: bool = False
    """Sets the interview aside; the question still waits. Needs neither option nor text."""
    change: Item | None = None
    """Opens an item that was answered, to be answered again. Needs neither option nor text."""
    is_appended: bool = False
    """Of free text: what is sent within a few seconds after it is part of the same answer."""
    began_as: str | None = field(default=None, repr=False)
    """The text of the first message, where further ones were joined to it."""

    def to_bytes(self) -> bytes:
        """Return what is sent; the same answer gives the same bytes."""
        text = self.text if self.began_as is None else self.began_as
        sent = [self.question_id, self.option_id, text, self.is_stop]
        if self.is_pause or self.change is not None:
            sent += [self.is_pause, self.change and self.change.value]
        return json.dumps(sent, separators=(",", ":")).encode("ascii")


def check_key(submission: AnswerSubmission) -> None:
    """Raise `InputError` for a key that is none."""
    if not _KEY.fullmatch(submission.idempotency_key):
        msg = "the key has 1 to 128 letters, digits, or one of - _ . :"
        raise InputError(msg, field="idempotency_key")


def given_answer(
    question: Question | None,
    submission: AnswerSubmission,
    *,
    turn: int,
    max_characters: int,
    by_wording: bool = False,
) -> GivenAnswer:
    """Return the answer to the question that waits.

    `by_wording`: whether words that are those of an option choose it, or "yes" one that begins so.
    Raises `RequestConflict` when it is for another one, and `InputError` when it was not offered,
    is empty or too long.
    """
    if question is None or submission.question_id != question.id:
        raise RequestConflict("version_conflict", field="question_id")
    if (submission.option_id is None) == (submission.text is None):
        msg = "send either option_id or text"
        raise InputError(msg, field="text")
    if submission.option_id is not None:
        return _chosen(question, submission.option_id, turn)
    text = submission.text or ""
    _check_text(question, text, max_characters)
    meant = worded_option(question, text, by_head=True) if by_wording else None
    if meant is not None:
        return _chosen(question, meant.id, turn)
    return GivenAnswer(question_id=question.id, option_id=None, text=text, turn=turn)


def worded_option(question: Question, text: str, *, by_head: bool = False) -> AnswerOption | None:
    """Return the option whose wording a text is, `None` for any other words.

    `by_head`: whether "yes" is enough for one that begins so. "Not at all" may deny what was read
    back as well as answer, so that there it chooses nothing.
    """
    said = _plain_wording(text)
    for option in question.options:
        is_reply = option.kind in {AnswerKind.CONFIRM, AnswerKind.REJECT}
        if question.purpose is QuestionPurpose.READ_BACK and option.kind is AnswerKind.ANCHOR:
            continue
        wording = _plain_wording(option.text)
        if said == wording or (by_head and is_reply and said == wording.partition(",")[0]):
            return option
    return None


def _plain_wording(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(".!")


def refuse_broken_input(text: str, *, field_: str) -> None:
    """Raise `InputError` for a text that is not valid Unicode."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        msg = "the text holds a lone surrogate; send it as valid Unicode text"
        raise InputError(msg, field=field_) from None


def _chosen(question: Question, option_id: str, turn: int) -> GivenAnswer:
    option = question.option(option_id)
    if option is None:
        listed = ", ".join(one.id for one in question.options)
        msg = f"this answer was not offered; choose one of {listed}"
        raise InputError(msg, field="option_id")
    return GivenAnswer(question_id=question.id, option_id=option.id, text=option.text, turn=turn)


def _check_text(question: Question, text: str, max_characters: int) -> None:
    if not question.allows_free_text:
        msg = "this question takes one of its options, not free text"
        raise InputError(msg, field="text")
    if all(unicodedata.category(character) in _UNSEEN for character in text):
        msg = "the answer is empty"
        raise InputError(msg, field="text")
    if len(text) > max_characters:
        msg = f"the answer is longer than {max_characters} characters"
        raise InputError(msg, field="text")
    refuse_broken_input(text, field_="text")
