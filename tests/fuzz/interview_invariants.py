"""What holds after every step of an interview, whatever the models replied."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from pydantic import TypeAdapter

from ai_psychiatrist.domain.interview import (
    COMPLETE_CONFIDENCE,
    AnswerKind,
    Goal,
    GoalStatus,
    InterviewState,
    MessageSpeaker,
)
from ai_psychiatrist.interview.snapshot import InterviewSnapshot
from tests.fuzz.hostile import CANARY
from tests.fuzz.interview_models import RATIONALE
from tests.fuzz.interview_setups import MOST_CALLS_OF_A_STEP
from tests.fuzz.invariants import InvariantBroken

PERSON: Final = "sandarach"
"""A made-up word of the person's own, which no log may hold."""
_WORD: Final = re.compile(r"\w+")
_SNAPSHOT: Final = TypeAdapter(InterviewSnapshot)
_STATES: Final = {
    InterviewState.AWAITING,
    InterviewState.REPORTING,
    InterviewState.DONE,
    InterviewState.FAILED,
    InterviewState.SAFETY_HOLD,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """One step of an interview from outside."""

    before: InterviewSnapshot | None
    """`None` for the first step."""
    after: InterviewSnapshot
    numbers: frozenset[int]
    """The whole numbers that replies gave as values during the step."""
    calls: int
    """Calls that arrived at the models so far."""
    calls_of_step: int
    max_calls: int
    log: str

    @property
    def has_failed(self) -> bool:
        """Whether the step did not succeed."""
        return self.after.state is InterviewState.FAILED


def check_seen(seed: int, seen: Seen) -> None:
    """Raise `InvariantBroken` with the name of the first invariant that does not hold."""
    for invariant in _INVARIANTS:
        _hold(seed, lambda one=invariant: one(seen), invariant.__name__)  # type: ignore[misc]


def check_left_alone(seed: int, before: InterviewSnapshot, after: InterviewSnapshot) -> None:
    """Check that an interview is as it was."""

    def is_left_alone() -> None:
        assert after.state_hash == before.state_hash
        assert after == before

    _hold(seed, is_left_alone, "interview_is_left_alone")


def check_report(
    seed: int, report: InterviewSnapshot, again: InterviewSnapshot, replies: list[str], log: str
) -> None:
    """Check a report that was asked for twice."""

    def is_sound() -> None:
        assert report == again
        text = _SNAPSHOT.dump_json(report).decode("utf-8")
        assert RATIONALE not in text
        _assert_log_is_silent(log, report.id)
        facts = [(fact.topic, fact.claim) for fact in report.facts]
        assert len(facts) == len(set(facts))
        assert [fact.id for fact in report.facts] == [f"f{n + 1}" for n in range(len(facts))]
        if report.analysis is None:
            assert report.state is InterviewState.SAFETY_HOLD
            return
        verdict = report.analysis.verdict
        sent = {int(number) for reply in replies for number in _VALUES.findall(reply)}
        assert {verdict.percentage, verdict.drama_rating} <= sent
        assert 0 <= verdict.percentage <= 100
        assert 1 <= verdict.drama_rating <= 10
        assert sum(share.percentage for share in verdict.shares) in {0, 100}

    _hold(seed, is_sound, "report_is_sound")


_VALUES: Final = re.compile(r":\s*(-?\d+)(?![\w.])")


def _hold(seed: int, check: Callable[[], None], name: str) -> None:
    try:
        check()
    except (AssertionError, ValueError, KeyError, TypeError) as error:
        detail = f"{type(error).__name__}: {error}"
        raise InvariantBroken(seed, name.strip("_"), detail) from error


def _state_is_settled(seen: Seen) -> None:
    shown = seen.after
    assert shown.state in _STATES, shown.state
    assert (shown.question is not None) == (shown.state is InterviewState.AWAITING)
    assert (shown.failure is not None) == seen.has_failed
    assert not seen.has_failed or shown.is_resumable
    assert (shown.end_reason is not None) == shown.state.is_over


def _hidden_stays_hidden(seen: Seen) -> None:
    text = _SNAPSHOT.dump_json(seen.after).decode("utf-8")
    json.loads(text)
    assert RATIONALE not in text
    for shown in (repr(seen.after), str(seen.after)):
        assert RATIONALE not in shown
        assert PERSON not in shown
        assert CANARY not in shown


def _log_is_silent(seen: Seen) -> None:
    _assert_log_is_silent(seen.log, seen.after.id)


def _assert_log_is_silent(log: str, interview_id: str) -> None:
    for hidden in (CANARY, RATIONALE, PERSON, interview_id):
        at = log.casefold().find(hidden.casefold())
        assert at < 0, log[max(0, at - 400) : at + 100]


def _calls_are_bounded(seen: Seen) -> None:
    assert seen.calls == seen.after.spent.calls, (seen.calls, seen.after.spent.calls)
    assert seen.after.spent.calls <= seen.max_calls, seen.after.spent.calls
    assert seen.calls_of_step <= MOST_CALLS_OF_A_STEP, seen.calls_of_step


def _goals_are_sound(seen: Seen) -> None:
    goals = seen.after.goals
    if not goals:
        assert seen.before is None or not seen.before.goals
        return
    assert 5 <= len(goals) <= 7, len(goals)
    assert len({tuple(_WORD.findall(goal.text.casefold())) for goal in goals}) == len(goals)
    assert [goal.id for goal in goals] == [f"g{n + 1}" for n in range(len(goals))]
    for goal in goals:
        assert 0 <= goal.confidence <= 100
        if goal.status is GoalStatus.COMPLETE:
            assert goal.confidence >= COMPLETE_CONFIDENCE


def _nothing_is_clamped(seen: Seen) -> None:
    before = _by_id(seen.before)
    for goal in seen.after.goals:
        known = before.get(goal.id)
        was = 0 if known is None else known.confidence
        assert goal.confidence == was or goal.confidence in seen.numbers, goal.confidence


def _a_failed_step_changes_nothing(seen: Seen) -> None:
    if not seen.has_failed:
        return
    if seen.before is None:
        assert not seen.after.goals
        assert not seen.after.messages
        return
    assert seen.after.goals == seen.before.goals
    known = len(seen.before.messages)
    assert seen.after.messages[:known] == seen.before.messages
    added = seen.after.messages[known:]
    assert len(added) == (seen.before.state is InterviewState.AWAITING)
    assert all(message.speaker is MessageSpeaker.PARTICIPANT for message in added)


def _each_answer_is_taken_once(seen: Seen) -> None:
    said = [one for one in seen.after.messages if one.speaker is MessageSpeaker.PARTICIPANT]
    assert len(said) == seen.after.turn, (len(said), seen.after.turn)
    if seen.before is not None:
        assert seen.after.turn - seen.before.turn in {0, 1}


def _question_is_sound(seen: Seen) -> None:
    question = seen.after.question
    if question is None:
        return
    # A question that was asked for ahead is put even when the same answer completes its goal.
    goals = [_by_id(shown).get(question.goal_id) for shown in (seen.before, seen.after)]
    assert any(goal is not None and goal.status is not GoalStatus.COMPLETE for goal in goals)
    assert _WORD.search(question.text)
    offered = [one.text for one in question.options if one.kind is AnswerKind.OFFERED]
    assert len(offered) == 4, len(offered)
    assert len({tuple(_WORD.findall(text.casefold())) for text in offered}) == 4
    spoken = [
        message.text
        for message in seen.after.messages
        if message.speaker is MessageSpeaker.INTERVIEWER
    ]
    assert spoken.count(question.text) == 1


def _by_id(shown: InterviewSnapshot | None) -> dict[str, Goal]:
    return {} if shown is None else {goal.id: goal for goal in shown.goals}


_INVARIANTS: tuple[Callable[[Seen], None], ...] = (
    _state_is_settled,
    _hidden_stays_hidden,
    _log_is_silent,
    _calls_are_bounded,
    _goals_are_sound,
    _nothing_is_clamped,
    _a_failed_step_changes_nothing,
    _each_answer_is_taken_once,
    _question_is_sound,
)
