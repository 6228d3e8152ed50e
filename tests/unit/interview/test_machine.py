"""The table of states and events: what it takes, what it refuses, and that the docs show it."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeAlias

import pytest
from tests.unit.interview.built import Desk, desk
from tests.unit.interview.machine_table import machine_table
from tests.unit.interview.scripted_agents import ScriptedAgents

from ai_psychiatrist.domain.errors import RequestConflict
from ai_psychiatrist.domain.failures import FailureCode
from ai_psychiatrist.domain.interview import InterviewState, QuestionPurpose
from ai_psychiatrist.interview.engine.steps import leave
from ai_psychiatrist.interview.interview_store import InterviewStore
from ai_psychiatrist.interview.machine import TABLE, Event

DOCUMENT = Path(__file__).parents[3] / "docs" / "interview.md"

Way: TypeAlias = Callable[[Desk, ScriptedAgents], Awaitable[object]]


async def _preparing(at: Desk, agents: ScriptedAgents) -> None:
    agents.queue("generate_goals", FailureCode.TIMED_OUT)
    await at.begin("incident")


async def _awaiting(at: Desk, _: ScriptedAgents) -> None:
    await at.begin("incident")


async def _digesting(at: Desk, agents: ScriptedAgents) -> None:
    await at.begin("incident")
    agents.reset()
    turn = asyncio.create_task(at.say("It was Sam."))
    await agents.begun.wait()
    turn.cancel()
    await asyncio.gather(turn, return_exceptions=True)


async def _paused(at: Desk, _: ScriptedAgents) -> None:
    await at.begin("incident")
    at.snapshot = await at.service.pause(at.snapshot.id)


async def _reporting(at: Desk, _: ScriptedAgents) -> None:
    await at.begin("incident")
    await at.stop()


async def _done(at: Desk, _: ScriptedAgents) -> None:
    await at.begin("phq8")
    await at.stop()


async def _held(at: Desk, _: ScriptedAgents) -> None:
    await at.begin("phq8")
    await at.say("Sometimes I think everybody would be better off without me")


WAYS: dict[InterviewState, Way] = {
    InterviewState.FAILED: _preparing,
    InterviewState.AWAITING: _awaiting,
    InterviewState.DIGESTING: _digesting,
    InterviewState.PAUSED: _paused,
    InterviewState.REPORTING: _reporting,
    InterviewState.DONE: _done,
    InterviewState.SAFETY_HOLD: _held,
}
"""How an interview gets into each state; `preparing` is only left behind by a kill."""


async def happen(at: Desk, event: Event) -> object:
    """Let an event happen by the service's own methods."""
    match event:
        case Event.ANSWER:
            return await at.send(option_id="a1")
        case Event.STOP:
            return await at.stop()
        case Event.PAUSE:
            return await at.service.pause(at.snapshot.id)
        case Event.ADVANCE:
            return await at.service.retry(at.snapshot.id)
        case Event.REPORT:
            return await at.service.make_report(at.snapshot.id)
        case Event.REOPEN:
            return await at.service.reopen(at.snapshot.id, reason="Called.", author="ann")


@pytest.mark.parametrize("event", [one for one in Event if one is not Event.REOPEN])
@pytest.mark.parametrize("state", WAYS)
def test_every_state_takes_the_events_of_the_table_and_refuses_the_others(
    state: InterviewState, event: Event, interviews: InterviewStore
) -> None:
    agents = ScriptedAgents()

    async def work(at: Desk) -> None:
        await WAYS[state](at, agents)
        before = await at.read()
        assert before.state is state
        transition = TABLE.get((state, event))
        if transition is None:
            with pytest.raises(RequestConflict):
                await happen(at, event)
            assert await at.read() == before
            return
        await happen(at, event)
        after = await at.read()
        assert after.state in transition.leads_to
        assert (after == before) is (transition.step is leave)

    with desk(interviews, agents) as at:
        asyncio.run(work(at))


@pytest.mark.parametrize("state", WAYS)
def test_an_operator_reopens_what_is_held_and_nothing_else(
    state: InterviewState, interviews: InterviewStore
) -> None:
    agents = ScriptedAgents()

    async def work(at: Desk) -> None:
        await WAYS[state](at, agents)
        stored = at.store.load(at.snapshot.id)
        asking = at.service.reopen(at.snapshot.id, reason="called", author="somebody")
        if state is not InterviewState.SAFETY_HOLD:
            with pytest.raises(RequestConflict):
                await asking
            return
        reopened = await asking
        assert reopened.state is InterviewState.AWAITING
        assert reopened.question is not None
        assert reopened.question.purpose is QuestionPurpose.ASK
        assert (reopened.end_reason, reopened.dangers) == (None, stored.dangers)

    with desk(interviews, agents) as at:
        asyncio.run(work(at))


def test_every_state_can_be_reached_and_goes_on_or_is_the_end() -> None:
    reached = {state for one in TABLE.values() for state in one.leads_to}
    assert reached | {InterviewState.PREPARING} == set(InterviewState)
    ends = {
        state
        for state in InterviewState
        if all(one.leads_to == (state,) for (at, _), one in TABLE.items() if at is state)
    }
    assert ends == {InterviewState.DONE}


def test_the_document_shows_the_table() -> None:
    """`python -m tests.unit.interview.machine_table` prints it."""
    assert "\n".join(machine_table()) in DOCUMENT.read_text(encoding="utf-8")
