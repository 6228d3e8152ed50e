"""A slice of schemathesis' requests; `python -m tests.attack.schemathesis_requests`: the whole."""

from pathlib import Path

from tests.attack.schemathesis_requests import run
from tests.sweeps import SCHEMATHESIS_REQUESTS


def test_no_answer_is_other_than_the_document_says(tmp_path: Path) -> None:
    swept = run(SCHEMATHESIS_REQUESTS.slice, 0, tmp_path)

    assert not swept.kinds, str(swept)
    assert swept.requests > SCHEMATHESIS_REQUESTS.slice / 2
    assert {200, 404, 422} <= swept.statuses.keys()
