"""One file gives the same turns at every door, and the index of the files says what it gives."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.integration.running_app import client_of, settings_with
from tests.integration.transcript_doors import (
    FILES,
    HEAD,
    INDEX,
    Sample,
    assessed,
    at_doors,
    samples,
    sent,
    sent_as_text,
)

SAMPLES = samples()


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    with client_of(settings_with(tmp_path_factory.mktemp("state"))) as client:
        yield client


def test_every_file_is_in_the_index() -> None:
    files = {path.relative_to(FILES).as_posix() for path in FILES.rglob("*") if path.is_file()}
    assert {sample.file for sample in SAMPLES} == files - {"README.md"}


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.file)
def test_every_door_gives_the_turns_that_the_index_says(
    sample: Sample, client: httpx.Client, tmp_path: Path
) -> None:
    """`python -m tests.integration.transcript_doors` prints the table anew."""
    doors = at_doors(sample, client, tmp_path)
    page = INDEX.read_text("utf-8")
    assert HEAD in page
    assert doors.row(sample) in page.splitlines()
    if doors.named is None:
        assert doors.by_http == doors.by_command
    else:
        assert sent(sample, client, sample.participant) == doors.named
    told = doors.named or doors.by_command
    try:
        by_text = sent_as_text(sample, client, sample.participant)
    except UnicodeDecodeError:
        return
    assert by_text.words == told.words
    assert by_text.turns[:1] == told.turns[:1]


def test_table_without_a_known_header_is_refused_by_its_type_as_by_its_name(
    client: httpx.Client, tmp_path: Path
) -> None:
    file = tmp_path / "talk.csv"
    file.write_text("Tom,I cannot sleep.\nAnna,I sleep well.\n", "utf-8")
    sample = Sample(str(file), None)
    assert assessed(sample, tmp_path) == sent(sample, client)
    assert assessed(sample, tmp_path).words == "refused: unknown form"
