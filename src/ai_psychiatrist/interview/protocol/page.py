"""What the page of an interview says to its person besides the questions; all of it has a default.

The protocol's file can say each text in another way, or in another language.
"""

from typing import Annotated

from pydantic import Field, Strict

from ai_psychiatrist.interview.protocol.section import Section, Wording
from ai_psychiatrist.validation.file_model import otherwise


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
        "ask whoever gave you the link to put the questions to you in another way."
    )
    refused: Wording = (
        "This link does not open anything here: it was opened in another browser, has expired, was "
        "replaced, or the interview was deleted. Please ask whoever gave it to you for a new one."
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
