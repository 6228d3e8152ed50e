"""Interviews with written people, truth first: what is recorded of what they say."""

import asyncio
import json
from pathlib import Path

import pytest
from benchmarks.interview_people import figures, play
from benchmarks.labelled_sets import LABELLED

from tests.sweeps import WRITTEN_PEOPLE
from tests.unit.interview.built import desk

LEAST_RIGHT = 0.9
MOST_ASKS = 1.5


@pytest.mark.sweep
def test_what_people_say_is_recorded_and_nothing_else(tmp_path: Path, *, is_whole: bool) -> None:
    lines = (LABELLED / "interview_people.jsonl").read_text(encoding="utf-8").splitlines()
    people = WRITTEN_PEOPLE.of([json.loads(line) for line in lines], is_whole=is_whole)
    with desk(tmp_path) as at:
        found = figures([asyncio.run(play(at.service, person)) for person in people])
    assert (found["wrong"], found["scores of what was not stated"]) == (0, 0)
    assert found["right"] >= LEAST_RIGHT * found["stated"]
    assert found["asks an item"] <= MOST_ASKS
