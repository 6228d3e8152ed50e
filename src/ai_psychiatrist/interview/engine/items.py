"""An interview about items of the PHQ-8: what an answer does to them, by what was asked."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final, TypeAlias

from ai_psychiatrist.domain.interview import (
    AnswerKind,
    Drift,
    EndReason,
    Goal,
    InterviewState,
    Question,
    QuestionPurpose,
)
from ai_psychiatrist.domain.interview_items import Act, ProposalOutcome, SpokenAct, UnansweredReason
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.interview.engine.aside import (
    after_danger,
    asked_once_more,
    chosen_at_review,
    explained,
    kept_waiting,
    left,
    looked_through,
    not_answering,
    stopped,
    what_is_unclear,
    wishes_to_stop,
)
from ai_psychiatrist.interview.engine.asking import (
    MOST_MESSAGES,
    proceed,
    put_item_again,
    with_readings,
)
from ai_psychiatrist.interview.engine.correction import (
    corrected_reading,
    item_of,
    unnamed_correction,
)
from ai_psychiatrist.interview.engine.danger import without_danger
from ai_psychiatrist.interview.engine.noted import (
    as_correction,
    chosen_reading,
    counted,
    proposed,
    settled,
    unclear_readings,
    uncounted,
    unscored,
    with_acts,
    with_answers,
    with_former,
    with_others,
    with_withdrawn,
    withdrawn,
)
from ai_psychiatrist.interview.engine.turns import end, repeat
from ai_psychiatrist.interview.messages import Message, chosen_message, read_message
from ai_psychiatrist.interview.phq8.corrections import item_spoken_about
from ai_psychiatrist.interview.phq8.free_answers import ReadingKind
from ai_psychiatrist.interview.protocol.records import DriftPolicy, InterviewProtocol
from ai_psychiatrist.interview.record import Danger, Interview, ItemReading

_Handler: TypeAlias = Callable[[InterviewProtocol, Interview, Message], Interview]

_ABOUT_AN_ITEM: Final = frozenset(
    {QuestionPurpose.ASK, QuestionPurpose.READ_BACK, QuestionPurpose.ONCE_MORE}
)
_SHORT_DENIAL: Final = 3
"""Words; a zero in so few may deny what was read back as well as answer: "no, not at all"."""


def begin_items(protocol: InterviewProtocol, interview: Interview) -> Interview:
    """Make a goal of each unknown item and ask for the first; without any the interview ends."""
    unknown = interview.assessment.unknown if interview.assessment else tuple(Item)
    goals = tuple(
        Goal(id=f"g{number}", text=item.label, item=item)
        for number, item in enumerate(unknown, start=1)
    )
    return proceed(protocol, replace(interview, goals=goals))


def message_of(interview: Interview) -> Message | None:
    """Return the stored answer as the rules read it, `None` where there is none."""
    question, answer = interview.question, interview.answer
    if question is None or answer is None:
        return None
    item, option = _item_asked(interview, question), question.chosen(answer)
    if option is not None:
        return chosen_message(answer, item, option)
    # What is read back after a refusal may be denied by a plain no.
    is_asked = item is not None and question.purpose is QuestionPurpose.ASK
    was_declined = is_asked and item is not None and interview.was_declined(item)
    return read_message(
        answer,
        item,
        answered=interview.answered,
        was_declined=was_declined,
        is_to_read_back=question.purpose is QuestionPurpose.READ_BACK,
    )


def _item_asked(interview: Interview, question: Question) -> Item | None:
    """Return the item that a question is about, `None` where it is about none."""
    return interview.goal(question.goal_id).item if question.purpose in _ABOUT_AN_ITEM else None


def digest_item_answer(
    protocol: InterviewProtocol, interview: Interview, message: Message | None = None
) -> Interview:
    """Work the stored answer in and go on; an interview without one stays as it is.

    `message`: the answer where it was read already, by a model as well.
    """
    question, message = interview.question, message or message_of(interview)
    if question is None or message is None:
        return interview
    if message.option is None and not protocol.reads_answers:
        message = message.in_unread_language()
    noted = with_withdrawn(with_acts(interview, message), message)
    handlers = _HANDLERS if message.option is None else {**_HANDLERS, **_HANDLERS_OF_OPTIONS}
    handler = handlers[question.purpose]
    if message.does(Act.STOP) and question.purpose not in _HEARS_STOP:
        handler = wishes_to_stop
    return _within_bounds(protocol, interview, handler(protocol, noted, message))


def _within_bounds(
    protocol: InterviewProtocol, before: Interview, following: Interview
) -> Interview:
    """End an interview of more messages than anybody needs; what it has is kept."""
    goes_on = following.state in {InterviewState.AWAITING, InterviewState.PAUSED}
    if not goes_on or before.turn < MOST_MESSAGES:
        return following
    return end(protocol, replace(following, messages=before.messages), EndReason.TURNS_SPENT)


def with_proposal_in_danger(interview: Interview, found: Danger) -> Interview:
    """Keep how often a message says something was so in which there is danger; nothing counts.

    Sentences in which the danger stands are no answers.
    """
    answer, question = interview.answer, interview.question
    if answer is None or question is None or answer.option_id is not None:
        return interview
    text = without_danger(answer.text, found)
    item = _item_asked(interview, question)
    danger = SpokenAct(turn=answer.turn, act=Act.DANGER, start=0, end=len(text), item=item)
    noted = replace(interview, acts=(*interview.acts, danger))
    message = message_of(replace(interview, answer=replace(answer, text=text)))
    if message is None or not text.strip():
        return noted
    noted = with_acts(noted, message)
    if message.asked is None or not message.has_score:
        return noted
    return proposed(noted, message.asked, message.answer, turn=message.turn)


def _chosen(protocol: InterviewProtocol, interview: Interview, message: Message) -> Interview:
    """Work in an option of a question about an item."""
    item, option = message.asked, message.option
    if item is None or option is None:
        return interview
    if option.kind is AnswerKind.CONFIRM:
        return _confirmed(protocol, interview, item)
    reason = UnansweredReason.DECLINED if message.is_refusal else UnansweredReason.AMBIGUOUS_ANSWER
    reading = chosen_reading(item, message.turn, option, reason)
    following = with_readings(settled(interview, item, reading.score), reading)
    if option.kind is AnswerKind.REJECT:
        return _choose_one(protocol, following, item)
    return proceed(protocol, following)


def _answered(protocol: InterviewProtocol, interview: Interview, message: Message) -> Interview:
    """Work in a message to a question about an item."""
    beside = _beside(protocol, interview, message)
    if beside is not None:
        return beside
    item, question = message.asked, interview.question
    is_reply = message.is_yes or message.is_no
    if message.answer.kind is ReadingKind.UNREADABLE and is_reply and question:
        # A thumb says yes or no, and nothing of how often.
        return repeat(interview, question, notice=protocol.conversation.wait)
    corrected = None if message.speaks_of_others else _corrected(protocol, interview, message)
    if corrected is not None or item is None:
        return corrected or interview
    worked_in = with_answers(interview, message)
    drift = _drift(protocol, message)
    notice = (
        explained(protocol, interview, message.topic, item)
        or what_is_unclear(protocol, message.answer)
        or (drift.redirect if drift is not None else "")
    )
    return proceed(protocol, replace(worked_in, drift=drift), notice=notice)


def _read_back(protocol: InterviewProtocol, interview: Interview, message: Message) -> Interview:
    """Work in a reply to what was read back: a yes, a no, or another answer in its place."""
    item, answer = message.asked, message.answer
    if item is not None and message.leans_yes and not message.says_how_often:
        return _confirmed(protocol, interview, item)
    beside = _beside(protocol, interview, message)
    proposal = None if item is None else interview.open_proposal(item)
    if beside is not None or item is None or proposal is None:
        return beside or proceed(protocol, interview)
    kept = with_others(interview, message)
    is_same = message.has_score and answer.score == proposal.score
    if (message.leans_yes or is_same) and not message.is_no:
        return _confirmed(protocol, kept, item)
    is_short_zero = answer.score == 0 and len(message.text.split()) <= _SHORT_DENIAL
    if message.has_score and not (message.is_no or is_short_zero):
        if answer.kind is ReadingKind.READ:
            return proceed(protocol, proposed(kept, item, answer, turn=message.turn))
        right = settled(kept, item, answer.score)
        return proceed(protocol, with_readings(right, counted(item, message.turn, answer)))
    waiting = kept_waiting(protocol, kept, message)
    unclear = unscored(item, message.turn, UnansweredReason.AMBIGUOUS_ANSWER)
    open_again = with_readings(settled(kept, item, None), unclear)
    notice = what_is_unclear(protocol, answer)
    return waiting or _choose_one(protocol, open_again, item, notice=notice)


def _beside(
    protocol: InterviewProtocol, interview: Interview, message: Message
) -> Interview | None:
    """Return the interview after a message that does not answer, `None` for one that may."""
    item = message.asked
    if item is None:
        return interview
    aside = not_answering(protocol, interview, message)
    is_read_back = interview.open_proposal(item) is not None
    is_reply = is_read_back and (message.is_no or message.leans_yes)
    of_another = message.speaks_of_others and message.answer.kind is ReadingKind.NONE
    if aside is None and message.is_refusal:
        # "I'd rather not talk about sleep" refuses that one.
        refused = item_spoken_about(message.text, interview.asked_items) or item
        declined = unscored(refused, message.turn, UnansweredReason.DECLINED)
        interview = with_readings(settled(interview, refused, None), declined)
        if refused is item:
            return proceed(protocol, interview)
        of_another = True
    if aside is None and of_another and not is_reply:
        # The question is still to be answered, and what was read back still to be confirmed.
        kept = with_others(interview, message)
        return proceed(protocol, kept if is_read_back else uncounted(kept, item))
    return aside


def _corrected(
    protocol: InterviewProtocol, interview: Interview, message: Message
) -> Interview | None:
    """Return the interview after a correction without a name, `None` where there is none."""
    unnamed = unnamed_correction(interview, message)
    if unnamed is None:
        return None
    correction = unnamed.correction
    earlier, current = correction.earlier[-1], correction.current
    if unnamed.is_of_earlier:
        read = corrected_reading(interview, correction, earlier)
        if not read.is_read and unnamed.is_named and message.has_score:
            read = message.answer
        following = as_correction(uncounted(interview, current), message.turn, earlier, read)
        if read.is_read:
            return proceed(protocol, proposed(following, earlier, read))
        if unnamed.is_named:
            return proceed(protocol, withdrawn(following, earlier))
    if any(one.current is current for one in interview.corrections):
        return proceed(protocol, with_readings(interview, *unclear_readings(correction)))
    return proceed(protocol, replace(interview, corrections=(*interview.corrections, correction)))


def _which_item(protocol: InterviewProtocol, interview: Interview, message: Message) -> Interview:
    """Work in which item a correction is about."""
    correction = interview.open_correction
    if correction is None:
        return proceed(protocol, interview)
    aside = not_answering(protocol, interview, message)
    if aside is not None:
        return aside
    done = replace(correction, settled_turn=message.turn)
    following = replace(interview, drift=None, corrections=(*interview.corrections[:-1], done))
    about = item_of(interview, correction, message)
    if about is None and message.is_refusal:
        # Who does not say which has not said that an earlier answer was wrong.
        declined = unscored(correction.current, correction.turn, UnansweredReason.DECLINED)
        return proceed(protocol, with_readings(with_former(following, correction), declined))
    if about is None:
        return proceed(protocol, with_readings(following, *unclear_readings(correction)))
    read = corrected_reading(interview, correction, about)
    if about is not correction.current:
        following = uncounted(following, correction.current)
        following = as_correction(following, correction.turn, about, read)
    if read.kind is ReadingKind.READ:
        return proceed(protocol, proposed(following, about, read, turn=correction.turn))
    reading = (
        counted(about, correction.turn, read)
        if read.kind is ReadingKind.ANCHOR
        else unscored(about, correction.turn, UnansweredReason.AMBIGUOUS_ANSWER)
    )
    return proceed(protocol, with_readings(following, reading))


def _confirms_stop(
    protocol: InterviewProtocol, interview: Interview, message: Message
) -> Interview:
    """Stop after a yes; an answer instead is for the question that waits behind."""
    behind = interview.behind
    if message.does(Act.STOP) or message.leans_yes:
        return stopped(protocol, interview, is_yes=True)
    answer = interview.answer
    if message.does(Act.PAUSE):
        return left(protocol, interview, message)
    if behind is None or answer is None or message.is_no:
        return stopped(protocol, interview, is_yes=False)
    item = interview.goal(behind.goal_id).item
    instead = read_message(answer, item, is_to_read_back=True)
    if not instead.says_how_often:
        return stopped(protocol, interview, is_yes=False)
    acts = tuple(one for one in interview.acts if one.turn != answer.turn)
    back = replace(interview, question=behind, behind=None, acts=acts)
    return _HANDLERS[behind.purpose](protocol, with_acts(back, instead), instead)


_HANDLERS: Final[Mapping[QuestionPurpose, _Handler]] = {
    QuestionPurpose.ASK: _answered,
    QuestionPurpose.READ_BACK: _read_back,
    QuestionPurpose.WHICH_ITEM: _which_item,
    QuestionPurpose.ONCE_MORE: asked_once_more,
    QuestionPurpose.CONFIRM_STOP: _confirms_stop,
    QuestionPurpose.LAST_WORD: after_danger,
    QuestionPurpose.GO_ON: after_danger,
    QuestionPurpose.REVIEW: looked_through,
}
"""What a message does, by what was asked."""
_HANDLERS_OF_OPTIONS: Final[Mapping[QuestionPurpose, _Handler]] = {
    QuestionPurpose.ASK: _chosen,
    QuestionPurpose.READ_BACK: _chosen,
    QuestionPurpose.REVIEW: chosen_at_review,
}
"""Where an option does what no words do."""
_HEARS_STOP: Final = frozenset(
    {QuestionPurpose.CONFIRM_STOP, QuestionPurpose.LAST_WORD, QuestionPurpose.GO_ON}
)


def _confirmed(protocol: InterviewProtocol, interview: Interview, item: Item) -> Interview:
    proposal = interview.open_proposal(item)
    if proposal is None:
        return proceed(protocol, interview)
    reading = ItemReading(
        item=item,
        turn=proposal.turn,
        score=proposal.score,
        reason=None,
        quote=proposal.quote,
        confirmed_turn=interview.turn,
    )
    return proceed(protocol, with_readings(settled(interview, item, proposal.score), reading))


def _choose_one(
    protocol: InterviewProtocol, interview: Interview, item: Item, *, notice: str = ""
) -> Interview:
    """Ask for one of the four frequencies, once for each item; then go on."""
    denied = ProposalOutcome.NOT_CONFIRMED
    if sum(one.outcome is denied for one in interview.proposals_of(item)) > 1:
        return proceed(protocol, interview)
    text = protocol.conversation.choose
    return put_item_again(protocol, interview, item, text=text, notice=notice)


def _drift(protocol: InterviewProtocol, message: Message) -> Drift | None:
    if protocol.drift is DriftPolicy.NEVER:
        return None
    if message.says_how_often or message.answer.kind is not ReadingKind.NONE:
        return Drift(is_addressed=True)
    reason = UnansweredReason.OFF_TOPIC.value
    return Drift(is_addressed=False, reason=reason, redirect=protocol.texts.redirect)
