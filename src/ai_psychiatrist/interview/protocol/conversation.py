"""What an interviewer says between its questions, as a protocol words it."""

from typing import Annotated, Final

from pydantic import AfterValidator, Field

from ai_psychiatrist.domain.interview_items import Unclear
from ai_psychiatrist.interview.acts import Topic
from ai_psychiatrist.interview.protocol.section import Section, Wording


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
        "Whoever invited you to this interview can read what you write here. If you want to know "
        "more, please ask them; you need not answer before you know."
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
        "I can only ask about the last two weeks. For anything else, please ask whoever invited "
        "you to this interview."
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
