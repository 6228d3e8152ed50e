"""A slice of the generated requests; `python -m tests.attack.generated_requests` is the whole."""

import asyncio

from tests.attack.generated_requests import run
from tests.sweeps import GENERATED_REQUESTS


def test_every_answer_is_as_the_api_says_of_itself() -> None:
    findings = asyncio.run(run(GENERATED_REQUESTS.slice, 5))

    assert not findings.kinds, str(findings)
    assert findings.requests == GENERATED_REQUESTS.slice
    assert {200, 201, 400, 404, 405, 409, 422} <= findings.statuses.keys()
