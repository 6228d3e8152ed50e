"""Messages that answer no item: stop, pause, ask back, review, continue."""

from dataclasses import replace
from typing import Final

from ai_psychiatrist.domain.interview import (
    EndReason,
    GoalStatus,
    InterviewState,
    MessageSpeaker,
    QuestionPurpose,
)
from ai_psychiatrist.domain.interview_items import Act, Unclear
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.interview.acts import Topic, is_return
from ai_psychiatrist.interview.engine.asking import end_reason, proceed, put_item_again
from ai_psychiatrist.interview.engine.correction import item_turned_to
from ai_psychiatrist.interview.engine.noted import (
    proposed,
    replaced,
    with_answers,
    with_other,
    with_others,
)
from ai_psychiatrist.interview.engine.turns import (
    ask_aside,
    end,
    place_of,
    repeat,
    said_by_interviewer,
    say,
    stay_held,
    with_goals,
)
from ai_psychiatrist.interview.messages import Message
from ai_psychiatrist.interview.phq8.corrections import item_at_place, named_items
from ai_psychiatrist.interview.phq8.free_answers import (
    AnswerReading,
    ReadingKind,
    read_answer,
)
from ai_psychiatrist.interview.protocol.placeholders import filled
from ai_psychiatrist.interview.protocol.records import InterviewProtocol, ProtocolKind
from ai_psychiatrist.interview.record import Interview

_ASIDES: Final = frozenset({Act.QUESTION, Act.FRAGMENT})
_MOST_ASIDES: Final = 4
"""Messages about one item that answer nothing and cost no ask; each further one costs one."""


def wishes_to_stop(
    protocol: InterviewProtocol, interview: Interview, message: Message
) -> Interview:
    """Ask once whether to stop; what the same message answers beside is not lost."""
    question = interview.question
    if question is not None and question.purpose is QuestionPurpose.REVIEW:
        return end(protocol, interview, end_reason(interview))
    worked_in = (with_answers if message.has_score else with_others)(interview, message)
    return ask_aside(worked_in, protocol.conversation.stop, QuestionPurpose.CONFIRM_STOP)


def stopped(protocol: InterviewProtocol, interview: Interview, *, is_yes: bool) -> Interview:
    """End after a yes; else go on with what was asked before."""
    if is_yes:
        return end(protocol, replace(interview, behind=None), EndReason.STOPPED)
    return resumed(protocol, interview)


def after_danger(protocol: InterviewProtocol, interview: Interview, message: Message) -> Interview:
    """Go on after a yes to the offer; whatever else is said is kept, and nothing more is asked."""
    question = interview.question
    is_offered = question is not None and question.purpose is QuestionPurpose.GO_ON
    return (resumed if is_offered and message.leans_yes else stay_held)(protocol, interview)


def resumed(protocol: InterviewProtocol, interview: Interview) -> Interview:
    """Go on after a hold or a wish to stop: with the question behind, or the next one."""
    behind = interview.behind
    going_on = replace(interview, state=InterviewState.AWAITING, end_reason=None, behind=None)
    if protocol.kind is ProtocolKind.GOALS:
        return repeat(going_on, behind) if behind else going_on
    if behind is None or behind.purpose is QuestionPurpose.REVIEW:
        return proceed(protocol, replace(going_on, question=None))
    goal = interview.goal(behind.goal_id)
    is_to_be_read_back = goal.item is not None and interview.open_proposal(goal.item) is not None
    if goal.status is GoalStatus.COMPLETE or is_to_be_read_back:
        # What is read back names its item then.
        return proceed(protocol, replace(going_on, question=None if is_to_be_read_back else behind))
    return repeat(going_on, behind)


def left(protocol: InterviewProtocol, interview: Interview, message: Message) -> Interview:
    """Set the interview aside; what the same message answers beside is not lost."""
    behind = interview.behind
    if behind is not None:
        return paused(protocol, replace(interview, question=behind, behind=None))
    if not message.has_score:
        return paused(protocol, with_others(interview, message))
    following = proceed(protocol, with_answers(interview, message))
    if following.question is None:
        return following
    # The question that follows is put when the person is back.
    return paused(protocol, replace(following, messages=interview.messages))


def paused(protocol: InterviewProtocol, interview: Interview) -> Interview:
    """Set the interview aside; its question keeps its place."""
    question, turn = interview.question, interview.turn + 1
    if question is None:
        return interview
    return replace(
        say(interview, protocol.conversation.paused, MessageSpeaker.INTERVIEWER),
        state=InterviewState.PAUSED,
        question=replace(question, id=f"q{turn}", turn=turn),
        answer=None,
        answer_key=None,
    )


def greeted(protocol: InterviewProtocol, interview: Interview) -> Interview:
    """Greet who comes back, tell where the interview stood, and put its question again."""
    question = interview.question
    if question is None:
        return interview
    words = filled(protocol.conversation.resumed, place_of(interview))
    return repeat(interview, question, notice=words)


def is_only_back(interview: Interview) -> bool:
    """Return whether the stored answer only says that the person is back."""
    answer = interview.answer
    return answer is not None and answer.option_id is None and is_return(answer.text)


def not_answering(
    protocol: InterviewProtocol, interview: Interview, message: Message
) -> Interview | None:
    """Return the interview after a pause, a question back or a fragment, `None` for all else."""
    question = interview.question
    if question is None:
        return interview
    if message.does(Act.PAUSE):
        return left(protocol, interview, message)
    asides = [one for one in interview.acts if one.item is message.asked and one.act in _ASIDES]
    if len(asides) > _MOST_ASIDES:
        # Who only asks back is asked for one of the four answers in the end.
        return None
    if message.topic is not None and not (message.has_score or message.others):
        told = explained(protocol, interview, message.topic, message.asked)
        return repeat(interview, question, notice=told)
    if message.says_nothing_yet:
        return repeat(interview, question, notice=protocol.conversation.wait)
    return None


def explained(
    protocol: InterviewProtocol, interview: Interview, topic: Topic | None, item: Item | None
) -> str:
    """Return the protocol's words on what a person asks back; empty where nothing is asked."""
    if topic is None:
        return ""
    if topic is Topic.MEANING and item is None:
        topic = Topic.OTHER
    own = protocol.items[item].explanation if item and topic is Topic.MEANING else None
    return filled(own or protocol.conversation.explanations[topic], place_of(interview))


def what_is_unclear(protocol: InterviewProtocol, read: AnswerReading) -> str:
    """Return what keeps an answer from being read, with its own words; else nothing.

    Of one whose likeliest score is read back nothing more is said, but for a bare number.
    """
    if read.kind is ReadingKind.UNREADABLE:
        return protocol.conversation.unread
    is_read_back = read.score is not None and read.unclear is not Unclear.OPTION_NUMBER
    if read.kind is not ReadingKind.UNCLEAR or read.unclear is None or is_read_back:
        return ""
    quotes = read.found or ((read.quote,) if read.quote else ())
    words = dict.fromkeys(f"“{one.text}”" for one in quotes)
    unclear = protocol.conversation.unclear
    sentence = unclear[read.unclear]
    if "{found}" in sentence and not words:
        sentence = unclear[Unclear.VAGUE]
    return filled(sentence, {"found": f" {protocol.conversation.joined} ".join(words)})


def asked_once_more(
    protocol: InterviewProtocol, interview: Interview, message: Message
) -> Interview:
    """Ask about a refused item again after a yes; whatever else is said, it stays refused."""
    item = message.asked
    if item is not None and message.leans_yes:
        return put_item_again(protocol, interview, item, is_ask=True)
    aside = not_answering(protocol, interview, message)
    if aside is not None or item is None:
        return aside or proceed(protocol, interview)
    answer, interview = message.answer, with_others(interview, message)
    if answer.is_read and answer.score and not (message.is_no or message.is_refusal):
        return proceed(protocol, proposed(interview, item, answer, turn=message.turn))
    return proceed(protocol, interview)


def looked_through(
    protocol: InterviewProtocol, interview: Interview, message: Message
) -> Interview:
    """End after the review, or open what the person wants to change."""
    review, question = protocol.conversation.review, interview.question
    listed = interview.asked_items
    at_place = item_at_place(message.text, listed)
    named = named_items(message.text, listed) or ((at_place,) if at_place else ())
    changes = {item: read for item, read in message.others.items() if item in named}
    if changes:
        for item, read in changes.items():
            interview = with_other(interview, item, read)
        return proceed(protocol, interview)
    if message.is_no and not named:
        told = explained(protocol, interview, message.topic, None)
        spoken = say(interview, told, MessageSpeaker.INTERVIEWER)
        return end(protocol, spoken, end_reason(interview))
    aside = not_answering(protocol, interview, message)
    if message.answer.kind is ReadingKind.UNREADABLE and question is not None:
        aside = repeat(interview, question, notice=protocol.conversation.unread)
    if aside is not None:
        return aside
    if len(named) == 1 and not message.is_no:
        return reopened(protocol, interview, named[0])
    said = read_answer(Item.NO_INTEREST, message.text)
    says_how_often = bool(said.score) or said.kind is ReadingKind.UNCLEAR
    asks_which = (message.is_yes or says_how_often) and not message.is_no
    if review is None or question is None or not asks_which or question.text == review.which:
        return end(protocol, interview, end_reason(interview))
    counted = replace(interview, reviews=interview.reviews + 1)
    return repeat(counted, replace(question, text=review.which))


def chosen_at_review(
    protocol: InterviewProtocol, interview: Interview, message: Message
) -> Interview:
    """End after the review, or open the item that the person chose to change."""
    item = message.option.item if message.option else None
    if item is None:
        return end(protocol, interview, end_reason(interview))
    return reopened(protocol, interview, item)


def kept_waiting(
    protocol: InterviewProtocol, interview: Interview, message: Message
) -> Interview | None:
    """Return the interview after a reply that leaves what was read back to be confirmed.

    One that names another item opens that, if it was answered before, and reads back afterwards;
    one that says neither yes nor no has it read back once more. `None` for any other.
    """
    item, question = message.asked, interview.question
    if item is None or question is None or message.is_no or message.says_how_often:
        return None
    other = item_turned_to(interview, message)
    if other is not None and other is not item and interview.readings_of(other):
        return reopened(protocol, interview, other)
    is_first = said_by_interviewer(interview).count(question.text) == 1
    is_open = other is not None or (is_first and not message.takes_back)
    return repeat(interview, question) if is_open else None


def reopened(protocol: InterviewProtocol, interview: Interview, item: Item) -> Interview:
    """Ask about an item again that was answered; what was said before stands until it is."""
    goal = interview.goal_of(item)
    opened = replace(goal, status=GoalStatus.IN_PROGRESS, confidence=0, asks=min(goal.asks, 1))
    notice = filled(protocol.conversation.reopened, {"item": protocol.items[item].name})
    again = replaced(with_goals(interview, [opened]), item)
    return put_item_again(protocol, again, item, notice=notice)
