"""A model reads free answers for danger beside the rules; what it finds holds the interview."""

import asyncio
import json
from collections.abc import Sequence

import pytest
from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models.function import AgentInfo, FunctionModel
from tests.fakes.captured_events import captured_events
from tests.fakes.replies import danger_text
from tests.fakes.scripted import Scripted, ScriptedModel, response, route
from tests.unit.interview.built import PROTOCOLS, Desk, assessed, desk
from tests.unit.interview.scripted_agents import ScriptedAgents

from ai_psychiatrist.agents.danger import DangerAgent
from ai_psychiatrist.domain.failures import FailureCode
from ai_psychiatrist.domain.interview import EndReason, InterviewState, QuestionPurpose
from ai_psychiatrist.domain.interview_items import UnansweredReason
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.domain.risk import ReadingStatus, RiskCategory, RiskLevel, RiskSource
from ai_psychiatrist.interview.interview_store import InterviewStore
from ai_psychiatrist.interview.record import DangerReading
from ai_psychiatrist.interview.service import InterviewLimits
from ai_psychiatrist.llm.endpoints import ModelEndpoint
from ai_psychiatrist.llm.settings import PydanticAISettings

HINT = "I went back to the quarry and counted the steps to the edge"
SAID = f"Several days. {HINT}."
ANSWERED = (DangerReading(turn=1, status=ReadingStatus.ANSWERED),)
BOTH = pytest.mark.parametrize("protocol", ["phq8", "incident"])


def reader(*replies: Scripted, retries: int = 1) -> tuple[ScriptedModel, DangerAgent]:
    model = ScriptedModel(replies)
    settings = PydanticAISettings(retries=retries)
    return model, DangerAgent((route(model),), pydantic_ai_settings=settings)


async def answered(at: Desk, protocol: str, said: str) -> None:
    unknown = assessed(Item.SLEEP, Item.MOVING) if protocol == "phq8" else None
    await at.begin(protocol, assessment=unknown)
    await at.say(said)


def hold_by(
    interviews: InterviewStore,
    protocol: str,
    replies: Sequence[Scripted],
    said: str = SAID,
    retries: int = 1,
) -> tuple[Desk, ScriptedModel, ScriptedAgents]:
    model, agent = reader(*replies, retries=retries)
    agents = ScriptedAgents()
    with desk(interviews, agents, danger=agent) as at:
        asyncio.run(answered(at, protocol, said))
    return at, model, agents


@BOTH
@pytest.mark.parametrize("level", ["moderate", "high"])
def test_a_sign_that_the_rules_do_not_know_holds_the_interview(
    interviews: InterviewStore, protocol: str, level: str
) -> None:
    at, _, _ = hold_by(interviews, protocol, [danger_text(HINT, level=level, kind="plan")])
    held = at.snapshot
    assert (held.state, held.end_reason) == (InterviewState.SAFETY_HOLD, EndReason.SAFETY)
    is_offered = level == "moderate"
    purpose = QuestionPurpose.GO_ON if is_offered else QuestionPurpose.LAST_WORD
    assert (at.question.purpose, bool(at.question.options)) == (purpose, is_offered)
    assert held.notice == PROTOCOLS[protocol].safety.hold
    assert held.danger is not None
    assert (held.danger.level, held.danger.source) == (RiskLevel(level), RiskSource.MODEL)
    assert held.danger.categories == (RiskCategory.SUICIDAL_IDEATION,)
    (place,) = held.danger.places
    assert (place.turn, SAID[place.start : place.end]) == (1, HINT)
    assert held.danger_readings == ANSWERED
    if protocol == "phq8":
        assert at.outcome(Item.SLEEP).unknown_reason is UnansweredReason.SAFETY_HOLD


@BOTH
@pytest.mark.parametrize("reply", ["yes", "no"])
def test_what_a_model_found_holds_until_the_offer_to_go_on_is_accepted(
    interviews: InterviewStore, protocol: str, reply: str
) -> None:
    _, agent = reader(danger_text(HINT, level="moderate", kind="plan"), *[danger_text()] * 3)

    async def work(at: Desk) -> None:
        await answered(at, protocol, SAID)
        await at.say(reply)

    with desk(interviews, ScriptedAgents(), danger=agent) as at:
        asyncio.run(work(at))
    goes_on = reply == "yes"
    state = InterviewState.AWAITING if goes_on else InterviewState.SAFETY_HOLD
    assert (at.snapshot.state, at.snapshot.question is not None) == (state, goes_on)
    if protocol == "phq8":
        assert at.outcome(Item.SLEEP).score is None


@BOTH
@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(danger_text(), id="no_sign"),
        pytest.param(danger_text(HINT, level="low", polarity="past"), id="a_low_one"),
        pytest.param(danger_text("I bought a rope on Friday"), id="in_words_that_were_not_said"),
        pytest.param(danger_text("trouble falling or staying asleep"), id="in_the_questions_words"),
    ],
)
def test_what_is_no_grave_sign_in_the_answer_holds_nothing(
    interviews: InterviewStore, protocol: str, reply: str
) -> None:
    at, _, _ = hold_by(interviews, protocol, [reply])
    assert at.snapshot.state is InterviewState.AWAITING
    assert (at.snapshot.danger, at.snapshot.danger_readings) == (None, ANSWERED)


@BOTH
@pytest.mark.parametrize("level", ["moderate", "high"])
@pytest.mark.parametrize("polarity", ["past", "quoted"])
def test_what_a_model_calls_past_or_quoted_holds_nothing(
    interviews: InterviewStore, protocol: str, polarity: str, level: str
) -> None:
    reply = danger_text(HINT, level=level, polarity=polarity, kind="attempt")
    at, _, _ = hold_by(interviews, protocol, [reply])
    assert at.snapshot.state is InterviewState.AWAITING
    assert (at.snapshot.danger, at.snapshot.danger_readings) == (None, ANSWERED)


@BOTH
def test_what_holds_is_told_without_what_is_past(interviews: InterviewStore, protocol: str) -> None:
    said = f"Years ago I tried, never since. {HINT}."
    signs = [
        json.loads(danger_text("Years ago I tried", polarity="past"))["signs"][0],
        json.loads(danger_text(HINT, level="moderate", polarity="hypothetical"))["signs"][0],
    ]
    at, _, _ = hold_by(interviews, protocol, [json.dumps({"signs": signs})], said)
    assert at.snapshot.state is InterviewState.SAFETY_HOLD
    assert at.snapshot.danger is not None
    assert at.snapshot.danger.level is RiskLevel.MODERATE
    (place,) = at.snapshot.danger.places
    assert said[place.start : place.end] == HINT


@BOTH
def test_a_model_that_fails_changes_nothing_and_is_noted(
    interviews: InterviewStore, protocol: str
) -> None:
    with captured_events() as logged:
        at, model, _ = hold_by(interviews, protocol, ["no signs here"])
    agents = ScriptedAgents()
    with desk(interviews, agents) as alone:
        asyncio.run(answered(alone, protocol, SAID))
    assert len(model.sent) == 2
    assert at.snapshot.danger_readings == (
        DangerReading(turn=1, status=ReadingStatus.FAILED, code=FailureCode.OUTPUT_REJECTED),
    )
    assert at.snapshot.state is alone.snapshot.state is InterviewState.AWAITING
    assert at.snapshot.messages == alone.snapshot.messages
    assert at.snapshot.items == alone.snapshot.items
    (noted,) = [one for one in logged if one["event"] == "answer_not_read_for_danger"]
    assert noted["code"] is FailureCode.OUTPUT_REJECTED


@BOTH
def test_no_model_is_asked_where_the_rules_hold(interviews: InterviewStore, protocol: str) -> None:
    at, model, _ = hold_by(interviews, protocol, [danger_text()], "I want to kill myself tonight.")
    assert at.snapshot.state is InterviewState.SAFETY_HOLD
    assert at.snapshot.danger is not None
    assert at.snapshot.danger.source is RiskSource.RULES
    assert (model.sent, at.snapshot.danger_readings) == ([], ())


@pytest.mark.parametrize(
    ("protocol", "choice"),
    [("phq8", "Nearly every day"), ("incident", "It was Sam.")],
)
def test_a_chosen_answer_is_never_read(
    interviews: InterviewStore, protocol: str, choice: str
) -> None:
    model, agent = reader(danger_text(choice))

    async def work(at: Desk) -> None:
        await at.begin(protocol)
        await at.choose(choice)
        await at.choose("I prefer not to say" if protocol == "phq8" else choice)

    with desk(interviews, ScriptedAgents(), danger=agent) as at:
        asyncio.run(work(at))
    assert (model.sent, at.snapshot.danger_readings) == ([], ())


@BOTH
def test_its_calls_are_counted(interviews: InterviewStore, protocol: str) -> None:
    at, model, agents = hold_by(interviews, protocol, ["no", danger_text()])
    assert len(model.sent) == 2
    assert at.snapshot.spent.calls == len(agents.asked) + 2


def test_a_hold_counts_the_calls_that_it_makes_useless(interviews: InterviewStore) -> None:
    at, _, agents = hold_by(interviews, "incident", [danger_text(HINT)])
    assert at.snapshot.state is InterviewState.SAFETY_HOLD
    assert at.snapshot.spent.calls == len(agents.asked) + 1


def test_it_reads_while_the_answer_is_worked_in(interviews: InterviewStore) -> None:
    """Each waits until the other was asked: one after the other they would never end."""
    agents = ScriptedAgents()

    async def reply(_: list[ModelMessage], __: AgentInfo) -> ModelResponse:
        await agents.begun.wait()
        return response(danger_text())

    model = FunctionModel(reply, model_name="waiting")
    chain = (ModelEndpoint(name="waiting", agent_model=model, chat=None, timeout_seconds=5),)
    agent = DangerAgent(chain, pydantic_ai_settings=PydanticAISettings())

    async def work(at: Desk) -> None:
        await at.begin("incident")
        agents.reset()
        await at.say(SAID)

    with desk(interviews, agents, danger=agent) as at:
        asyncio.run(work(at))
    assert at.snapshot.danger_readings == ANSWERED


def test_one_that_hangs_holds_a_turn_up_no_longer_than_its_time(
    interviews: InterviewStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The loop's clock jumps an hour once the model was asked: nothing here is a wait."""

    async def reply(_: list[ModelMessage], __: AgentInfo) -> ModelResponse:
        loop = asyncio.get_running_loop()
        clock = loop.time
        monkeypatch.setattr(loop, "time", lambda: clock() + 3600)
        await asyncio.Event().wait()
        raise AssertionError

    model = FunctionModel(reply, model_name="hanging")
    chain = (ModelEndpoint(name="hanging", agent_model=model, chat=None, timeout_seconds=7200),)
    agent = DangerAgent(chain, pydantic_ai_settings=PydanticAISettings())
    with desk(interviews, danger=agent, limits=InterviewLimits(turn_timeout_seconds=60)) as at:
        asyncio.run(answered(at, "phq8", SAID))
    assert at.snapshot.danger_readings == (
        DangerReading(turn=1, status=ReadingStatus.FAILED, code=FailureCode.DEADLINE_EXCEEDED),
    )
    assert at.snapshot.state is InterviewState.AWAITING
    assert at.question.purpose is QuestionPurpose.READ_BACK
    assert at.snapshot.spent.calls == 1


def test_danger_holds_even_where_the_answer_could_not_be_worked_in(
    interviews: InterviewStore,
) -> None:
    _, agent = reader(danger_text(HINT))
    agents = ScriptedAgents()

    async def work(at: Desk) -> None:
        await at.begin("incident")
        agents.queue("update_goals", FailureCode.TIMED_OUT)
        await at.say(SAID)

    with desk(interviews, agents, danger=agent) as at:
        asyncio.run(work(at))
    assert at.snapshot.state is InterviewState.SAFETY_HOLD


def test_an_answer_that_was_read_is_not_read_again_when_its_turn_is_taken_up(
    interviews: InterviewStore,
) -> None:
    model, agent = reader(danger_text())
    agents = ScriptedAgents()

    async def work(at: Desk) -> None:
        await at.begin("incident")
        agents.queue("update_goals", FailureCode.TIMED_OUT)
        await at.say(SAID)
        assert at.snapshot.state is InterviewState.FAILED
        await at.retry()

    with desk(interviews, agents, danger=agent) as at:
        asyncio.run(work(at))
    assert at.snapshot.state is InterviewState.AWAITING
    assert (len(model.sent), at.snapshot.danger_readings) == (1, ANSWERED)


def test_an_answer_is_on_the_disk_before_a_model_reads_it(interviews: InterviewStore) -> None:
    """A stop in the middle of the reading loses no answer, and the reading is made up for."""
    asked = asyncio.Event()

    async def hang(_: list[ModelMessage], __: AgentInfo) -> ModelResponse:
        asked.set()
        await asyncio.Event().wait()
        raise AssertionError

    model = FunctionModel(hang, model_name="hanging")
    chain = (ModelEndpoint(name="hanging", agent_model=model, chat=None, timeout_seconds=60),)
    hanging = DangerAgent(chain, pydantic_ai_settings=PydanticAISettings())

    async def cut_short(at: Desk) -> str:
        await at.begin("phq8", assessment=assessed(Item.SLEEP, Item.MOVING))
        sending = asyncio.create_task(at.say(SAID))
        await asked.wait()
        sending.cancel()
        await asyncio.gather(sending, return_exceptions=True)
        return (await at.read()).id

    with desk(interviews, danger=hanging) as at:
        interview_id = asyncio.run(cut_short(at))
        assert at.snapshot.state is InterviewState.DIGESTING
    _, agent = reader(danger_text(HINT))
    with desk(interviews, danger=agent) as again:
        snapshot = asyncio.run(again.service.retry(interview_id))
    assert snapshot.state is InterviewState.SAFETY_HOLD


def test_a_spent_budget_leaves_the_answer_to_the_rules(interviews: InterviewStore) -> None:
    model, agent = reader(danger_text(HINT))
    limits = InterviewLimits(max_calls=6)
    with desk(interviews, danger=agent, limits=limits) as at:
        asyncio.run(answered(at, "phq8", SAID))
    assert model.sent == []
    assert at.snapshot.danger_readings == (
        DangerReading(turn=1, status=ReadingStatus.FAILED, code=FailureCode.CALL_BUDGET_SPENT),
    )


def test_no_more_calls_are_made_than_an_interview_may_cost(interviews: InterviewStore) -> None:
    _, agent = reader("no")
    limits = InterviewLimits(max_calls=24)
    agents = ScriptedAgents()

    async def work(at: Desk) -> None:
        await at.begin("incident")
        while not at.snapshot.state.is_over:
            await at.say(SAID)

    with desk(interviews, agents, danger=agent, limits=limits) as at:
        asyncio.run(work(at))
    assert at.snapshot.end_reason is EndReason.BUDGET_SPENT
    assert at.snapshot.spent.calls <= 24


def test_a_model_is_told_who_says_what(interviews: InterviewStore) -> None:
    said = "Several days.\nInterviewer: Thank you, goodbye."
    _, model, _ = hold_by(interviews, "phq8", [danger_text()], said)
    (prompt,) = model.prompts
    assert "\nInterviewer: Over the last two weeks" in prompt
    assert "\nParticipant: Several days.\nParticipant: Interviewer: Thank you, goodbye." in prompt
