"""What a message does in an interview about goals beside answering: stop, pause, ask back."""

from dataclasses import replace
from typing import Final

from ai_psychiatrist.domain.interview import AnswerKind, EndReason, InterviewState, QuestionPurpose
from ai_psychiatrist.domain.interview_items import Act
from ai_psychiatrist.interview.acts import Topic
from ai_psychiatrist.interview.engine.aside import explained, paused
from ai_psychiatrist.interview.engine.turns import ask_aside, end, repeat, stay_held
from ai_psychiatrist.interview.messages import Message, read_message
from ai_psychiatrist.interview.protocol.records import InterviewProtocol
from ai_psychiatrist.interview.record import Interview

_AFTER_DANGER: Final = frozenset({QuestionPurpose.LAST_WORD, QuestionPurpose.GO_ON})
_ABOUT_THE_INTERVIEW: Final = frozenset({Topic.READERS, Topic.PURPOSE, Topic.LENGTH, Topic.PERSON})


def aside(protocol: InterviewProtocol, interview: Interview) -> Interview | None:
    """Return the interview after a message that is no answer, `None` for one that is."""
    question, answer = interview.question, interview.answer
    if question is None or answer is None:
        return None
    option = question.chosen(answer)
    message = read_message(answer, None) if option is None else None
    is_yes = (
        option.kind is AnswerKind.CONFIRM if option else message is not None and message.leans_yes
    )
    noted = interview
    if message is not None and (message.acts or question.purpose is not QuestionPurpose.ASK):
        noted = replace(interview, acts=(*interview.acts, *message.spoken_acts(replies=True)))
    if question.purpose in _AFTER_DANGER:
        goes_on = question.purpose is QuestionPurpose.GO_ON and is_yes
        return resumed_goals(noted) if goes_on else stay_held(protocol, noted)
    if question.purpose is QuestionPurpose.CONFIRM_STOP:
        if is_yes or (message is not None and message.does(Act.STOP)):
            return end(protocol, replace(noted, behind=None), EndReason.STOPPED)
        return resumed_goals(noted)
    return None if message is None else _done(protocol, noted, message)


def _done(protocol: InterviewProtocol, interview: Interview, message: Message) -> Interview | None:
    if message.does(Act.STOP):
        return ask_aside(interview, protocol.conversation.stop, QuestionPurpose.CONFIRM_STOP)
    if message.does(Act.PAUSE):
        return paused(protocol, interview)
    topic, question = message.topic, interview.question
    if topic in _ABOUT_THE_INTERVIEW and topic is not None and question is not None:
        return repeat(interview, question, notice=explained(protocol, interview, topic, None))
    return None


def resumed_goals(interview: Interview) -> Interview:
    """Put the question again that waited behind a hold, or behind a wish to stop."""
    behind = interview.behind
    if behind is None:
        return replace(interview, state=InterviewState.AWAITING, end_reason=None)
    return repeat(replace(interview, end_reason=None), behind)
