"""Steps that every interview takes, whatever it is after; each gives the interview that follows."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from ai_psychiatrist.agents.interview.outputs import same_words
from ai_psychiatrist.domain.interview import (
    AnswerKind,
    AnswerOption,
    EndReason,
    GivenAnswer,
    Goal,
    GoalStatus,
    InterviewState,
    Message,
    MessageSpeaker,
    Question,
    QuestionPurpose,
)
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.domain.risk import RiskCategory, RiskLevel
from ai_psychiatrist.interview.protocol.placeholders import filled
from ai_psychiatrist.interview.protocol.records import InterviewProtocol, OnDanger, ProtocolKind
from ai_psychiatrist.interview.protocol.texts import YesOrNo
from ai_psychiatrist.interview.record import Danger, GoalProgress, Interview

_INTERVIEWER: Final = MessageSpeaker.INTERVIEWER


def say(interview: Interview, text: str, speaker: MessageSpeaker) -> Interview:
    """Add an utterance; an empty one adds nothing."""
    if not text:
        return interview
    message = Message(
        id=f"m{len(interview.messages) + 1}", speaker=speaker, text=text, turn=interview.turn
    )
    return replace(interview, messages=(*interview.messages, message))


class Offered(NamedTuple):
    """An answer that may be chosen."""

    text: str
    kind: AnswerKind
    score: int | None = None
    rationale: str = ""
    item: Item | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """How a goal is asked for."""

    text: str
    offered: tuple[Offered, ...]
    is_clarifying: bool = False
    is_ask: bool = True
    """Whether it is one of the times that a goal is asked for."""
    rationale: str = ""
    purpose: QuestionPurpose = QuestionPurpose.ASK


_REFUSABLE: Final = frozenset(
    {QuestionPurpose.ASK, QuestionPurpose.READ_BACK, QuestionPurpose.WHICH_ITEM}
)


def put_question(
    protocol: InterviewProtocol,
    interview: Interview,
    goal_id: str,
    wording: Wording,
    *,
    notice: str = "",
) -> Interview:
    """Ask for a goal; the first time after the protocol's introduction.

    A refusal stands last among the answers to a question about an item where the protocol has one.
    """
    if not interview.messages:
        places = {"of": len(interview.goals), **interview.inputs}
        notice = filled(protocol.texts.introduction, places).strip()
    spoken = say(interview, notice, MessageSpeaker.INTERVIEWER)
    spoken = say(spoken, wording.text, MessageSpeaker.INTERVIEWER)
    goal, policy = interview.goal(goal_id), protocol.answers
    is_refusable = policy.decline is not None and wording.purpose in _REFUSABLE
    decline = [Offered(policy.decline or "", AnswerKind.DECLINE)] if is_refusable else []
    question = Question(
        id=f"q{interview.turn + 1}",
        text=wording.text,
        goal_id=goal_id,
        options=tuple(
            AnswerOption(id=f"a{number}", **one._asdict())
            for number, one in enumerate([*wording.offered, *decline], start=1)
        ),
        allows_free_text=policy.free_text,
        turn=interview.turn + 1,
        rationale=wording.rationale,
        is_clarifying=wording.is_clarifying,
        purpose=wording.purpose,
    )
    return replace(
        with_goals(spoken, [replace(goal, asks=goal.asks + wording.is_ask)]),
        state=InterviewState.AWAITING,
        question=question,
        behind=None,
        answer=None,
        answer_key=None,
        failure=None,
    )


def repeat(interview: Interview, question: Question, *, notice: str = "") -> Interview:
    """Put a question once more that has no answer yet; it is not one of the times that count."""
    turn = interview.turn + 1
    spoken = say(say(interview, notice, MessageSpeaker.INTERVIEWER), question.text, _INTERVIEWER)
    return replace(
        spoken,
        state=InterviewState.AWAITING,
        question=replace(question, id=f"q{turn}", turn=turn),
        behind=None if question is interview.behind else interview.behind,
        answer=None,
        answer_key=None,
        failure=None,
    )


def ask_aside(interview: Interview, question: YesOrNo, purpose: QuestionPurpose) -> Interview:
    """Ask for a yes or a no about the interview itself; the question that waits stays behind it."""
    options = (
        AnswerOption(id="a1", text=question.agree, kind=AnswerKind.CONFIRM),
        AnswerOption(id="a2", text=question.disagree, kind=AnswerKind.REJECT),
    )
    return _put_aside(interview, question.question, purpose, options)


def _put_aside(
    interview: Interview, text: str, purpose: QuestionPurpose, options: tuple[AnswerOption, ...]
) -> Interview:
    behind, turn = interview.behind or interview.question, interview.turn + 1
    aside = Question(
        id=f"q{turn}",
        text=text,
        goal_id=behind.goal_id if behind else interview.goals[0].id,
        options=options,
        allows_free_text=True,
        turn=turn,
        purpose=purpose,
    )
    return replace(
        say(interview, text, MessageSpeaker.INTERVIEWER),
        state=InterviewState.AWAITING,
        question=aside,
        behind=behind,
        answer=None,
        answer_key=None,
    )


def place_of(interview: Interview) -> Mapping[str, str | int]:
    """Return which of how many goals is asked about."""
    waiting = interview.behind or interview.question
    ids = [goal.id for goal in interview.goals]
    number = ids.index(waiting.goal_id) + 1 if waiting and waiting.goal_id in ids else len(ids)
    return {"number": number, "of": len(ids)}


def with_answer(interview: Interview, answer: GivenAnswer, key: str) -> Interview:
    """Put an answer down, to be worked in next."""
    taken = replace(
        interview,
        state=InterviewState.DIGESTING,
        turn=answer.turn,
        answer=answer,
        answer_key=key,
        drift=None,
    )
    return say(taken, answer.text, MessageSpeaker.PARTICIPANT)


def end(protocol: InterviewProtocol, interview: Interview, reason: EndReason) -> Interview:
    """Ask nothing more and take leave; a report that a model writes is still to come."""
    closing = filled(protocol.texts.closing, interview.inputs)
    is_items = protocol.kind is ProtocolKind.ITEMS
    return replace(
        _closed(say(interview, closing, MessageSpeaker.INTERVIEWER)),
        state=InterviewState.DONE if is_items else InterviewState.REPORTING,
        end_reason=reason,
    )


def hold(protocol: InterviewProtocol, interview: Interview, danger: Danger) -> Interview:
    """Say the fixed words for danger, and take one more reply or offer to go on."""
    safety = protocol.safety
    own_words = safety.violence if RiskCategory.ABUSE in danger.categories else None
    words = own_words or safety.hold
    dangers = (*interview.dangers, danger)
    held = say(replace(interview, dangers=dangers), words, MessageSpeaker.INTERVIEWER)
    if _on_danger(protocol, danger) is OnDanger.CONTINUE:
        asked = ask_aside(held, safety.go_on, QuestionPurpose.GO_ON)
    else:
        asked = _put_aside(held, safety.last_word, QuestionPurpose.LAST_WORD, ())
    return replace(asked, state=InterviewState.SAFETY_HOLD, end_reason=EndReason.SAFETY)


def stay_held(protocol: InterviewProtocol, interview: Interview) -> Interview:
    """Keep the reply after a sign of danger, and ask nothing more."""
    kept = say(interview, protocol.safety.kept, MessageSpeaker.INTERVIEWER)
    return replace(_closed(kept), state=InterviewState.SAFETY_HOLD)


def _on_danger(protocol: InterviewProtocol, danger: Danger) -> OnDanger:
    policy = protocol.safety.danger
    return policy.high if danger.level is RiskLevel.HIGH else policy.moderate


def with_goals(interview: Interview, changed: Iterable[Goal]) -> Interview:
    """Put changed goals in the place of those with the same ids."""
    by_id = {goal.id: goal for goal in changed}
    return replace(interview, goals=tuple(by_id.get(goal.id, goal) for goal in interview.goals))


def with_progress(interview: Interview, changed: tuple[Goal, ...]) -> Interview:
    """Put changed goals in place, and count whether any of them gained."""
    gained = any(_gains(interview.goal(goal.id), goal) for goal in changed)
    history = tuple(
        GoalProgress(
            turn=interview.turn, goal_id=goal.id, confidence=goal.confidence, status=goal.status
        )
        for goal in changed
    )
    return replace(
        with_goals(interview, changed),
        progress=(*interview.progress, *history),
        stalled_turns=0 if gained else interview.stalled_turns + 1,
    )


def is_repeated(interview: Interview, text: str) -> bool:
    """Return whether the interviewer has said the same words before."""
    return same_words(text) in map(same_words, said_by_interviewer(interview))


def said_by_interviewer(interview: Interview) -> tuple[str, ...]:
    """Return the interviewer's utterances in their order."""
    return tuple(
        message.text
        for message in interview.messages
        if message.speaker is MessageSpeaker.INTERVIEWER
    )


def _closed(interview: Interview) -> Interview:
    return replace(interview, question=None, answer=None, answer_key=None, failure=None)


def _gains(before: Goal, after: Goal) -> bool:
    is_newly_complete = (
        after.status is GoalStatus.COMPLETE and before.status is not GoalStatus.COMPLETE
    )
    return is_newly_complete or after.confidence > before.confidence
