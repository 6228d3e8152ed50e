import csv

import pytest

from ai_psychiatrist.services.transcripts.formats.known import read_content
from ai_psychiatrist.services.transcripts.utterances import (
    FileFault,
    FileReading,
    FileRefused,
    Form,
    Noted,
    ReadingNote,
)


def read(text: str, name: str = "") -> FileReading:
    reading = read_content(text, name=name)
    assert isinstance(reading, FileReading)
    assert reading.form is Form.TABLE
    return reading


def said(text: str, name: str = "") -> list[tuple[str | None, str]]:
    return [(one.label, one.words) for one in read(text, name).utterances]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("speaker,text\nAnna,hi\nJonas,ho\n", id="comma"),
        pytest.param("speaker\ttext\nAnna\thi\nJonas\tho", id="tab"),
        pytest.param("Sprecher;Text\r\nAnna;hi\r\nJonas;ho\r\n", id="semicolon"),
        pytest.param("TEXT,Speaker_Name\rhi,Anna\rho,Jonas\r", id="order_case_and_old_lines"),
        pytest.param('"Speaker","Text"\n"Anna","hi"\n"Jonas","ho"\n', id="quoted"),
        pytest.param(",speaker,text\n0,Anna,hi\n1,Jonas,ho\n", id="nameless_index"),
        pytest.param("\n \nspeaker,text\n\nAnna,hi\n,\nJonas,ho\n\n", id="blank_lines"),
        pytest.param("locuteur;texte\nAnna;hi\nJonas;ho\n", id="french"),
        pytest.param("hablante,mensaje\nAnna,hi\nJonas,ho\n", id="spanish"),
        pytest.param("说话人,内容\nAnna,hi\nJonas,ho\n", id="chinese"),
        pytest.param("話者,発話\nAnna,hi\nJonas,ho\n", id="japanese"),
        pytest.param("المتحدث,النص\nAnna,hi\nJonas,ho\n", id="arabic"),
        pytest.param("session_id,speaker,text\n9,Anna,hi\n9,Jonas,ho\n", id="one_interview"),
        pytest.param("speaker,sentiment,text\nAnna,good,hi\nJonas,bad,ho\n", id="other_column"),
    ],
)
def test_table_is_read_by_its_header(text: str) -> None:
    assert said(text) == [("Anna", "hi"), ("Jonas", "ho")]


@pytest.mark.parametrize(
    ("written", "seconds"),
    [("1.5", 1.5), ("90", 90.0), ("0:05", 5.0), ("01:02:03.250", 3723.25), ("1:02,5", 62.5)],
)
def test_times_are_kept_in_seconds(written: str, seconds: float) -> None:
    (one,) = read(f"start;speaker;text\n{written};Anna;hi\n").utterances
    assert one.start_seconds == seconds


@pytest.mark.parametrize("written", ["nan", "-1", "1e5", "soon", "1:2:3:4", "0x10"])
def test_time_that_cannot_be_read_is_noted(written: str) -> None:
    reading = read(f"speaker,text,start\nAnna,hi,{written}\n")
    assert reading.utterances[0].start_seconds is None
    assert reading.notes == (Noted(note=ReadingNote.TIME_UNREADABLE, line=2),)


def test_milliseconds_of_whisper_are_told_from_seconds_of_people() -> None:
    machine = read("start,end,speaker,text\n0,2400,0,hi\n2900,95600,1,ho\n").utterances
    person = read("start,end,speaker,text\n0,24,Anna,hi\n29,956,Jonas,ho\n").utterances
    assert (machine[1].start_seconds, machine[1].end_seconds) == (2.9, 95.6)
    assert (person[1].start_seconds, person[1].end_seconds) == (29.0, 956.0)


def test_row_without_speaker_belongs_to_nobody() -> None:
    reading = read("speaker,text\nAnna,hi\n,hm\nJonas,\n")
    assert [(one.label, one.words) for one in reading.utterances] == [("Anna", "hi"), (None, "hm")]
    assert set(reading.notes) == {
        Noted(note=ReadingNote.WORDS_WITHOUT_SPEAKER, line=3),
        Noted(note=ReadingNote.BLANK_WORDS, line=4),
    }


def test_quoted_words_of_several_lines_stand_on_one() -> None:
    assert said('speaker,text\nAnna,"so, ""hi""\nI am ill"\nJonas,ho\n') == [
        ("Anna", 'so, "hi" I am ill'),
        ("Jonas", "ho"),
    ]


@pytest.mark.parametrize(
    ("text", "fault", "line"),
    [
        pytest.param("speaker,text,words\nA,b,c\n", FileFault.WRONG_HEADER, 1, id="two_words"),
        pytest.param("speaker,name,text\nA,B,c\n", FileFault.WRONG_HEADER, 1, id="two_speakers"),
        pytest.param("talker,text\nA,b\n", FileFault.WRONG_HEADER, 1, id="speaker_not_known"),
        pytest.param("From,To,Message\nA,B,c\n", FileFault.WRONG_HEADER, 1, id="mail"),
        pytest.param("speaker,text\nA,b\nA,b,c\n", FileFault.BROKEN_ROW, 3, id="too_many"),
        pytest.param("speaker,text\nA,b\n\nA\n", FileFault.BROKEN_ROW, 4, id="too_few"),
        pytest.param('speaker,text\nA,b\nA,"b\nB,c\n', FileFault.BROKEN_ROW, 3, id="open_quote"),
        pytest.param('speaker,text\nA,"b" c\n', FileFault.BROKEN_ROW, 2, id="words_after_quote"),
        pytest.param(
            'speaker\ttext\nA\t"b\nB\tI am ill\nA\tc"\n', FileFault.BROKEN_ROW, 2, id="swallowed"
        ),
        pytest.param(
            'speaker,text\nB,x\nA,"b\nB,I am ill"\n', FileFault.BROKEN_ROW, 3, id="swallowed_comma"
        ),
        pytest.param(
            "session,speaker,text\n1,A,b\n2,A,b\n", FileFault.SEVERAL_INTERVIEWS, 3, id="sessions"
        ),
        pytest.param(
            "Participant_ID,PHQ8_Score,text\n1,2,b\n", FileFault.UNKNOWN_FORM, 1, id="scores"
        ),
        pytest.param("speaker,text\nA,\n", FileFault.NO_WORDS, None, id="no_words"),
        pytest.param("speaker,text\n", FileFault.NO_WORDS, None, id="header_alone"),
        pytest.param(
            "speaker,text\nA," + "b" * 140_000 + "\n", FileFault.BROKEN_ROW, 2, id="long_cell"
        ),
        pytest.param(
            "speaker,text\n" + "," * 10_000_000 + "\n", FileFault.BROKEN_ROW, 2, id="wide_row"
        ),
    ],
)
def test_table_that_would_lose_words_is_refused_by_line(
    text: str, fault: FileFault, line: int | None
) -> None:
    with pytest.raises(FileRefused) as caught:
        read_content(text)
    assert (caught.value.fault, caught.value.line) == (fault, line)
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_limit_of_a_cell_is_left_as_it_was() -> None:
    before = csv.field_size_limit()
    said("speaker,text\nA,b\n")
    assert csv.field_size_limit() == before


def test_ten_million_cells_are_refused_at_the_bound() -> None:
    with pytest.raises(FileRefused) as caught:
        read_content("speaker,text\n" + "A,b\n" * 5_000_000)
    assert caught.value.fault is FileFault.TOO_LARGE


def test_header_wider_than_any_is_plain_text() -> None:
    with pytest.raises(FileRefused) as caught:
        read_content("text," * 1_000_000 + "\n", name="x.csv")
    assert caught.value.fault is FileFault.UNKNOWN_FORM


@pytest.mark.parametrize("header", ["Question,Answer", "id,Interviewer,Patient"])
def test_columns_of_speakers_take_turns_in_each_row(header: str) -> None:
    first = "7," if header.startswith("id") else ""
    *_, asks, answers = header.split(",")
    rows = f'{header}\n{first}"and, now?",tired\n{first},yes\n'
    assert said(rows) == [(asks, "and, now?"), (answers, "tired"), (answers, "yes")]
