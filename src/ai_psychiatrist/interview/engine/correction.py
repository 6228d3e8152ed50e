"""A correction that does not name its question: the person is asked which one is meant."""

from dataclasses import replace

from ai_psychiatrist.domain.interview import AnswerKind, GivenAnswer, Goal
from ai_psychiatrist.domain.interview_items import Correction, UnansweredReason
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.interview.engine.turns import Offered, Wording, with_goals
from ai_psychiatrist.interview.engine.words import words_read
from ai_psychiatrist.interview.phq8.corrections import (
    Meant,
    correction_start,
    frequencies_in,
    meant_by_place,
    named_items,
    only_names_a_question,
)
from ai_psychiatrist.interview.protocol.placeholders import filled
from ai_psychiatrist.interview.protocol.records import CorrectionPolicy
from ai_psychiatrist.interview.record import Interview, ItemReading


def correction_in(interview: Interview) -> Correction | None:
    """Return what the stored answer may correct, `None` where it answers its own question.

    A free answer right after one about another item may; once an item is asked about again, its
    answers are its own.
    """
    question, answer = interview.question, interview.answer
    if question is None or answer is None or answer.option_id is not None:
        return None
    item = interview.goal(question.goal_id).item
    last = interview.readings[-1].item if interview.readings else None
    if item is None or last is None or last is item or question.is_confirmation:
        return None
    read = words_read(item, answer.text, was_declined=interview.was_declined(item))
    start = correction_start(item, last, answer.text)
    if start is None or read.reason is UnansweredReason.DECLINED:
        return None
    answered = {reading.item for reading in interview.readings} - {item, last}
    named = named_items(answer.text, (one for one in Item if one in answered))
    return Correction(turn=answer.turn, start=start, earlier=(*named, last), current=item)


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


def settled_correction(
    interview: Interview, answer: GivenAnswer
) -> tuple[Interview, tuple[ItemReading, ...]]:
    """Return the interview after the reply to which question is meant, and what is read by it.

    Where the earlier one is meant, the question of the current one is still to be answered. Where
    the reply is not clear, no item in question has a score.
    """
    correction = interview.open_correction
    if correction is None:
        return interview, ()
    done = replace(correction, settled_turn=answer.turn)
    settled = replace(interview, drift=None, corrections=(*interview.corrections[:-1], done))
    about = _item_meant(interview, correction, answer)
    if about is None:
        is_declined = _is_declined(interview, correction, answer)
        return settled, unclear_readings(correction, is_declined=is_declined)
    if about is not correction.current:
        current = goal_of(settled, correction.current)
        settled = with_goals(settled, [replace(current, asks=current.asks - 1)])
    return settled, (_reading(interview, correction, about),)


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


def _item_meant(interview: Interview, correction: Correction, answer: GivenAnswer) -> Item | None:
    """Return which item a reply names, `None` where it names none, several, or another value."""
    if interview.question is None:
        return None
    option = interview.question.chosen(answer)
    if option is not None:
        return option.item
    return _item_named(interview, correction, answer.text)


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
    score = _reading(interview, correction, item).score
    said = {phrase.days.score for phrase in frequencies_in(item, reply) if phrase.days}
    return item if said <= {score} else None


def _is_declined(interview: Interview, correction: Correction, answer: GivenAnswer) -> bool:
    option = interview.question.chosen(answer) if interview.question else None
    if option is not None:
        return option.kind is AnswerKind.DECLINE
    read = words_read(correction.current, answer.text)
    return read.reason is UnansweredReason.DECLINED


def _reading(interview: Interview, correction: Correction, item: Item) -> ItemReading:
    """Return what a correction says of the item that it is about."""
    words = interview.words_of(correction.turn)
    read = words_read(item, words[correction.start :], was_declined=interview.was_declined(item))
    quote = read.quote and replace(
        read.quote,
        start=read.quote.start + correction.start,
        end=read.quote.end + correction.start,
    )
    is_off = read.reason is UnansweredReason.OFF_TOPIC
    return ItemReading(
        item=item,
        turn=correction.turn,
        score=read.score,
        reason=UnansweredReason.AMBIGUOUS_ANSWER if is_off else read.reason,
        quote=quote,
    )
