"""A store that interviews are led in: to open one of its own takes longer than most of them."""

from collections.abc import Iterator

import pytest
from tests.unit.interview.built import opened

from ai_psychiatrist.interview.interview_store import InterviewStore


@pytest.fixture(scope="session")
def interviews(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InterviewStore]:
    """Open one store for all interviews that look at nothing but themselves."""
    with opened(tmp_path_factory.mktemp("interviews")) as store:
        yield store
