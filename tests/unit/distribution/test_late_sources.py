"""A source that never answers, or breaks: the others are believed, and it is told."""

import asyncio
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

import ai_psychiatrist as ap
from ai_psychiatrist.agents.context import AssessmentContext
from ai_psychiatrist.assessment.assessor import AssessmentOptions
from ai_psychiatrist.distribution.estimator import DistributionEstimator
from ai_psychiatrist.distribution.sources import SourceVotes
from ai_psychiatrist.domain.assessment import Assessment, AssessmentStatus
from ai_psychiatrist.domain.belief import BeliefSource
from ai_psychiatrist.domain.failures import FailureCode
from ai_psychiatrist.domain.items import PHQ8Assessment
from ai_psychiatrist.services.transcripts.plain_text import parse_transcript
from ai_psychiatrist.wiring import bootstrap

TALK = "Interviewer: How do you sleep?\nParticipant: I hardly sleep, nearly every day.\n"


@dataclass
class Broken:
    """A source that ends in a defect, or hangs."""

    is_hanging: bool
    name: BeliefSource = BeliefSource.TOKENS
    agent: str = "belief_tokens"
    most_calls: int = 1

    async def ask(self, case: AssessmentContext, found: PHQ8Assessment) -> SourceVotes:
        del case, found
        if self.is_hanging:
            await asyncio.Event().wait()
        raise KeyError


def assessed(source: Broken, state: Path, deadline_seconds: float | None) -> Assessment:
    async def run() -> Assessment:
        settings = ap.load_settings({"DATA_STATE_DIR": str(state)}, None)
        async with bootstrap(settings) as services:
            pipeline = replace(
                services.assessor, estimator=DistributionEstimator(sources=(source,))
            )
            return await pipeline.assess(
                parse_transcript(TALK), AssessmentOptions(deadline_seconds=deadline_seconds)
            )

    return asyncio.run(run())


@pytest.mark.parametrize(
    ("is_hanging", "stage", "code"),
    [
        pytest.param(True, "belief", FailureCode.DEADLINE_EXCEEDED, id="late"),
        pytest.param(False, "belief_tokens", FailureCode.INTERNAL_ERROR, id="broken"),
    ],
)
def test_a_source_that_gives_nothing_is_told_and_costs_nothing_else(
    tmp_path: Path, is_hanging: bool, stage: str, code: FailureCode
) -> None:
    # On a busy machine what does not hang may be late too: then there is more time.
    for seconds in (2.0, 20.0, 60.0):
        found = assessed(Broken(is_hanging), tmp_path, seconds if is_hanging else None)
        if found.status is AssessmentStatus.COMPLETE:
            break
    assert found.status is AssessmentStatus.COMPLETE
    assert [(failure.stage, failure.code) for failure in found.failures] == [(stage, code)]
    assert found.quantitative is not None
    for item in found.quantitative.items.values():
        assert item.belief is not None
        assert item.belief.sources == (BeliefSource.RULES,)
