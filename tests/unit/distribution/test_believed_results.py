"""Belief in results, through the Python interface, with the rule baseline alone."""

import asyncio
import math
from pathlib import Path

import pytest

import ai_psychiatrist as ap
from ai_psychiatrist.domain.assessment import Assessment
from ai_psychiatrist.domain.belief import BeliefSource


def assessed(text: str, state: Path, **variables: str) -> Assessment:
    settings = ap.load_settings({"DATA_STATE_DIR": str(state), **variables}, None)

    async def run() -> Assessment:
        async with ap.open(settings) as app:
            return await app.assess(text)

    return asyncio.run(run())


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory, example_interview: str) -> Assessment:
    return assessed(example_interview, tmp_path_factory.mktemp("state"))


def test_every_item_has_the_rules_belief(result: Assessment) -> None:
    assert result.quantitative is not None
    items = result.quantitative.items or {}
    assert len(items) == 8
    for item in items.values():
        assert item.belief is not None
        assert item.belief.sources == (BeliefSource.RULES,)
        assert not item.belief.calibrated
        assert item.belief.set is None
        assert math.fsum([*item.belief.scores, item.belief.not_determinable]) == pytest.approx(1)


def test_the_rules_believe_most_in_what_the_evidence_states(result: Assessment) -> None:
    assert result.quantitative is not None
    for item in result.quantitative.items.values():
        assert item.belief is not None
        given = (
            item.belief.not_determinable if item.score is None else item.belief.scores[item.score]
        )
        assert given == pytest.approx(5 / 9)


def test_the_total_is_believed_within_an_interval(result: Assessment) -> None:
    scores = result.quantitative
    assert scores is not None
    interval = scores.total_interval
    assert interval is not None
    assert interval.low <= interval.mean <= interval.high
    assert interval.level == 0.9


def test_a_lower_level_gives_a_narrower_interval(
    result: Assessment, tmp_path: Path, example_interview: str
) -> None:
    scores = result.quantitative
    narrower = assessed(example_interview, tmp_path, BELIEF_LEVEL="0.5").quantitative
    assert scores is not None
    assert scores.total_interval is not None
    assert narrower is not None
    assert narrower.total_interval is not None
    assert narrower.total_interval.low > scores.total_interval.low
    assert narrower.total_interval.high < scores.total_interval.high


def test_a_transcript_that_says_nothing_is_believed_not_determinable(tmp_path: Path) -> None:
    result = assessed("Interviewer: Hello.\nParticipant: The bus was late today.", tmp_path)
    assert result.quantitative is not None
    for item in result.quantitative.items.values():
        assert item.belief is not None
        assert item.belief.not_determinable == max(
            *item.belief.scores, item.belief.not_determinable
        )
