"""Interviews about goals: what answers change, when it ends, and what a turn costs."""

import asyncio
from dataclasses import asdict, is_dataclass, replace

import pytest
from tests.unit.interview.built import Desk, desk
from tests.unit.interview.scripted_agents import (
    GOALS,
    RATIONALE,
    ScriptedAgents,
    drifted,
    question,
    updates,
)

from ai_psychiatrist.domain.errors import AgentFailed
from ai_psychiatrist.domain.failures import FailureCode
from ai_psychiatrist.domain.interview import EndReason, GoalStatus, InterviewState
from ai_psychiatrist.interview.interview_store import InterviewStore
from ai_psychiatrist.interview.serialization import to_bytes
from ai_psychiatrist.interview.service import InterviewLimits
from ai_psychiatrist.interview.snapshot import InterviewSnapshot

ALL_GOALS = ("g1", "g2", "g3", "g4", "g5")
ASK = "generate_question_with_answers"


def test_an_interview_begins_with_the_models_goals_and_question(interviews: InterviewStore) -> None:
    agents = ScriptedAgents()
    with desk(interviews, agents) as at:
        snapshot = asyncio.run(at.begin("incident"))
    assert snapshot.state is InterviewState.AWAITING
    assert tuple(goal.text for goal in snapshot.goals) == GOALS
    assert len(at.question.options) == 4
    assert [one.verb for one in agents.asked] == ["generate_goals", ASK]
    assert snapshot.spent.calls == 2


def test_an_offered_answer_takes_one_call_after_another(interviews: InterviewStore) -> None:
    agents = ScriptedAgents()

    async def work(at: Desk) -> None:
        await at.begin("incident")
        agents.reset()
        await at.choose("It was Sam.")

    with desk(interviews, agents) as at:
        asyncio.run(work(at))
    assert agents.waves == 1
    assert agents.count("detect_drift") == 0
    assert agents.count(ASK) == 1
    assert at.snapshot.turn == 1
    assert at.question.goal_id != "g1"


def test_free_text_takes_two_calls_after_another(interviews: InterviewStore) -> None:
    agents = ScriptedAgents()

    async def work(at: Desk) -> None:
        await at.begin("incident")
        agents.reset()
        await at.say("It was already broken when I came in.")

    with desk(interviews, agents) as at:
        asyncio.run(work(at))
    assert agents.waves == 2
    assert sorted(one.verb for one in agents.asked) == sorted(
        ["extract_facts", "detect_drift", "update_goals", ASK]
    )


def test_the_last_turn_asks_for_no_further_question(interviews: InterviewStore) -> None:
    agents = ScriptedAgents()

    async def work(at: Desk) -> None:
        await at.begin("incident", confidence_threshold=20)
        agents.reset()
        agents.queue("update_goals", updates(**dict.fromkeys(ALL_GOALS, 20)))
        await at.say("Sam dropped it.")

    with desk(interviews, agents) as at:
        asyncio.run(work(at))
    assert agents.waves == 1
    assert agents.count(ASK) == 0
    assert at.snapshot.state is InterviewState.REPORTING


def test_a_prepared_question_is_asked_even_when_the_answer_completes_its_goal(
    interviews: InterviewStore,
) -> None:
    agents = ScriptedAgents()

    async def work(at: Desk) -> None:
        await at.begin("incident")
        agents.reset()
        agents.queue(ASK, question("About what was said?", "g2"))
        agents.queue("update_goals", updates(g2=85))
        await at.choose("It was Sam.")

    with desk(interviews, agents) as at:
        asyncio.run(work(at))
    assert at.question.text == "About what was said?"
    assert agents.waves == 1


def test_a_prepared_question_that_came_to_nothing_is_asked_for_again(
    interviews: InterviewStore,
) -> None:
    agents = ScriptedAgents()

    async def work(at: Desk) -> None:
        await at.begin("incident")
        agents.queue(ASK, FailureCode.TIMED_OUT)
        agents.reset()
        await at.choose("It was Sam.")

    with desk(interviews, agents) as at:
        asyncio.run(work(at))
    assert at.snapshot.state is InterviewState.AWAITING
    assert agents.waves == 2


def test_a_prepared_question_that_was_rejected_is_not_asked_for_beyond_its_repair(
    interviews: InterviewStore,
) -> None:
    agents = ScriptedAgents()

    async def work(at: Desk) -> None:
        await at.begin("incident")
        agents.queue(ASK, FailureCode.OUTPUT_REJECTED)
        agents.reset()
        await at.choose("It was Sam.")
        assert (at.snapshot.state, agents.count(ASK)) == (InterviewState.FAILED, 1)
        assert at.store.load(at.snapshot.id).facts == ()
        assert (await at.retry()).state is InterviewState.AWAITING

    with desk(interviews, agents) as at:
        asyncio.run(work(at))


def test_the_way_back_is_not_passed_on_to_another_goal(interviews: InterviewStore) -> None:
    agents = ScriptedAgents()

    async def work(at: Desk) -> None:
        await at.begin("incident")
        agents.queue("detect_drift", drifted())
        agents.queue("update_goals", updates(g1=90))
        await at.say("Lunch was good.")

    with desk(interviews, agents) as at:
        asyncio.run(work(at))
    assert "g1" not in agents.asked[-1].targets
    assert agents.asked[-1].view.redirect == ""


def test_preparing_questions_can_be_switched_off(interviews: InterviewStore) -> None:
    agents = ScriptedAgents()

    async def work(at: Desk) -> None:
        await at.begin("incident")
        agents.reset()
        await at.choose("It was Sam.")

    with desk(interviews, agents, limits=InterviewLimits(speculates=False)) as at:
        asyncio.run(work(at))
    assert agents.waves == 2
    assert agents.asked[-1].view.facts != ()


@pytest.mark.parametrize(
    ("changed", "threshold", "reason"),
    [
        pytest.param(
            dict.fromkeys(ALL_GOALS, 60), 60, EndReason.CONFIDENCE_REACHED, id="mean-at-threshold"
        ),
        pytest.param(
            {**dict.fromkeys(ALL_GOALS, 60), "g1": 59}, 60, None, id="mean-just-below-threshold"
        ),
        pytest.param(dict.fromkeys(ALL_GOALS, 85), 90, EndReason.ALL_RESOLVED, id="all-complete"),
    ],
)
def test_the_mean_confidence_ends_the_interview(
    changed: dict[str, int], threshold: int, reason: EndReason | None, interviews: InterviewStore
) -> None:
    agents = ScriptedAgents()

    async def work(at: Desk) -> None:
        await at.begin("incident", confidence_threshold=threshold)
        agents.queue("update_goals", updates(**changed))
        await at.choose("It was Sam.")

    with desk(interviews, agents) as at:
        asyncio.run(work(at))
    assert at.snapshot.end_reason is reason


def test_three_turns_without_progress_end_it(interviews: InterviewStore) -> None:
    agents = ScriptedAgents()

    async def work(at: Desk) -> int:
        await at.begin("incident")
        agents.queue("update_goals", updates(g1=40), *[updates(g1=30), updates(), updates(g9=99)])
        while not at.snapshot.state.is_over:
            await at.choose("It was Sam.")
        return at.snapshot.turn

    with desk(interviews, agents) as at:
        assert asyncio.run(work(at)) == 4
    assert at.snapshot.end_reason is EndReason.STALLED
    assert at.snapshot.goals[0].confidence == 30


def test_twenty_turns_end_it_whatever_is_open(interviews: InterviewStore) -> None:
    agents = ScriptedAgents()

    async def work(at: Desk) -> None:
        await at.begin("incident")
        for turn in range(1, 21):
            agents.queue("update_goals", updates(g1=turn))
            await at.choose("It was Sam.")

    with desk(interviews, agents) as at:
        asyncio.run(work(at))
    assert at.snapshot.end_reason is EndReason.TURNS_SPENT
    assert at.snapshot.turn == 20


def test_a_model_cannot_wrap_up_by_its_own_wish(interviews: InterviewStore) -> None:
    agents = ScriptedAgents()

    async def work(at: Desk) -> None:
        await at.begin("incident")
        agents.queue(ASK, question("Shall we end here?", "wrap_up"))
        await at.say("It was Sam.")

    with desk(interviews, agents) as at:
        asyncio.run(work(at))
        failed = at.snapshot
        resumed = asyncio.run(at.retry())
    assert (failed.state, failed.end_reason) == (InterviewState.FAILED, None)
    assert resumed.state is InterviewState.AWAITING


def test_changes_of_goals_that_there_are_not_change_nothing(interviews: InterviewStore) -> None:
    agents = ScriptedAgents()

    async def work(at: Desk) -> None:
        await at.begin("incident")
        agents.queue("update_goals", updates(g7=99))
        await at.choose("It was Sam.")

    with desk(interviews, agents) as at:
        asyncio.run(work(at))
        stored = at.store.load(at.snapshot.id)
    assert [goal.confidence for goal in at.snapshot.goals] == [0] * 5
    assert stored.unknown_updates == at.snapshot.unknown_updates == 1
    assert stored.stalled_turns == 1


def test_an_answer_that_leads_away_keeps_the_goal_and_passes_the_way_back_on(
    interviews: InterviewStore,
) -> None:
    agents = ScriptedAgents()

    async def work(at: Desk) -> None:
        await at.begin("incident")
        agents.queue("detect_drift", drifted("Back to the kettle, please."))
        await at.say("Lunch was good.")

    with desk(interviews, agents) as at:
        asyncio.run(work(at))
        stored = at.store.load(at.snapshot.id)
    last = agents.asked[-1]
    assert (last.verb, last.targets) == (ASK, ("g1",))
    assert last.view.redirect == "Back to the kettle, please."
    assert at.question.goal_id == "g1"
    assert at.snapshot.goals[0].asks == 2
    assert stored.drift is not None
    assert not stored.drift.is_addressed


@pytest.mark.parametrize("answer", ["It was Sam.", "Nobody knows, I guess."])
def test_a_repeated_question_is_never_put(answer: str, interviews: InterviewStore) -> None:
    agents = ScriptedAgents()
    agents.queue(ASK, question("Who was it?", "g1"))

    async def work(at: Desk) -> None:
        await at.begin("incident")
        agents.queue(ASK, question("who  was it?", "g2"))
        await at.send(**({"option_id": "a1"} if answer == "It was Sam." else {"text": answer}))
        assert at.snapshot.state is InterviewState.FAILED
        assert agents.asked[-1].view.said_before[-1] == "Who was it?"
        assert (await at.retry()).state is InterviewState.AWAITING

    with desk(interviews, agents) as at:
        asyncio.run(work(at))
    assert [one.text for one in at.snapshot.messages].count("Who was it?") == 1


def test_facts_are_kept_once_however_often_a_model_finds_them(interviews: InterviewStore) -> None:
    agents = ScriptedAgents()

    async def work(at: Desk) -> None:
        await at.begin("incident")
        for _ in range(3):
            await at.choose("It was Sam.")

    with desk(interviews, agents) as at:
        asyncio.run(work(at))
        facts = at.store.load(at.snapshot.id).facts
    assert [(fact.id, fact.turn, fact.goal_ids) for fact in facts] == [("f1", 1, ("g1",))]


@pytest.mark.parametrize(
    "verb", ["extract_facts", "update_goals", "detect_drift", ASK], ids=lambda verb: verb
)
def test_a_failed_step_keeps_the_answer_and_changes_nothing_else(
    verb: str, interviews: InterviewStore
) -> None:
    agents = ScriptedAgents()

    async def work(at: Desk) -> InterviewSnapshot:
        await at.begin("incident")
        before = at.snapshot
        agents.queue(verb, FailureCode.CONNECTION_FAILED)
        await at.say("It was Sam.")
        failed = at.snapshot
        assert failed.state is InterviewState.FAILED
        assert failed.failure is FailureCode.CONNECTION_FAILED
        assert failed.is_resumable
        assert failed.question is None
        assert failed.goals == before.goals
        assert failed.messages[-1].text == "It was Sam."
        assert at.store.load(failed.id).facts == ()
        return await at.retry()

    with desk(interviews, agents) as at:
        resumed = asyncio.run(work(at))
        stored = at.store.load(resumed.id)
    assert resumed.state is InterviewState.AWAITING
    assert resumed.turn == 1
    assert len(stored.facts) == 1
    assert [message.text for message in resumed.messages].count("It was Sam.") == 1


def test_a_failed_beginning_can_be_tried_again(interviews: InterviewStore) -> None:
    agents = ScriptedAgents({"generate_goals": [FailureCode.TIMED_OUT]})

    async def work(at: Desk) -> None:
        failed = await at.begin("incident")
        assert (failed.state, failed.failure) == (InterviewState.FAILED, FailureCode.TIMED_OUT)
        await at.retry()

    with desk(interviews, agents) as at:
        asyncio.run(work(at))
    assert at.snapshot.state is InterviewState.AWAITING
    assert at.snapshot.failure is None


def test_a_step_that_takes_too_long_fails(interviews: InterviewStore) -> None:
    with desk(interviews, ScriptedAgents(), limits=InterviewLimits(turn_timeout_seconds=0)) as at:
        snapshot = asyncio.run(at.begin("incident"))
    assert snapshot.state is InterviewState.FAILED
    assert snapshot.failure is FailureCode.DEADLINE_EXCEEDED


def test_spent_calls_end_the_interview_and_leave_some_for_the_report(
    interviews: InterviewStore,
) -> None:
    agents = ScriptedAgents()

    async def work(at: Desk) -> InterviewSnapshot:
        await at.begin("incident")
        while not at.snapshot.state.is_over:
            await at.say("It was Sam.")
        report = await at.service.make_report(at.snapshot.id)
        assert report.analysis is not None
        return await at.read()

    with desk(interviews, agents, limits=InterviewLimits(max_calls=15)) as at:
        final = asyncio.run(work(at))
    assert final.end_reason is EndReason.BUDGET_SPENT
    assert final.spent.calls <= 15


def test_the_report_is_written_once_and_stays_the_same(interviews: InterviewStore) -> None:
    agents = ScriptedAgents()

    async def work(at: Desk) -> None:
        await at.begin("incident")
        await at.choose("It was Sam.")
        await at.stop()
        first = await at.service.make_report(at.snapshot.id)
        assert await at.service.make_report(at.snapshot.id) == first
        assert first.state is InterviewState.DONE
        assert first.analysis is not None
        assert first.analysis.verdict.percentage == 70

    with desk(interviews, agents) as at:
        asyncio.run(work(at))
    assert agents.count("generate_analysis") == 1
    assert agents.asked[-1].view.messages == at.snapshot.messages


def test_a_report_that_fails_can_be_asked_for_again(interviews: InterviewStore) -> None:
    agents = ScriptedAgents({"generate_analysis": [FailureCode.OUTPUT_REJECTED]})

    async def work(at: Desk) -> None:
        await at.begin("incident")
        await at.stop()
        with pytest.raises(AgentFailed):
            await at.service.make_report(at.snapshot.id)
        report = await at.service.make_report(at.snapshot.id)
        assert report.analysis is not None

    with desk(interviews, agents) as at:
        asyncio.run(work(at))


def test_signs_of_danger_hold_it_before_any_model_is_asked(interviews: InterviewStore) -> None:
    agents = ScriptedAgents()

    async def work(at: Desk) -> None:
        await at.begin("incident")
        agents.reset()
        await at.say("After that I wanted to kill myself, and I still do.")
        report = await at.service.make_report(at.snapshot.id)
        assert report.analysis is None

    with desk(interviews, agents) as at:
        asyncio.run(work(at))
    assert at.snapshot.state is InterviewState.SAFETY_HOLD
    assert agents.asked == []


def test_reopened_it_puts_the_question_of_the_model_again_without_asking_one(
    interviews: InterviewStore,
) -> None:
    agents = ScriptedAgents()

    async def work(at: Desk) -> None:
        first = (await at.begin("incident")).question
        await at.say("After that I wanted to kill myself, and I still do.")
        agents.reset()
        again = await at.service.reopen(at.snapshot.id, reason="Called.", author="ann")
        assert first is not None
        assert again.question == replace(first, id="q2", turn=2)
        assert agents.asked == []
        at.snapshot = again
        assert (await at.say("It was Sam.")).state is InterviewState.AWAITING

    with desk(interviews, agents) as at:
        asyncio.run(work(at))


def test_no_rationale_of_a_model_leaves_the_service(interviews: InterviewStore) -> None:
    agents = ScriptedAgents()
    seen: list[object] = []

    async def work(at: Desk) -> None:
        seen.append(await at.begin("incident"))
        assert RATIONALE.encode() in to_bytes(at.store.load(at.snapshot.id))
        seen.append(await at.choose("It was Sam."))
        seen.append(await at.stop())
        seen.append(await at.service.make_report(at.snapshot.id))

    with desk(interviews, agents) as at:
        asyncio.run(work(at))
    assert not any(RATIONALE in everything_in(one) for one in seen)


def everything_in(record: object) -> str:
    """Return all that a record holds, what its `repr` leaves out too."""
    assert is_dataclass(record)
    assert not isinstance(record, type)
    return str(asdict(record))


def test_complete_goals_are_not_asked_for(interviews: InterviewStore) -> None:
    agents = ScriptedAgents()

    async def work(at: Desk) -> None:
        await at.begin("incident")
        agents.queue("update_goals", updates(g1=90, g2=90))
        await at.say("It was Sam.")

    with desk(interviews, agents) as at:
        asyncio.run(work(at))
    complete = {goal.id for goal in at.snapshot.goals if goal.status is GoalStatus.COMPLETE}
    assert complete == {"g1", "g2"}
    assert not complete & set(agents.asked[-1].targets)
