"""A correction that does not name its question: about the item just answered, or asked for."""

from dataclasses import dataclass, replace

from ai_psychiatrist.domain.interview import AnswerKind, QuestionPurpose
from ai_psychiatrist.domain.interview_items import Correction
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.interview.engine.turns import Offered, Wording
from ai_psychiatrist.interview.messages import Message
from ai_psychiatrist.interview.phq8.corrections import (
    item_meant,
    named_items,
    taken_back,
    topic_at_head,
)
from ai_psychiatrist.interview.phq8.free_answers import AnswerReading, read_answer
from ai_psychiatrist.interview.protocol.placeholders import filled
from ai_psychiatrist.interview.protocol.records import InterviewProtocol
from ai_psychiatrist.interview.record import Interview


@dataclass(frozen=True, slots=True, kw_only=True)
class Unnamed:
    """A correction without a name."""

    correction: Correction
    is_of_earlier: bool
    """Whether it takes back the last item of `earlier`, and nobody has to be asked which."""
    is_named: bool
    """Whether it names that item, and no other."""


def unnamed_correction(interview: Interview, message: Message) -> Unnamed | None:
    """Return what a message may correct, `None` where it answers its own question.

    A free answer right after one about another item may; once an item is asked about again, its
    answers are its own.
    """
    item = message.asked
    last = interview.readings[-1].item if interview.readings else None
    if item is None or last is None or last is item or message.is_refusal:
        return None
    if interview.goal_of(item).asks > 1 or interview.readings_of(item):
        return None
    found = taken_back(item, last, message.text)
    if found is None:
        return None
    answered = {reading.item for reading in interview.readings} - {item}
    named = named_items(message.text, (one for one in Item if one in answered))
    is_named = len(named) == 1 and not named_items(message.text, [item])
    earlier = named if is_named else (*(one for one in named if one is not last), last)
    correction = Correction(turn=message.turn, start=found.start, earlier=earlier, current=item)
    is_of_last = earlier == (last,) and found.is_plain
    return Unnamed(correction=correction, is_of_earlier=is_named or is_of_last, is_named=is_named)


def item_turned_to(interview: Interview, message: Message) -> Item | None:
    """Return the item that a message wants to speak of instead of answering: "sleep".

    `None` where it names none that was asked about, or says more than that.
    """
    topic = topic_at_head(message.text)
    if topic is not None:
        return topic[0] if topic[0] in interview.asked_items else None
    item = message.asked
    answered = [one for one in interview.asked_items if one is not item]
    return None if item is None else item_meant(message.text, answered, item)


def asking_wording(protocol: InterviewProtocol, correction: Correction) -> Wording:
    """Return how a person is asked which question an answer is about."""
    policy, stems = protocol.answers.correction, protocol.items
    earlier = ", ".join(stems[item].name for item in correction.earlier)
    names = {"earlier": earlier, "current": stems[correction.current].name}
    offered = [
        *((policy.earlier, item) for item in reversed(correction.earlier)),
        (policy.current, correction.current),
    ]
    return Wording(
        text=filled(policy.question, names),
        purpose=QuestionPurpose.WHICH_ITEM,
        is_clarifying=True,
        is_ask=False,
        offered=(
            *(
                Offered(filled(text, {"item": stems[item].name}), AnswerKind.ITEM, item=item)
                for text, item in offered
            ),
            Offered(policy.again, AnswerKind.ASK_AGAIN),
        ),
    )


def item_of(interview: Interview, correction: Correction, message: Message) -> Item | None:
    """Return which item a reply names, `None` where it names none, several, or another value."""
    if message.option is not None:
        return message.option.item
    item = item_meant(message.text, correction.earlier, correction.current)
    if item is None:
        return None
    instead = read_answer(item, message.text)
    corrected = corrected_reading(interview, correction, item)
    is_other = instead.is_read and instead.score != corrected.score
    return None if is_other else item


def corrected_reading(interview: Interview, correction: Correction, item: Item) -> AnswerReading:
    """Return what a correction says of the item that it is about."""
    words = interview.words_of(correction.turn)
    read = read_answer(item, words[correction.start :])
    quote = read.quote and replace(
        read.quote,
        start=read.quote.start + correction.start,
        end=read.quote.end + correction.start,
    )
    return replace(read, quote=quote)
