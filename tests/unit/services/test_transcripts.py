import asyncio
from pathlib import Path

import pytest

from ai_psychiatrist.domain.errors import ParticipantNotFound, TranscriptUnreadable
from ai_psychiatrist.domain.transcript import Speaker, parse_transcript
from ai_psychiatrist.services.transcripts import TranscriptStore, render_daic_woz

HEADER = "start_time\tstop_time\tspeaker\tvalue"


def rows(*lines: str, header: str = HEADER, line_end: str = "\n") -> str:
    return line_end.join([header, *lines]) + line_end


def row(speaker: str, value: str) -> str:
    return f"1.5\t2.5\t{speaker}\t{value}"


def render(*values: tuple[str, str]) -> str:
    return render_daic_woz(rows(*(row(speaker, value) for speaker, value in values)), 300)


def store(folder: Path, content: bytes, participant_id: int = 300) -> TranscriptStore:
    target = folder / f"{participant_id}_P"
    target.mkdir(parents=True)
    (target / f"{participant_id}_TRANSCRIPT.csv").write_bytes(content)
    return TranscriptStore(folder)


def test_rows_become_labelled_lines() -> None:
    text = render(("Ellie", "how are you"), ("Participant", "tired <laughter>"))
    assert text == "Ellie: how are you\nParticipant: tired <laughter>"
    assert [turn.speaker for turn in parse_transcript(text).turns] == [
        Speaker.INTERVIEWER,
        Speaker.PARTICIPANT,
    ]


@pytest.mark.parametrize("value", ["None", "null", "NA", "nan", "0", '"', '"quoted', "'", "#", "-"])
def test_values_are_speech_whatever_they_look_like(value: str) -> None:
    text = render(("Ellie", "hm"), ("Participant", value), ("Participant", "yes"))
    assert text == f"Ellie: hm\nParticipant: {value}\nParticipant: yes"


def test_tab_inside_a_value_is_kept() -> None:
    assert render(("Ellie", "one\ttwo")) == "Ellie: one\ttwo"


@pytest.mark.parametrize("mark", ["<sync>", "<synch>", " <SYNCING> ", "[sync].", "[syncing]"])
def test_sync_marks_are_left_out(mark: str) -> None:
    text = render(("Ellie", "hello"), ("Participant", mark), ("Participant", "hi"))
    assert text == "Ellie: hello\nParticipant: hi"


def test_talk_before_the_interviewer_is_left_out() -> None:
    text = render(("Participant", "is it on"), ("Ellie", "hello"), ("Participant", "hi"))
    assert text == "Ellie: hello\nParticipant: hi"


def test_transcript_without_an_interviewer_is_kept_whole() -> None:
    text = render(("Participant", "I sleep badly"), ("Participant", "every night"))
    assert text == "Participant: I sleep badly\nParticipant: every night"


def test_rows_without_words_are_left_out() -> None:
    content = rows(row("Ellie", "hello"), row("Participant", " "), "", row("", ""), "\t\t\t")
    assert render_daic_woz(content, 300) == "Ellie: hello"


def test_speakers_are_read_without_case_and_space() -> None:
    assert render((" ELLIE ", "hello"), ("participant", "hi")) == "Ellie: hello\nParticipant: hi"


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_line_ends_of_all_systems_part_rows(line_end: str) -> None:
    content = rows(row("Ellie", "a"), row("Participant", "b"), line_end=line_end)
    assert render_daic_woz(content, 300) == "Ellie: a\nParticipant: b"


def test_separators_of_other_kinds_stay_inside_a_value() -> None:
    assert render(("Ellie", "a\u2028Participant: b\x0bc")) == "Ellie: a\u2028Participant: b\x0bc"


@pytest.mark.parametrize(
    "content",
    [
        pytest.param("", id="empty"),
        pytest.param(rows(), id="no_rows"),
        pytest.param(rows(row("Participant", "<sync>")), id="no_words"),
        pytest.param(rows(row("Ellie", "a"), header="speaker\tvalue"), id="other_header"),
        pytest.param(rows(row("Ellie", "a"), header=HEADER.replace("\t", ",")), id="commas"),
        pytest.param(rows(row("Ellie", "a"), row("Nurse", "b")), id="unknown_speaker"),
        pytest.param(rows(row("Ellie", "a"), row("", "b")), id="words_of_nobody"),
        pytest.param(rows(row("Ellie", "a"), "and then I cried"), id="line_without_columns"),
        pytest.param(rows(row("Ellie", "a"), "1.0\tI cried"), id="two_columns"),
        pytest.param(rows(row("Ellie", "a"), "1.0\t2.0\tParticipant"), id="three_columns"),
    ],
)
def test_file_that_would_lose_speech_is_refused(content: str) -> None:
    with pytest.raises(TranscriptUnreadable, match="participant 300 cannot be read") as caught:
        render_daic_woz(content, 300)
    assert caught.value.field == "participant_id"
    assert "cried" not in str(caught.value)


def test_stored_transcript_is_read_by_participant(tmp_path: Path) -> None:
    content = "\ufeff" + rows(row("Ellie", "¿qué tal?"), row("Participant", "así así"))
    text = asyncio.run(store(tmp_path, content.encode()).read(300))
    assert text == "Ellie: ¿qué tal?\nParticipant: así así"


@pytest.mark.parametrize("participant_id", [301, 0, -300, 10**80])
def test_unknown_participant_is_not_found(tmp_path: Path, participant_id: int) -> None:
    with pytest.raises(ParticipantNotFound) as caught:
        asyncio.run(store(tmp_path, rows(row("Ellie", "a")).encode()).read(participant_id))
    assert caught.value.field == "participant_id"
    assert str(tmp_path) not in str(caught.value)


def test_without_a_folder_the_error_names_the_setting() -> None:
    with pytest.raises(ParticipantNotFound, match="DATA_TRANSCRIPTS_DIR"):
        asyncio.run(TranscriptStore(None).read(300))


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", HEADER.encode("utf-16"), b"\x00\x01"])
def test_file_that_is_no_text_is_unreadable(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(TranscriptUnreadable) as caught:
        asyncio.run(store(tmp_path, content).read(300))
    assert str(tmp_path) not in str(caught.value)


def test_folder_in_place_of_a_file_is_unreadable(tmp_path: Path) -> None:
    (tmp_path / "300_P" / "300_TRANSCRIPT.csv").mkdir(parents=True)
    with pytest.raises(TranscriptUnreadable):
        asyncio.run(TranscriptStore(tmp_path).read(300))
