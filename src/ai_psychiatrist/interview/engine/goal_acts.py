"""What a message does in an interview about goals beside answering: stop, pause, ask back."""

from typing import Final

from ai_psychiatrist.domain.interview import QuestionPurpose
from ai_psychiatrist.domain.interview_items import Act
from ai_psychiatrist.interview.acts import Topic
from ai_psychiatrist.interview.engine.aside import after_danger, explained, paused, stopped
from ai_psychiatrist.interview.engine.items import message_of
from ai_psychiatrist.interview.engine.noted import with_acts
from ai_psychiatrist.interview.engine.turns import ask_aside, repeat
from ai_psychiatrist.interview.messages import Message
from ai_psychiatrist.interview.protocol.records import InterviewProtocol
from ai_psychiatrist.interview.record import Interview

_ABOUT_THE_INTERVIEW: Final = frozenset({Topic.READERS, Topic.PURPOSE, Topic.LENGTH, Topic.PERSON})


def aside(protocol: InterviewProtocol, interview: Interview) -> Interview | None:
    """Return the interview after a message that is no answer, `None` for one that is."""
    question, message = interview.question, message_of(interview)
    if question is None or message is None:
        return None
    noted, is_asked = interview, question.purpose is QuestionPurpose.ASK
    if message.option is None and (message.acts or not is_asked):
        noted = with_acts(interview, message)
    match question.purpose:
        case QuestionPurpose.LAST_WORD | QuestionPurpose.GO_ON:
            return after_danger(protocol, noted, message)
        case QuestionPurpose.CONFIRM_STOP:
            is_yes = message.leans_yes or message.does(Act.STOP)
            return stopped(protocol, noted, is_yes=is_yes)
        case _:
            return _done(protocol, noted, message)


def _done(protocol: InterviewProtocol, interview: Interview, message: Message) -> Interview | None:
    if message.does(Act.STOP):
        return ask_aside(interview, protocol.conversation.stop, QuestionPurpose.CONFIRM_STOP)
    if message.does(Act.PAUSE):
        return paused(protocol, interview)
    topic, question = message.topic, interview.question
    if topic in _ABOUT_THE_INTERVIEW and topic is not None and question is not None:
        return repeat(interview, question, notice=explained(protocol, interview, topic, None))
    return None
