"""A correction that does not name its question: about the item just answered, or asked for."""

from dataclasses import dataclass, replace

from ai_psychiatrist.domain.interview import AnswerKind, GivenAnswer, Goal, QuestionPurpose
from ai_psychiatrist.domain.interview_items import Correction, UnansweredReason
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.interview.engine.turns import Offered, Wording
from ai_psychiatrist.interview.messages import READ, Message
from ai_psychiatrist.interview.phq8.corrections import (
    Meant,
    correction_start,
    frequencies_in,
    is_corrected_at_head,
    meant_by_place,
    named_items,
    only_names_a_question,
)
from ai_psychiatrist.interview.phq8.free_answers import AnswerReading, is_refusal, read_answer
from ai_psychiatrist.interview.protocol.placeholders import filled
from ai_psychiatrist.interview.protocol.records import CorrectionPolicy
from ai_psychiatrist.interview.record import Interview, ItemReading


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
    if goal_of(interview, item).asks > 1 or interview.readings_of(item):
        return None
    start = correction_start(item, last, message.text)
    if start is None:
        return None
    answered = {reading.item for reading in interview.readings} - {item}
    named = named_items(message.text, (one for one in Item if one in answered))
    is_named = len(named) == 1 and not named_items(message.text, [item])
    earlier = named if is_named else (*(one for one in named if one is not last), last)
    correction = Correction(turn=message.turn, start=start, earlier=earlier, current=item)
    is_of_last = earlier == (last,) and is_corrected_at_head(item, message.text)
    return Unnamed(correction=correction, is_of_earlier=is_named or is_of_last, is_named=is_named)


def asking_wording(policy: CorrectionPolicy, correction: Correction) -> Wording:
    """Return how a person is asked which question an answer is about."""
    earlier = ", ".join(item.label.lower() for item in correction.earlier)
    names = {"earlier": earlier, "current": correction.current.label.lower()}
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
                Offered(filled(text, {"item": item.label}), AnswerKind.ITEM, item=item)
                for text, item in offered
            ),
            Offered(policy.again, AnswerKind.ASK_AGAIN),
        ),
    )


def item_meant(interview: Interview, correction: Correction, answer: GivenAnswer) -> Item | None:
    """Return which item a reply names, `None` where it names none, several, or another value."""
    if interview.question is None:
        return None
    option = interview.question.chosen(answer)
    if option is not None:
        return option.item
    return _item_named(interview, correction, answer.text)


def is_declined(interview: Interview, answer: GivenAnswer) -> bool:
    """Return whether the person would not say which item is meant."""
    option = interview.question.chosen(answer) if interview.question else None
    if option is not None:
        return option.kind is AnswerKind.DECLINE
    return is_refusal(answer.text)


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


def unclear_readings(
    correction: Correction, *, is_declined: bool = False
) -> tuple[ItemReading, ...]:
    """Return that an answer left open which item it is about: none of them has a score."""
    reason = UnansweredReason.DECLINED if is_declined else UnansweredReason.AMBIGUOUS_ANSWER
    return tuple(
        ItemReading(item=item, turn=correction.turn, score=None, reason=reason, quote=None)
        for item in correction.items
    )


def goal_of(interview: Interview, item: Item) -> Goal:
    """Return the goal that asks about an item."""
    return next(goal for goal in interview.goals if goal.item is item)


def _item_named(interview: Interview, correction: Correction, reply: str) -> Item | None:
    named = set(named_items(reply, correction.items))
    match meant_by_place(reply):
        case Meant.EARLIER if len(correction.earlier) == 1:
            named.add(correction.earlier[0])
        case Meant.CURRENT:
            named.add(correction.current)
    if len(named) != 1:
        return None
    (item,) = named
    if not only_names_a_question(item, reply):
        return None
    read = corrected_reading(interview, correction, item)
    score = read.score if read.kind in READ else None
    said = {phrase.days.score for phrase in frequencies_in(item, reply) if phrase.days}
    return item if said <= {score} else None
