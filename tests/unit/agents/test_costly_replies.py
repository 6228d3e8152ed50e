"""What reading a reply costs, and what is kept of it, is bounded by its length, whatever it is."""

import asyncio
import gc
import tracemalloc
from contextlib import suppress

import pytest
from tests.attack.costly_replies import COSTLIEST, COSTLY_REPLIES, MOST_BYTES
from tests.attack.counted_work import calls_of
from tests.attack.reply_costs import MOST_KEPT_MEGABYTES, MOST_MEGABYTES, READERS, cost_of
from tests.fakes.scripted import ScriptedModel, response, route
from tests.sweeps import COSTLIEST_REPLIES_READ, COSTLY_REPLIES_READ

from ai_psychiatrist.agents.extractors import extract_evidence
from ai_psychiatrist.agents.output_models import EvidenceOutput
from ai_psychiatrist.llm.calls import CallRecorder
from ai_psychiatrist.llm.definition import AgentDefinition, Prompt
from ai_psychiatrist.llm.replies import ReplyRejected
from ai_psychiatrist.llm.runner import AgentOutcome, AgentRunner, create_agent
from ai_psychiatrist.llm.settings import PydanticAISettings

MOST_CALLS = 4 * MOST_BYTES
"""Of functions, for a reply of the largest size: a few for each of its characters."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Read some of the replies, and in the whole of the sweep all."""
    is_whole = metafunc.config.getoption("whole")
    if "costly" in metafunc.fixturenames:
        names = COSTLY_REPLIES_READ.of(list(COSTLY_REPLIES), is_whole=is_whole)
        metafunc.parametrize("costly", names)
    elif "costliest" in metafunc.fixturenames:
        names = COSTLIEST_REPLIES_READ.of(COSTLIEST, is_whole=is_whole)
        metafunc.parametrize("costliest", names)


@pytest.mark.sweep
def test_work_is_bounded(costly: str) -> None:
    """One that is quadratic somewhere would also take minutes here."""

    def work() -> None:
        with suppress(ReplyRejected):
            extract_evidence(COSTLY_REPLIES[costly])

    assert calls_of(work) < MOST_CALLS


@pytest.mark.sweep
def test_memory_is_bounded_and_none_of_it_kept(costliest: str) -> None:
    cost = cost_of(READERS["scores"], COSTLY_REPLIES[costliest])
    assert cost.megabytes < MOST_MEGABYTES
    assert cost.kept_megabytes < MOST_KEPT_MEGABYTES


def _refused(reply: str) -> AgentOutcome[EvidenceOutput]:
    definition = AgentDefinition(name="evidence", extract=extract_evidence, system="Quote.")
    settings = PydanticAISettings(retries=1)
    runner = AgentRunner(
        definition,
        lambda: create_agent(definition, retries=1),
        (route(ScriptedModel([response(reply)] * 3)),),
        settings,
    )
    return asyncio.run(runner.run(Prompt(system="Quote.", user="Who?"), CallRecorder.of(5)))


def test_the_rejection_of_an_outcome_holds_no_frames() -> None:
    rejection = _refused("I will not.").rejection
    assert rejection is not None
    assert rejection.__traceback__ is None
    assert rejection.__context__ is None
    assert rejection.__cause__ is None


def test_a_run_that_ends_in_rejections_leaves_little_for_the_collector() -> None:
    reply = COSTLY_REPLIES["fences of nothing"]
    _refused(reply)
    gc.collect()
    gc.disable()
    tracemalloc.start()
    try:
        outcomes = [_refused(reply) for _ in range(3)]
        left, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
        gc.enable()
    assert len(outcomes) == 3
    assert left < 3 * 2 * len(reply) * len(outcomes)
