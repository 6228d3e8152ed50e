import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.services.transcripts.files import notes, said, text_of, words

from ai_psychiatrist.services.transcripts.formats.known import read_content
from ai_psychiatrist.services.transcripts.utterances import (
    FileFault,
    FileReading,
    FileRefused,
    Form,
    ReadingNote,
)

HEADER = "Start_Time,End_Time,Text,Confidence"


def read_rows(content: str) -> FileReading:
    reading = read_content(content)
    assert isinstance(reading, FileReading)
    assert reading.form == Form.E_DAIC
    return reading


@pytest.mark.parametrize(
    ("content", "spoken"),
    [
        pytest.param(f"{HEADER}\n0.1,0.9,hello there,0.9", ["hello there"], id="plain"),
        pytest.param("Start_Time,End_Time,Text\n0.1,0.9,hello", ["hello"], id="no_confidence"),
        pytest.param(
            "start_time\tend_time\ttext\tconfidence\n0.1\t0.9\thi, you\t0.9", ["hi, you"], id="tabs"
        ),
        pytest.param("Start_Time;End_Time;Text\n1;2;hi", ["hi"], id="semicolons"),
        pytest.param(f'{HEADER}\n1,2,"yes, ""fine""",0.9', ['yes, "fine"'], id="quoted"),
        pytest.param(f'{HEADER}\n1,2,",0.9\n3,4,bye,0.8', ['"', "bye"], id="lone_quote_mark"),
        pytest.param(f'{HEADER}\n1,2,"""",0.9', ['"'], id="lone_quote_mark_quoted"),
        pytest.param(f'{HEADER}\n1,2,"one\ntwo",0.9\n3,4,x,1', ["one two", "x"], id="two_lines"),
        pytest.param(f"{HEADER}\n1,2,hi,\n3,4,12,1.0E-05", ["hi", "12"], id="blank_confidence"),
        pytest.param(f"{HEADER}\n1,2,nan,0.5\n3,4,null,0.5", ["nan", "null"], id="like_blanks"),
        pytest.param(f"{HEADER}\r\n1,2,hi,0.9\r\n\r\n", ["hi"], id="windows_line_ends"),
        pytest.param(f"\ufeff{HEADER}\r1,2,hi,0.9", ["hi"], id="old_line_ends_and_a_mark"),
        pytest.param(f'{HEADER}\n"1","2","hi","0.9"', ["hi"], id="all_quoted"),
        pytest.param(f"{HEADER} \n1,2,hi,0.9", ["hi"], id="blank_in_the_header"),
        pytest.param(f'{HEADER}\n1,2,"one, 2",0.9', ["one, 2"], id="number_in_quotes"),
        pytest.param(f'{HEADER}\n1,2,"a" and "b",0.9', ['"a" and "b"'], id="quotes_in_words"),
        pytest.param(f'{HEADER}\n1,2,"a\n\n""b""",0.9', ['a "b"'], id="blank_line_in_quotes"),
        pytest.param("Start_Time;End_Time;Text\n0,5;1,5;hi", ["hi"], id="decimal_commas"),
        pytest.param("Start_Time,End_Time,Text\n1,2,one, 2", ["one, 2"], id="words_to_the_end"),
        pytest.param(f"{HEADER}\n1,2,a\x00b,0.9", ["a\x00b"], id="nul"),
    ],
)
def test_rows_are_read_by_their_times(content: str, spoken: list[str]) -> None:
    assert words(read_rows(content)) == spoken


@pytest.mark.parametrize(
    ("times", "seconds"),
    [
        pytest.param("1.5,2", (1.5, 2.0), id="plain"),
        pytest.param("1.5e1,2E1", (15.0, 20.0), id="exponent"),
        pytest.param(",2", (None, 2.0), id="blank_start"),
        pytest.param("1,", (1.0, None), id="blank_end"),
        pytest.param(" , ", (None, None), id="blanks"),
        pytest.param("-1,2", (None, 2.0), id="negative"),
        pytest.param("-1e-3,2", (None, 2.0), id="negative_exponent"),
        pytest.param("nan,NaN", (None, None), id="nan"),
        pytest.param("inf,1e999", (None, None), id="infinite"),
        pytest.param("None,N/A", (None, None), id="words_for_nothing"),
        pytest.param("0:01:02.5,0:01:03", (None, None), id="clock"),
        pytest.param("+.5,1.", (0.5, 1.0), id="bare_points"),
    ],
)
def test_row_with_any_times_is_a_row(
    times: str, seconds: tuple[float | None, float | None]
) -> None:
    reading = read_rows(f'{HEADER}\n1,2,"before,0.9\n{times},hi there,0.9\n3,4,"after",0.9')
    assert said(reading) == [
        ("Participant", '"before'),
        ("Participant", "hi there"),
        ("Participant", "after"),
    ]
    one = reading.utterances[1]
    assert (one.start_seconds, one.end_seconds) == seconds
    assert notes(reading) == ([(ReadingNote.TIME_UNREADABLE, 3)] if None in seconds else [])


def test_separators_outside_quotes_stay_words_and_are_noted() -> None:
    reading = read_rows(f"{HEADER}\n1,2,well, i think so,0.9\n3,4,,0.9")
    assert words(reading) == ["well, i think so"]
    assert notes(reading) == [
        (ReadingNote.UNQUOTED_SEPARATOR, 2),
        (ReadingNote.BLANK_WORDS, 3),
    ]


def test_removed_details_are_never_words() -> None:
    reading = read_rows(f"{HEADER}\n1,2,scrubbed_entry,0.9\n3,4,in scrubbed_entry now,0.9")
    assert words(reading) == ["in <scrubbed> now"]
    assert notes(reading) == [(ReadingNote.SCRUBBED, 2), (ReadingNote.SCRUBBED, 3)]


@pytest.mark.parametrize(
    ("content", "fault", "line"),
    [
        pytest.param(f"{HEADER}\n", FileFault.NO_WORDS, None, id="no_rows"),
        pytest.param(f"{HEADER}\nhi there", FileFault.BROKEN_ROW, 2, id="no_times"),
        pytest.param(f"{HEADER}\n1,2,hi", FileFault.BROKEN_ROW, 2, id="no_confidence"),
        pytest.param(f"{HEADER}\n1,2", FileFault.BROKEN_ROW, 2, id="two_columns"),
        pytest.param(f"{HEADER}\n1,2,one, 2", FileFault.BROKEN_ROW, 2, id="number_in_words"),
        pytest.param(f"{HEADER}\n1,2,hi,-0.5", FileFault.BROKEN_ROW, 2, id="no_such_confidence"),
        pytest.param(
            f'{HEADER}\n"0,5","1,5","hi","0,9"', FileFault.BROKEN_ROW, 2, id="quoted_decimal_commas"
        ),
        pytest.param(f"{HEADER}\n1,2,hi,0.9\nthere,0.9", FileFault.BROKEN_ROW, 3, id="loose_line"),
        pytest.param(
            "Start_Time,End_Time,Text\n1,2,hi\nthere", FileFault.BROKEN_ROW, 3, id="loose_words"
        ),
        pytest.param(
            f'{HEADER}\n1,2,"hi,0.9\nthere\n3,4,"bye",0.9',
            FileFault.BROKEN_ROW,
            3,
            id="quote_that_the_next_row_would_close",
        ),
        pytest.param(
            f'{HEADER}\n1,2,"hi,0.9\n3,4,there",0.9\nyou",0.9',
            FileFault.BROKEN_ROW,
            4,
            id="row_inside_of_quotes",
        ),
        pytest.param(
            HEADER + "\n1,2,hi,1" * 300_000, FileFault.TOO_LARGE, 200_002, id="too_many_rows"
        ),
        pytest.param(
            HEADER + '\n1,2,"' + "x\n" * 900_000, FileFault.BROKEN_ROW, 2, id="endless_quotes"
        ),
    ],
)
def test_file_that_would_lose_words_is_refused(
    content: str, fault: FileFault, line: int | None
) -> None:
    with pytest.raises(FileRefused) as caught:
        read_rows(content)
    assert (caught.value.fault, caught.value.line) == (fault, line)
    assert "there" not in str(caught.value)


@pytest.mark.parametrize(
    "content",
    [
        pytest.param("start_time\tstop_time\tspeaker\tvalue\n1\t2\tEllie\thi", id="daic_woz"),
        pytest.param("", id="empty"),
        pytest.param("start_time," * 1_000_000, id="endless_header"),
    ],
)
def test_a_file_with_another_header_is_none_of_these(content: str) -> None:
    assert read_content(content).form != Form.E_DAIC


def test_file_of_the_corpus_is_read() -> None:
    reading = read_rows(text_of("e-daic/600_Transcript.csv"))
    assert words(reading) == [
        "yeah I sleep well",
        "I wake up rested, most days",
        "and I am cheerful",
        "okay",
        "thank you",
    ]
    assert notes(reading) == [
        (ReadingNote.TIME_UNREADABLE, 4),
        (ReadingNote.TIME_UNREADABLE, 5),
        (ReadingNote.SCRUBBED, 7),
    ]
    assert [one.start_seconds for one in reading.utterances] == [8.3, 12.4, None, None, 19.0]


TIMES = st.sampled_from(["1", "2.5", "", "-1", "1e2", "nan", "?"])
SAID = st.sampled_from(
    ["", "hi", '"', '"a b"', '""', '"a', 'b"', "a, b", 'a "b"', "scrubbed_entry"]
)
CONFIDENCE = st.sampled_from([",0.9", ",", "", ",7"])


@given(st.lists(st.tuples(TIMES, TIMES, SAID, CONFIDENCE), min_size=1, max_size=6))
def test_every_row_is_an_utterance_a_note_or_a_refusal(
    rows: list[tuple[str, str, str, str]],
) -> None:
    written = [f"{start},{end},{text}{confidence}" for start, end, text, confidence in rows]
    content = "\n".join([HEADER, *written])
    try:
        reading = read_rows(content)
    except FileRefused as refused:
        is_told = refused.line is not None or refused.fault is FileFault.NO_WORDS
    else:
        is_told = _told(reading) == len(rows)
    assert is_told


def _told(reading: FileReading) -> int:
    silent = {
        line
        for note, line in notes(reading)
        if note in {ReadingNote.BLANK_WORDS, ReadingNote.SCRUBBED}
    }
    return len(reading.utterances) + len(silent)
