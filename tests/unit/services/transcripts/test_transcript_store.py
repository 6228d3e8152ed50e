import asyncio
from pathlib import Path

import pytest

from ai_psychiatrist.domain.errors import NotFound, TranscriptUnreadable
from ai_psychiatrist.services.transcripts.transcript_store import TranscriptStore

CONTENT = b"start_time\tstop_time\tspeaker\tvalue\n1\t2\tEllie\thello\n"


def store(folder: Path) -> TranscriptStore:
    target = folder / "300_P"
    target.mkdir(parents=True)
    (target / "300_TRANSCRIPT.csv").write_bytes(CONTENT)
    return TranscriptStore(folder)


def test_file_of_a_participant_is_found(tmp_path: Path) -> None:
    found = asyncio.run(store(tmp_path).read(300))
    assert (found.name, found.content) == ("300_TRANSCRIPT.csv", CONTENT)
    assert "hello" not in repr(found)


@pytest.mark.parametrize("participant_id", [301, 0, -300, 10**80])
def test_unknown_participant_is_not_found(tmp_path: Path, participant_id: int) -> None:
    with pytest.raises(NotFound) as caught:
        asyncio.run(store(tmp_path).read(participant_id))
    assert caught.value.field == "participant_id"
    assert str(tmp_path) not in str(caught.value)


def test_without_a_folder_the_error_names_the_setting() -> None:
    with pytest.raises(NotFound, match="DATA_TRANSCRIPTS_DIR"):
        asyncio.run(TranscriptStore(None).read(300))


def test_folder_in_place_of_a_file_is_unreadable(tmp_path: Path) -> None:
    (tmp_path / "300_P" / "300_TRANSCRIPT.csv").mkdir(parents=True)
    with pytest.raises(TranscriptUnreadable) as caught:
        asyncio.run(TranscriptStore(tmp_path).read(300))
    assert str(tmp_path) not in str(caught.value)
