"""What is put down of a message about items: what counts, and what is still to be read back."""

from dataclasses import replace
from typing import Final

from ai_psychiatrist.domain.interview import (
    AnswerKind,
    AnswerOption,
    GoalStatus,
    QuestionPurpose,
)
from ai_psychiatrist.domain.interview_items import (
    Act,
    AnswerQuote,
    Correction,
    Proposal,
    ProposalOutcome,
    ProposalSource,
    SpokenAct,
    UnansweredReason,
    Unclear,
)
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.interview.engine.asking import with_readings
from ai_psychiatrist.interview.engine.turns import with_goals
from ai_psychiatrist.interview.messages import Message
from ai_psychiatrist.interview.phq8.free_answers import AnswerReading, ReadingKind
from ai_psychiatrist.interview.record import Interview, ItemReading

_REASONS: Final = {
    ReadingKind.UNCLEAR: UnansweredReason.AMBIGUOUS_ANSWER,
    ReadingKind.UNREADABLE: UnansweredReason.UNREADABLE_ANSWER,
}


def with_acts(interview: Interview, message: Message) -> Interview:
    """Put down what a message does."""
    question = interview.question
    replies = question is not None and question.purpose is not QuestionPurpose.ASK
    return replace(interview, acts=(*interview.acts, *message.spoken_acts(replies=replies)))


def as_correction(interview: Interview, turn: int, item: Item, read: AnswerReading) -> Interview:
    """Put down that what was answered in a turn is about an item that was answered before."""
    words = interview.words_of(turn)
    start, end = (read.quote.start, read.quote.end) if read.quote else (0, len(words))
    corrected = SpokenAct(
        turn=turn, act=Act.CORRECTION, start=start, end=end, item=item, score=read.score
    )
    others = (one for one in interview.acts if one.turn != turn or one.act is not Act.ANSWER)
    in_order = sorted((*others, corrected), key=lambda one: (one.turn, one.start))
    return replace(interview, acts=tuple(in_order))


def with_withdrawn(interview: Interview, message: Message) -> Interview:
    """Put down that answers do not stand, of which the person says no more than that."""
    for item in message.withdrawn:
        interview = withdrawn(interview, item)
    return interview


def withdrawn(interview: Interview, item: Item) -> Interview:
    """Put down that the answer to an item does not stand: it is unknown, and asked about again."""
    goal = interview.goal_of(item)
    asked_less = with_goals(interview, [replace(goal, asks=min(goal.asks, 1))])
    unclear = unscored(item, interview.turn, UnansweredReason.AMBIGUOUS_ANSWER)
    return with_readings(replaced(asked_less, item), unclear)


def with_answers(interview: Interview, message: Message) -> Interview:
    """Put down what a message says of the item that was asked about, and of others."""
    item, following = message.asked, with_others(interview, message)
    if item is None:
        return following
    answer = message.answer
    if answer.kind is ReadingKind.ANCHOR:
        return with_readings(
            settled(following, item, answer.score), counted(item, message.turn, answer)
        )
    if answer.score is not None:
        return proposed(following, item, answer, turn=message.turn)
    reason = _REASONS.get(answer.kind, UnansweredReason.OFF_TOPIC)
    return with_readings(settled(following, item, None), unscored(item, message.turn, reason))


def with_others(interview: Interview, message: Message) -> Interview:
    """Keep what a message says of items that were not asked about, to be read back later."""
    for item, read in message.others.items():
        interview = with_other(interview, item, read)
    return interview


def with_other(interview: Interview, item: Item, read: AnswerReading) -> Interview:
    """Keep what was said of an item that was not asked about; what is known already stays."""
    if item not in interview.asked_items:
        return interview
    readings, known = interview.readings_of(item), interview.open_proposal(item)
    last = known or (readings[-1] if readings else None)
    if last is not None and last.score == read.score:
        return interview
    return proposed(interview, item, read)


def proposed(
    interview: Interview, item: Item, read: AnswerReading, *, turn: int | None = None
) -> Interview:
    """Keep what an answer was read as until it was read back."""
    goal, known = interview.goal_of(item), interview.open_proposal(item)
    in_progress = replace(goal, status=GoalStatus.IN_PROGRESS, confidence=0)
    if known is not None and known.source is ProposalSource.MODEL and known.turn == turn:
        return with_goals(interview, [in_progress])
    proposal = Proposal(
        item=item,
        turn=interview.turn if turn is None else turn,
        outcome=ProposalOutcome.OPEN,
        score=read.score,
        quote=read.quote,
        is_day_count=read.unclear is Unclear.OPTION_NUMBER,
    )
    opened = with_goals(replaced(interview, item), [in_progress])
    return replace(opened, proposals=(*opened.proposals, proposal))


def replaced(interview: Interview, item: Item) -> Interview:
    """Close what of an item was still to be read back: something else was said."""
    return _with_outcome(interview, item, ProposalOutcome.REPLACED)


def settled(interview: Interview, item: Item, score: int | None) -> Interview:
    """Close what of an item was read back, by the score that it came to."""
    proposal = interview.open_proposal(item)
    if proposal is None:
        return interview
    is_right = score is not None and score == proposal.score
    outcome = ProposalOutcome.CONFIRMED if is_right else ProposalOutcome.NOT_CONFIRMED
    return _with_outcome(interview, item, outcome)


def uncounted(interview: Interview, item: Item) -> Interview:
    """Take the asks of an item back: the message was about another one, and it is asked next."""
    return with_goals(interview, [replace(interview.goal_of(item), asks=0)])


def counted(item: Item, turn: int, read: AnswerReading) -> ItemReading:
    """Return a reading whose score counts."""
    return ItemReading(item=item, turn=turn, score=read.score, reason=None, quote=read.quote)


def unscored(item: Item, turn: int, reason: UnansweredReason) -> ItemReading:
    """Return a reading that leaves its item unknown."""
    return ItemReading(item=item, turn=turn, score=None, reason=reason, quote=None)


def unclear_readings(correction: Correction) -> tuple[ItemReading, ...]:
    """Return that an answer left open which item it is about: none of them has a score."""
    reason = UnansweredReason.AMBIGUOUS_ANSWER
    return tuple(unscored(item, correction.turn, reason) for item in correction.items)


def with_former(interview: Interview, correction: Correction) -> Interview:
    """Keep the answers that a correction may be of, to be read back once more."""
    for item in correction.earlier:
        last = interview.readings_of(item)[-1]
        if last.score is not None:
            former = AnswerReading(kind=ReadingKind.READ, score=last.score, quote=last.quote)
            interview = proposed(interview, item, former, turn=last.turn)
    return interview


def chosen_reading(
    item: Item, turn: int, option: AnswerOption, reason: UnansweredReason | None
) -> ItemReading:
    """Return the reading of an option that was chosen: a frequency, or why there is none."""
    is_score = option.kind is AnswerKind.ANCHOR
    return ItemReading(
        item=item,
        turn=turn,
        score=option.score if is_score else None,
        reason=None if is_score else reason,
        quote=AnswerQuote(text=option.text, start=0, end=len(option.text)) if is_score else None,
    )


def _with_outcome(interview: Interview, item: Item, outcome: ProposalOutcome) -> Interview:
    opened = interview.open_proposal(item)
    return replace(
        interview,
        proposals=tuple(
            replace(one, outcome=outcome, settled_turn=interview.turn) if one is opened else one
            for one in interview.proposals
        ),
    )
