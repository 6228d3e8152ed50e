"""What an interviewer, and the page for its person, say besides the questions of a protocol.

All of it has a default in English; a protocol can say each text in another way or language.
"""

from typing import Annotated, Final, TypeAlias

from pydantic import (
    AfterValidator,
    Field,
    PlainValidator,
    Strict,
    ValidationInfo,
    model_validator,
)
from pydantic_core import PydanticCustomError

from ai_psychiatrist.domain.interview_items import Unclear
from ai_psychiatrist.interview.acts import Topic
from ai_psychiatrist.validation.file_model import (
    FileModel,
    Text,
    invalid,
    invalid_inside,
    otherwise,
)


def out_of_range(name: str | None, low: int, high: int) -> PydanticCustomError:
    """Return the error about a number that is none, or outside its bounds."""
    return invalid("out_of_range", f"{name!r} has to be a whole number from {low} to {high}")


def between(low: int, high: int) -> PlainValidator:
    """Take a whole number; both bounds are inclusive, and `true` is none."""

    def check(value: object, key: ValidationInfo) -> int:
        if type(value) is int and low <= value <= high:
            return value
        raise out_of_range(key.field_name, low, high)

    return PlainValidator(check)


Wording: TypeAlias = Annotated[Text, AfterValidator(str.strip)]
"""A text that says something, without the spaces about it."""


class Section(FileModel):
    """A mapping of a protocol file, whose keys all have a value."""

    @model_validator(mode="before")
    @classmethod
    def _says_something(cls, given: object) -> object:
        if isinstance(given, dict) and None in given.values():
            empty = [key for key, value in given.items() if value is None]
            no_value = {key: invalid("wrong_shape", f"{key!r} has no value") for key in empty}
            raise invalid_inside(no_value)
        return given


class PageTexts(Section):
    """The texts of the page, none of which is a question."""

    language: Annotated[
        str,
        Strict(),
        Field(pattern=r"^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*\z"),
        otherwise("language_tag", "a language is a BCP 47 tag, such as en or pt-BR"),
    ] = "en"
    """Of all texts of the page and of the questions."""
    title: Wording = "A few questions"
    loading: Wording = "One moment …"
    no_script: Wording = (
        "This page needs JavaScript, which is switched off here. Switch it on for this page, or "
        "ask the person who invited you for another way to answer the questions."
    )
    refused: Wording = (
        "This link does not open anything here: it was opened in another browser, has expired, was "
        "replaced, or the interview was deleted. Please ask the person who invited you for a new "
        "link."
    )
    progress: Wording = "Question {number} of {of}"
    own_words: Wording = "Or in your own words"
    send: Wording = "Send"
    sending: Wording = "Sending …"
    received: Wording = "Received. You can add to it; the next question follows in a few seconds."
    offline: Wording = (
        "The server cannot be reached just now. What you answered stays here, and is sent again by "
        "itself."
    )
    again: Wording = "Try again"
    not_taken: Wording = "This answer could not be taken. Please answer once more."
    failed: Wording = "Something did not work here. What you answered is kept."
    earlier: Wording = "What was said so far"
    you: Wording = "You"
    change: Wording = "Change an answer"
    change_one: Wording = "Change"
    noted: Wording = "Noted"
    pause: Wording = "Pause"
    paused: Wording = (
        "Paused. You can close this page, and go on later with the same browser on this device."
    )
    go_on: Wording = "Go on"
    stop: Wording = "End"
    stop_question: Wording = "Do you want to end now? What is not answered stays open."
    stop_agree: Wording = "Yes, finish now"
    stop_disagree: Wording = "No, go on"
    over: Wording = "You can close this page now."
    held: Wording = (
        "You can close this page now. If the questions can go on later, they appear here: on this "
        "page, or when you open it again with the same browser."
    )
    """Said where an interview is held, until it is reopened."""
    help: Wording = "Help at once"


class YesOrNo(Section):
    """A question that is answered by yes or no."""

    question: Wording
    agree: Wording = "Yes"
    disagree: Wording = "No"


_UNCLEAR: Final = {
    Unclear.RANGE: "{found} could be one answer or the next.",
    Unclear.TWO_VALUES: "I have {found}: which is it?",
    Unclear.COMPARISON: "I do not know what is usual for you, so I need the number of days.",
    Unclear.GOOD_DAYS: "I am not sure whether {found} counts the good days or the bad ones.",
    Unclear.CONDITION: "I see when it happens, and not yet on how many days it did.",
    Unclear.OTHER_TIME: "I am asking about the last two weeks alone.",
    Unclear.OTHER_PERSON: "I am asking about you alone.",
    Unclear.NEGATED: "I am not sure whether {found} is what you mean.",
    Unclear.VAGUE: "I have that it was there, and not yet on how many days.",
    Unclear.OPTION_NUMBER: "I am not sure whether you mean days.",
}
_EXPLANATIONS: Final = {
    Topic.READERS: (
        "The person who invited you can read what you write here. If you want to know more, please "
        "ask that person first; you need not answer before you know."
    ),
    Topic.PURPOSE: (
        "Your answers give an overview of how the last two weeks were for you. You may leave out "
        "any question, and you may stop at any time."
    ),
    Topic.LENGTH: "There are at most {of} questions; this is number {number}.",
    Topic.PERSON: "I am a program. I ask written questions and note your answers.",
    Topic.PERIOD: "The last two weeks are the 14 days up to today; weekends count.",
    Topic.CAUSES: (
        "Please count all days on which it was so, whatever the cause was: illness, pain, grief "
        "and work count as well."
    ),
    Topic.MEANING: "There is no exact definition; what counts is how you see it yourself.",
    Topic.OTHER: (
        "I can only ask about the last two weeks. For anything else, please ask the person who "
        "invited you."
    ),
}


def _unclear(given: dict[Unclear, str]) -> dict[Unclear, str]:
    return {**_UNCLEAR, **given}


def _explained(given: dict[Topic, str]) -> dict[Topic, str]:
    return {**_EXPLANATIONS, **given}


class Review(Section):
    """How a person is shown at the end what was noted."""

    question: Wording = (
        "That was my last question. This is what I have noted:\n{noted}\n"
        "Would you like to change anything?"
    )
    line: Wording = "{item}: {answer}"
    said: Wording = "(you said: “{words}”)"
    none: Wording = "no answer"
    agree: Wording = "No, this is right"
    change: Wording = "Change: {item}"
    which: Wording = "Which of them would you like to change? Please name it."


class Conversation(Section):
    """Sentences around the questions; each has a default in English."""

    paused: Wording = "Of course. Your answers and your place are kept; write when you are ready."
    resumed: Wording = "Welcome back. We were at question {number} of {of}."
    wait: Wording = "Take your time."
    stop: YesOrNo = YesOrNo(question="Shall we stop here? What you have said is kept.")
    once_more: YesOrNo = YesOrNo(
        question="You preferred not to answer one question: {item}. May I ask it once more?"
    )
    choose: Wording = "Which of these four comes closest for the last two weeks?"
    days: Wording = "For {item}, do you mean {days} of the 14 days?"
    unread: Wording = "I could not read that. Please choose one of the answers that I offer."
    joined: Wording = "and"
    """Stands between two quotes of the person."""
    reopened: Wording = "Let us go back to one question: {item}."
    unclear: Annotated[dict[Unclear, Wording], AfterValidator(_unclear)] = Field(
        default_factory=lambda: dict(_UNCLEAR)
    )
    """By what keeps an answer from being read; `{found}` stands for the words that were found.
    Those that are not given are the defaults."""
    explanations: Annotated[dict[Topic, Wording], AfterValidator(_explained)] = Field(
        default_factory=lambda: dict(_EXPLANATIONS)
    )
    """By what a person asks back; `{number}` and `{of}` count the questions."""
    review: Review | None = None
    """Only in a protocol of items; without it the interview ends after the last answer."""
