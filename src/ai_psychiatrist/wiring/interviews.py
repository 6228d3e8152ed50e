"""Interviews by the settings: their agents, their store and what they may spend."""

from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from ai_psychiatrist.agents.settings import limited_chain, repairing_once
from ai_psychiatrist.config import Settings
from ai_psychiatrist.interview.agents_port import InterviewAgentsPort
from ai_psychiatrist.interview.interviews import InterviewOptions, Interviews
from ai_psychiatrist.interview.limits import InterviewLimits, StoreLimits
from ai_psychiatrist.interview.store.interview_file import FILE_NAME, KEY_NAME
from ai_psychiatrist.ledger.keys.store_keys import StoreKeys
from ai_psychiatrist.llm.endpoints import CallRetries, FallbackChain
from ai_psychiatrist.wiring.danger import danger_agent


@dataclass(frozen=True, slots=True, kw_only=True)
class InterviewPlace:
    """Where interviews and the key of their own are kept."""

    store_file: Path
    key_file: Path


def own_place(settings: Settings) -> InterviewPlace:
    """Return where the interviews of this machine itself are kept."""
    folder = settings.data.state_dir
    return InterviewPlace(
        store_file=(settings.interview.store_file or folder / FILE_NAME).expanduser(),
        key_file=(folder / KEY_NAME).expanduser(),
    )


def open_interviews(
    settings: Settings, chain: FallbackChain, danger: FallbackChain, place: InterviewPlace
) -> Interviews:
    """Return them, kept at a place; nothing is opened before it is needed."""
    interview, model = settings.interview, settings.model

    def agents() -> InterviewAgentsPort | None:
        if not chain:
            return None
        from ai_psychiatrist.agents.interview.interview_agents import (  # noqa: PLC0415
            InterviewAgents,
        )

        return InterviewAgents(
            chain,
            settings.pydantic_ai,
            output_mode=interview.output_mode,
            is_combined=interview.combined_digest,
            call_timeout_seconds=interview.call_timeout_seconds,
            temperature=model.temperature,
        )

    options = InterviewOptions(
        store_file=place.store_file,
        keys=StoreKeys(own=place.key_file, named=settings.ledger.key_file),
        protocol_folders=interview.protocols,
        limits=InterviewLimits(
            max_calls=interview.max_calls, turn_timeout_seconds=interview.turn_timeout_seconds
        ),
        store_limits=StoreLimits(
            keep=timedelta(days=interview.keep_days),
            max_stored=interview.max_stored,
            max_bytes=interview.max_stored_bytes,
        ),
    )
    # A person waits: what is slow or down is not waited for a second time.
    waiting = limited_chain(
        danger, call_timeout_seconds=interview.call_timeout_seconds, retries=CallRetries()
    )
    repairing = repairing_once(settings.pydantic_ai)
    return Interviews(options, agents, danger_agent(settings, waiting, repairing))
