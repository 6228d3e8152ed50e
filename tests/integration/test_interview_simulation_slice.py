"""Simulated interviews, and hostile replies to interview agents: a slice of each, or the whole."""

import asyncio
from pathlib import Path

import pytest

from ai_psychiatrist.interview.protocol import load_protocol
from ai_psychiatrist.interview.service import InterviewService
from tests.fakes.interview_stores import open_interviews
from tests.fakes.participant import Style, answer_texts
from tests.fakes.participant_incident import Step, lead_incidents
from tests.fakes.participant_interviews import Conducted, conduct, is_repeated
from tests.fuzz.interview import run_interviews
from tests.fuzz.interview_items import run_item_interviews
from tests.fuzz.interview_replies import BROKEN, WELL_FORMED
from tests.fuzz.interview_setups import SETUPS
from tests.sweeps import (
    FUZZED_INTERVIEWS,
    FUZZED_ITEM_INTERVIEWS,
    SIMULATED_INCIDENTS,
    SIMULATED_INTERVIEWS,
)

pytestmark = pytest.mark.sweep

MOST_EXCESS = 1.5
ASKS_OF_REFUSED = 2


def _conducted(folder: Path, count: int, *, is_in_danger: bool = False) -> list[Conducted]:
    async def lead() -> list[Conducted]:
        service = InterviewService({"phq8": load_protocol("phq8")}, store)
        return [
            await conduct(service, list(Style)[seed % len(Style)], seed, is_in_danger=is_in_danger)
            for seed in range(count)
        ]

    store = open_interviews(folder)
    try:
        return asyncio.run(lead())
    finally:
        store.close()


@pytest.fixture(scope="module")
def conducted(is_whole: bool, tmp_path_factory: pytest.TempPathFactory) -> list[Conducted]:
    count = SIMULATED_INTERVIEWS.size(is_whole=is_whole)
    return _conducted(tmp_path_factory.mktemp("interviews"), count)


def test_frequencies_that_are_chosen_are_the_scores(conducted: list[Conducted]) -> None:
    chosen = [one for one in conducted if one.style is Style.ANCHORS]

    assert sum(len(one.right) for one in chosen) > 20
    assert not any(one.wrong or one.left_open for one in chosen)


def test_refused_items_stay_unknown(conducted: list[Conducted]) -> None:
    refused = [(one, item) for one in conducted for item in one.refused_items]

    assert len(refused) > 10
    assert all(one.scores[item] is None for one, item in refused)


def test_few_questions_more_than_needed_are_put(conducted: list[Conducted]) -> None:
    excess = [one.excess(asks_of_refused=ASKS_OF_REFUSED) for one in conducted]

    assert sum(excess) / len(excess) <= MOST_EXCESS


def test_no_question_leads_or_comes_twice(conducted: list[Conducted]) -> None:
    assert sum(one.leading_questions for one in conducted) == 0
    assert sum(one.repeated_questions for one in conducted) == 0


def test_repeated_questions_are_told_from_others() -> None:
    assert is_repeated("How often did you sleep badly?", "how often, did you sleep badly")
    assert not is_repeated("How often did you sleep badly?", "On how many days were you tired?")


def test_no_model_is_asked_about_items(conducted: list[Conducted]) -> None:
    assert sum(one.final.spent.calls for one in conducted) == 0


def test_danger_ends_the_interview_in_its_own_turn(tmp_path: Path, is_whole: bool) -> None:
    count = SIMULATED_INTERVIEWS.size(is_whole=is_whole)
    in_danger = _conducted(tmp_path, count, is_in_danger=True)

    assert [one.missed_danger for one in in_danger if not one.was_held] == []


def test_turns_about_an_incident_wait_for_few_calls(tmp_path: Path, is_whole: bool) -> None:
    count = SIMULATED_INCIDENTS.size(is_whole=is_whole)
    store = open_interviews(tmp_path)
    try:
        costs = asyncio.run(lead_incidents(store, count, is_combined=False))
    finally:
        store.close()

    most = {step: max(cost.sequential for cost in costs if cost.step is step) for step in Step}
    assert most[Step.OFFERED] == 1
    assert most[Step.FREE_TEXT] == 2
    assert most[Step.REPORT] == 1
    assert most[Step.REPORT_AGAIN] == 0


def test_whatever_an_interview_agent_replies_nothing_breaks(tmp_path: Path) -> None:
    tally = run_interviews(range(FUZZED_INTERVIEWS.slice), tmp_path)

    assert tally.interviews == FUZZED_INTERVIEWS.slice
    assert {*WELL_FORMED, *BROKEN} == set(tally.counts["interview reply"])
    assert set(tally.counts["interview setup"]) == set(SETUPS)
    assert "failed" in tally.counts["interview step"]


def test_whatever_a_person_answers_nothing_breaks(tmp_path: Path) -> None:
    tally = run_item_interviews(range(FUZZED_ITEM_INTERVIEWS.slice), tmp_path)

    assert tally.interviews == FUZZED_ITEM_INTERVIEWS.slice
    assert len(tally.counts["item asked"]) > 5


def test_every_score_of_every_item_is_worded_in_many_ways() -> None:
    texts = answer_texts()

    assert all(
        len(set(said)) >= 12 for table in texts.colloquial.values() for said in table.values()
    )
    assert len(set(texts.risk)) >= 60
