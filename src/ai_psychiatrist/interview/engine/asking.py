"""What is asked next in an interview about items, in which words, and when it ends."""

from dataclasses import replace
from typing import Final

from ai_psychiatrist.domain.interview import (
    AnswerKind,
    EndReason,
    Goal,
    GoalStatus,
    QuestionPurpose,
)
from ai_psychiatrist.domain.interview_items import Act, Proposal, UnansweredReason
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.interview.engine.correction import asking_wording
from ai_psychiatrist.interview.engine.turns import (
    Offered,
    Wording,
    end,
    is_repeated,
    put_question,
    with_progress,
)
from ai_psychiatrist.interview.protocol.placeholders import filled
from ai_psychiatrist.interview.protocol.records import AnswerPolicy, InterviewProtocol
from ai_psychiatrist.interview.protocol.texts import Review
from ai_psychiatrist.interview.record import Interview, ItemReading

_UNCLEAR: Final = frozenset({UnansweredReason.AMBIGUOUS_ANSWER, UnansweredReason.UNREADABLE_ANSWER})
_CERTAIN: Final = 100
MOST_MESSAGES: Final = 80
"""Of the person; then the interview ends, whatever is open."""


def proceed(protocol: InterviewProtocol, interview: Interview, *, notice: str = "") -> Interview:
    """Put the next question, show what was noted, or end."""
    if interview.turn >= MOST_MESSAGES:
        return end(protocol, interview, EndReason.TURNS_SPENT)
    correction = interview.open_correction
    if correction is not None:
        asking = asking_wording(protocol, correction)
        goal_id = interview.goal_of(correction.current).id
        return put_question(protocol, interview, goal_id, asking, notice=notice)
    withdrawn = _just_withdrawn(interview)
    if withdrawn is not None:
        notice = filled(protocol.conversation.reopened, {"item": protocol.items[withdrawn].name})
        return put_item_again(protocol, interview, withdrawn, notice=notice)
    is_spent = sum(goal.asks for goal in interview.goals) >= protocol.stop.max_turns
    for goal in _in_order(protocol, interview):
        wording = _next_wording(protocol, interview, goal, is_spent=is_spent)
        if wording is None:
            continue
        if wording.purpose is QuestionPurpose.ONCE_MORE and goal.item is not None:
            interview = replace(interview, asked_again=(*interview.asked_again, goal.item))
        is_same = interview.question is not None and interview.question.goal_id == goal.id
        told = notice if is_same else ""
        return put_question(protocol, interview, goal.id, wording, notice=told)
    if _is_to_be_reviewed(protocol, interview):
        return _review(protocol, interview)
    reason = end_reason(interview)
    is_cut = is_spent and reason is EndReason.ASKS_SPENT
    return end(protocol, interview, EndReason.TURNS_SPENT if is_cut else reason)


def _just_withdrawn(interview: Interview) -> Item | None:
    """Return the item whose answer the last message takes back and puts nothing in its place."""
    turn = interview.turn
    corrected = {
        one.item for one in interview.acts if one.turn == turn and one.act is Act.CORRECTION
    }
    unscored = (one.item for one in interview.readings if one.turn == turn and one.score is None)
    return next((item for item in unscored if item in corrected), None)


def end_reason(interview: Interview) -> EndReason:
    """Return why an interview ends of which nothing more is asked."""
    is_whole = all(goal.status is GoalStatus.COMPLETE for goal in interview.goals)
    return EndReason.ALL_RESOLVED if is_whole else EndReason.ASKS_SPENT


def put_item_again(
    protocol: InterviewProtocol,
    interview: Interview,
    item: Item,
    *,
    text: str | None = None,
    notice: str = "",
    is_ask: bool = False,
) -> Interview:
    """Ask about an item with the four frequencies, in words that were not put yet where there are.

    `text`: the words in the place of the item's own. `is_ask`: whether it is one of the times that
    count.
    """
    goal, stem = interview.goal_of(item), protocol.items[item]
    unused = [
        one
        for one in (stem.second_ask, stem.clarifying, stem.question)
        if not is_repeated(interview, one)
    ]
    wording = Wording(
        text=text or (unused[0] if unused else stem.question),
        offered=anchors_of(protocol.answers),
        is_clarifying=text is not None,
        is_ask=is_ask,
    )
    return put_question(protocol, interview, goal.id, wording, notice=notice)


def with_readings(interview: Interview, *readings: ItemReading) -> Interview:
    """Add what was answered about items, and change their goals by it."""
    updated = tuple(_updated(interview.goal_of(one.item), one) for one in readings)
    read = replace(interview, readings=(*interview.readings, *readings))
    return with_progress(read, updated)


def anchors_of(policy: AnswerPolicy) -> tuple[Offered, ...]:
    """Return the frequencies as they are offered."""
    return tuple(Offered(one.text, AnswerKind.ANCHOR, one.score) for one in policy.anchors)


def anchor_text(protocol: InterviewProtocol, score: int) -> str:
    """Return the wording of a score."""
    return next(one.text for one in protocol.answers.anchors if one.score == score)


def _updated(goal: Goal, reading: ItemReading) -> Goal:
    if reading.score is None:
        return replace(goal, status=GoalStatus.IN_PROGRESS, confidence=0)
    return replace(goal, status=GoalStatus.COMPLETE, confidence=_CERTAIN)


def _in_order(protocol: InterviewProtocol, interview: Interview) -> tuple[Goal, ...]:
    """Return the goals as they are asked for.

    First what is to be read back, what was just said before what waits; then what was just said
    unclearly, then new ones, then what is come back to at the
    end: refused ones, so that nobody is pressed, and those whose answers were not read.
    """
    turn = interview.turn
    just_said = {
        reading.item
        for reading in interview.readings
        if reading.turn == turn and reading.reason not in {None, UnansweredReason.DECLINED}
    }
    most = protocol.stop.max_asks or 1

    def stage(goal: Goal) -> tuple[int, ...]:
        if goal.item is None or goal.status is GoalStatus.COMPLETE:
            return (9,)
        proposal = interview.open_proposal(goal.item)
        if proposal is not None and goal.asks:
            return (0, proposal.turn != turn)
        if goal.item in just_said and goal.asks < most:
            return (1,)
        return (2,) if not goal.asks else (3,)

    return tuple(sorted(interview.goals, key=stage))


def _next_wording(
    protocol: InterviewProtocol, interview: Interview, goal: Goal, *, is_spent: bool
) -> Wording | None:
    """Return how a goal is asked for next, `None` when it is asked for no more."""
    item, most = goal.item, protocol.stop.max_asks or 1
    if item is None or goal.status is GoalStatus.COMPLETE:
        return None
    if interview.open_proposal(item) is not None:
        return _reading_back(protocol, interview, item)
    if is_spent:
        return None
    readings = interview.readings_of(item)
    last = readings[-1].reason if readings else None
    if last is UnansweredReason.DECLINED:
        is_done = item in interview.asked_again or goal.asks >= most
        return None if is_done else _once_more(protocol, item)
    # What was answered and not read is asked about once more in the last round.
    if goal.asks >= most + (last in _UNCLEAR):
        return None
    return _own_wording(protocol, interview, goal, item, is_unclear=last in _UNCLEAR)


def _own_wording(
    protocol: InterviewProtocol, interview: Interview, goal: Goal, item: Item, *, is_unclear: bool
) -> Wording | None:
    """Return an item's own words, the next of them that were not put yet."""
    stem, anchors = protocol.items[item], anchors_of(protocol.answers)
    if not goal.asks:
        return Wording(text=stem.question, offered=anchors)
    clarifying = Wording(text=stem.clarifying, offered=anchors, is_clarifying=True)
    again = Wording(text=stem.second_ask, offered=anchors)
    in_order = (clarifying, again) if is_unclear else (again, clarifying)
    return next((one for one in in_order if not is_repeated(interview, one.text)), None)


def _reading_back(protocol: InterviewProtocol, interview: Interview, item: Item) -> Wording:
    """Return how a person is asked whether an answer was read rightly."""
    policy, proposal = protocol.answers, interview.open_proposal(item)
    score = proposal.score if proposal is not None and proposal.score is not None else 0
    words = _own_words(interview, proposal)
    name = protocol.items[item].name
    names = {"anchor": anchor_text(protocol, score), "item": name, "words": words}
    text = filled(policy.confirmation.question, names)
    if proposal is not None and proposal.is_day_count:
        text = filled(protocol.conversation.days, {"days": words, "item": name})
    others = (one for one in anchors_of(policy) if one.score != score)
    return Wording(
        text=text,
        purpose=QuestionPurpose.READ_BACK,
        is_clarifying=True,
        is_ask=not interview.goal_of(item).asks,
        offered=(
            Offered(policy.confirmation.agree, AnswerKind.CONFIRM, score),
            Offered(policy.confirmation.disagree, AnswerKind.REJECT),
            *others,
        ),
    )


def _own_words(interview: Interview, proposal: Proposal | None) -> str:
    """Return the words of the person that a proposal stands on, in one line."""
    if proposal is None:
        return ""
    words = proposal.quote.text if proposal.quote else interview.words_of(proposal.turn)
    return " ".join(words.split())


def _once_more(protocol: InterviewProtocol, item: Item) -> Wording:
    once_more = protocol.conversation.once_more
    return Wording(
        text=filled(once_more.question, {"item": protocol.items[item].name}),
        purpose=QuestionPurpose.ONCE_MORE,
        is_ask=False,
        offered=(
            Offered(once_more.agree, AnswerKind.CONFIRM),
            Offered(once_more.disagree, AnswerKind.REJECT),
        ),
    )


def _is_to_be_reviewed(protocol: InterviewProtocol, interview: Interview) -> bool:
    """Return whether something was put down since the person was last shown what was noted."""
    if protocol.conversation.review is None:
        return False
    last = interview.question
    is_new = last is None or last.purpose is not QuestionPurpose.REVIEW
    is_scored = any(one.score is not None for one in interview.readings)
    return is_new and is_scored and interview.reviews <= len(Item)


def _review(protocol: InterviewProtocol, interview: Interview) -> Interview:
    """Show the person what was noted, item by item, and ask what is to be changed."""
    review = protocol.conversation.review or Review()
    lines = [_noted_line(protocol, interview, review, item) for item in interview.asked_items]
    wording = Wording(
        text=filled(review.question, {"noted": "\n".join(lines)}),
        purpose=QuestionPurpose.REVIEW,
        is_ask=False,
        offered=(
            Offered(review.agree, AnswerKind.CONFIRM),
            *(
                Offered(
                    filled(review.change, {"item": protocol.items[item].name}),
                    AnswerKind.ITEM,
                    item=item,
                )
                for item in interview.asked_items
            ),
        ),
    )
    counted = replace(interview, reviews=interview.reviews + 1)
    return put_question(protocol, counted, interview.goals[-1].id, wording)


def _noted_line(
    protocol: InterviewProtocol, interview: Interview, review: Review, item: Item
) -> str:
    readings = interview.readings_of(item)
    last, name = readings[-1] if readings else None, protocol.items[item].name
    if last is None or last.score is None:
        return _headed(filled(review.line, {"item": name, "answer": review.none}))
    answer = anchor_text(protocol, last.score)
    line = _headed(filled(review.line, {"item": name, "answer": answer}))
    words = last.quote.text if last.quote else ""
    if words.casefold().strip() in {"", answer.casefold()}:
        return line
    return f"{line} {filled(review.said, {'words': words})}"


def _headed(line: str) -> str:
    """Return a line that begins with a capital, as a name at its head does not."""
    return line[:1].upper() + line[1:]
