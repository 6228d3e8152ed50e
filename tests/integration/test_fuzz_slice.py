"""A slice of the fuzz campaign: whatever models reply, nothing breaks. `make fuzz` is the whole."""

import pickle
from pathlib import Path

from tests.fuzz.campaign import SETUPS, run_in_process
from tests.fuzz.invariants import InvariantBroken
from tests.fuzz.over_http import run_over_http
from tests.fuzz.replies import BROKEN, WELL_FORMED
from tests.sweeps import FUZZED_ASSESSMENTS, FUZZED_OVER_HTTP


def test_whatever_a_model_replies_nothing_breaks(tmp_path: Path) -> None:
    tally = run_in_process(range(FUZZED_ASSESSMENTS.slice), tmp_path)

    assert tally.assessments == FUZZED_ASSESSMENTS.slice
    assert tally.repeated
    assert {*WELL_FORMED, *BROKEN} == set(tally.counts["reply"])
    assert set(tally.counts["setup"]) >= SETUPS.keys() - {"hanging"}
    assert {"200", "502"} <= set(tally.counts["HTTP status"]) <= {"200", "502", "504"}


def test_whatever_a_model_server_sends_nothing_breaks(tmp_path: Path) -> None:
    tally = run_over_http(range(FUZZED_OVER_HTTP.slice), tmp_path)

    assert tally.assessments == FUZZED_OVER_HTTP.slice
    assert any(kind.startswith("http: ") for kind in tally.counts["reply"])


def test_a_broken_invariant_survives_the_way_between_processes() -> None:
    broken = InvariantBroken(7, "nothing_is_raised", "detail")
    again = pickle.loads(pickle.dumps(broken))  # noqa: S301

    assert (again.seed, again.invariant, again.detail) == (7, "nothing_is_raised", "detail")
