"""A slice of the hostile configuration, through the real command; the whole is `make attack`."""

from functools import cache
from pathlib import Path

import pytest

from tests.attack.configuration import MOST_MEGABYTES, Attack, attacks
from tests.integration.command import run

SLICE = (
    "lint: allOf doubled 25 times",
    "validate: backtracking pattern",
    "lint: 100,000 levels",
    "lint: alias bomb",
    "lint: sexagesimal number",
    "protocol: merges of merges",
    "lint: template of brackets",
    "validate: a pipe as schemas/rate.json",
    "validate: a device as context",
    "validate: 16 GB as context",
    "settings: a pipe as .env",
    "datasets: 100,000 levels in JSON",
    "validate: half a surrogate in an answer",
)


@cache
def chosen() -> dict[str, Attack]:
    return {attack.name: attack for attack in attacks() if attack.name in SLICE}


@pytest.mark.parametrize("name", SLICE)
def test_hostile_files_are_refused_or_done_within_bounds(tmp_path: Path, name: str) -> None:
    attack = chosen()[name]
    bounds = {"RLIMIT_DATA": MOST_MEGABYTES << 20, "RLIMIT_CPU": 10 * int(attack.most_seconds)}
    done = run(attack.build(tmp_path), tmp_path, {"MODEL_DEFAULT": "baseline"}, limits=bounds)
    assert done.code in ({0, 1, 2} if attack.is_usable else {1, 2}), done.err
    assert "Traceback" not in done.out + done.err
