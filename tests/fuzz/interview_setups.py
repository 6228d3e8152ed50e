"""How interview agents ask the fuzzed models, and what an interview may cost."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ai_psychiatrist.agents.interview.interview_agents import InterviewAgents
from ai_psychiatrist.interview.engine.context import InterviewLimits
from ai_psychiatrist.interview.interview_store import InterviewStore
from ai_psychiatrist.interview.protocol import BUILTIN_PROTOCOLS, load_protocol
from ai_psychiatrist.interview.service import InterviewService
from ai_psychiatrist.llm.endpoints import CallRetries
from ai_psychiatrist.llm.settings import OutputModeSetting, PydanticAISettings
from tests.fakes.interview_stores import OwnInterviewStore, open_interviews
from tests.fakes.noted_agents import NotedAgents
from tests.fuzz.interview_models import MODELS, RATIONALE, fuzz_chain

TRIES: Final = 2
"""Of a lost call; the waits between them are left out."""
RETRIES: Final = 1
_AGENTS_OF_A_STEP: Final = 4
MOST_CALLS_OF_A_STEP: Final = _AGENTS_OF_A_STEP * len(MODELS) * ((1 + RETRIES) * TRIES + TRIES)
"""Each model of the chain may be asked in both ways, and each lost call tried again."""
_MANY_CALLS: Final = InterviewLimits(max_calls=2_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """How the agents ask, and what an interview may cost."""

    output_mode: OutputModeSetting = "tool"
    is_combined: bool = False
    limits: InterviewLimits = _MANY_CALLS


SETUPS: Final[Mapping[str, Setup]] = {
    "tool": Setup(),
    "tool, combined": Setup(is_combined=True),
    "tool, nothing ahead": Setup(limits=InterviewLimits(max_calls=2_000, speculates=False)),
    "native": Setup(output_mode="native"),
    "native, combined": Setup(output_mode="native", is_combined=True),
    "text": Setup(output_mode="text"),
    "few calls": Setup(limits=InterviewLimits(max_calls=40)),
}


def open_store(folder: Path, number: int) -> OwnInterviewStore:
    """Open the store of one setup."""
    return open_interviews(folder / f"interviews-{number}")


def service_of(setup: Setup, store: InterviewStore) -> InterviewService:
    """Return the real service, with models that reply with anything."""
    agents = InterviewAgents(
        fuzz_chain(),
        PydanticAISettings(retries=RETRIES),
        output_mode=setup.output_mode,
        is_combined=setup.is_combined,
        retries=CallRetries(waits_seconds=(0.0,) * (TRIES - 1)),
    )
    protocols = {name: load_protocol(name) for name in BUILTIN_PROTOCOLS}
    return InterviewService(protocols, store, NotedAgents(agents, RATIONALE), limits=setup.limits)
