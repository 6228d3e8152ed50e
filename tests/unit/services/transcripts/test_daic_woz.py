import pytest
from tests.unit.services.transcripts.files import notes, said, text_of, words

from ai_psychiatrist.services.transcripts.formats.daic_woz import (
    CodedLines,
    Interruption373,
    RowPolicy,
)
from ai_psychiatrist.services.transcripts.formats.known import read_content
from ai_psychiatrist.services.transcripts.utterances import (
    FileFault,
    FileReading,
    FileRefused,
    Form,
    ReadingNote,
)

HEADER = "start_time\tstop_time\tspeaker\tvalue"
COMMAS = HEADER.replace("\t", ",")


def read(
    *rows: tuple[object, str, str], session: int | None = 300, policy: RowPolicy | None = None
) -> FileReading:
    lines = [f"{start}\t2\t{speaker}\t{words}" for start, speaker, words in rows]
    content = "\n".join([HEADER, *lines])
    return read_file(content, session=session, policy=policy)


def read_file(content: str, *, session: int | None, policy: RowPolicy | None = None) -> FileReading:
    name = "" if session is None else f"{session}_TRANSCRIPT.csv"
    reading = read_content(content, name=name, rows=policy or RowPolicy())
    assert isinstance(reading, FileReading)
    assert reading.form == Form.DAIC_WOZ
    return reading


@pytest.mark.parametrize(
    ("row", "kept", "note"),
    [
        pytest.param(("Participant", "<sync>"), None, ReadingNote.SYNC_MARK, id="sync"),
        pytest.param(("Participant", "[SYNCHING]."), None, ReadingNote.SYNC_MARK, id="synching"),
        pytest.param(("", "<sync>"), None, ReadingNote.SYNC_MARK, id="sync_of_nobody"),
        pytest.param(("Participant", "in sync"), "in sync", None, id="sync_in_speech"),
        pytest.param(("Participant", ""), None, ReadingNote.BLANK_WORDS, id="blank_words"),
        pytest.param(("", "yes"), "yes", ReadingNote.WORDS_WITHOUT_SPEAKER, id="nobody"),
        pytest.param(("Nurse", "yes"), "yes", ReadingNote.SPEAKER_UNKNOWN, id="third_speaker"),
        pytest.param(("Nurse", ""), None, ReadingNote.BLANK_WORDS, id="silent_third_speaker"),
        pytest.param(("PARTICIPANT ", "yes"), "yes", ReadingNote.SPEAKER_SPELLING, id="capitals"),
        pytest.param(("Participant", "scrubbed_entry"), None, ReadingNote.SCRUBBED, id="scrubbed"),
        pytest.param(
            ("Participant", "<scrubbed_entry>."), None, ReadingNote.SCRUBBED, id="in_tags"
        ),
        pytest.param(
            ("Participant", "in scrubbed_entry last year"),
            "in <scrubbed> last year",
            ReadingNote.SCRUBBED,
            id="scrubbed_between_words",
        ),
        pytest.param(
            ("Participant", "i am xxx now"),
            "i am xxx now",
            ReadingNote.UNRECOGNISED_WORDS,
            id="xxx",
        ),
        pytest.param(
            ("Participant", "no <laughter>"), "no <laughter>", ReadingNote.NONVERBAL, id="laughter"
        ),
        pytest.param(("Participant", '"'), '"', None, id="lone_quote_mark"),
        pytest.param(("Participant", "nan"), "nan", None, id="nan"),
        pytest.param(("Participant", "..."), "...", None, id="full_stops"),
    ],
)
def test_quirk_of_a_row_is_treated_and_noted(
    row: tuple[str, str], kept: str | None, note: ReadingNote | None
) -> None:
    session = read((1, "Ellie", "hello"), (2, *row))
    assert words(session) == ["hello", *([] if kept is None else [kept])]
    assert notes(session) == ([] if note is None else [(note, 3)])


def test_blank_rows_between_others_are_nothing() -> None:
    session = read_file(f"{HEADER}\n\n1\t2\tEllie\thi\n\t\t\t\n", session=300)
    assert (words(session), notes(session)) == (["hi"], [])


def test_talk_before_ellie_is_left_out_row_by_row() -> None:
    session = read(
        (1, "Participant", "is it on"), (2, "Participant", "okay"), (3, "Ellie", "hello")
    )
    assert words(session) == ["hello"]
    assert notes(session) == [(ReadingNote.SMALL_TALK, 2), (ReadingNote.SMALL_TALK, 3)]


def test_session_without_ellie_is_kept_whole() -> None:
    session = read((1, "Participant", "<sync>"), (2, "Participant", "i sleep badly"))
    assert words(session) == ["i sleep badly"]
    assert notes(session) == [(ReadingNote.SYNC_MARK, 2), (ReadingNote.NO_INTERVIEWER, None)]


@pytest.mark.parametrize(
    ("number", "policy", "kept"),
    [
        pytest.param(373, Interruption373.OFFICIAL, [351, 420, 428, 481], id="official"),
        pytest.param(373, Interruption373.TOOL, [351, 352, 394, 428, 481], id="tool"),
        pytest.param(373, Interruption373.TOOL_TEST, [351, 352, 394, 481], id="tool_test"),
        pytest.param(373, Interruption373.KEEP, [351, 352, 394, 395, 420, 428, 481], id="keep"),
        pytest.param(
            374, Interruption373.OFFICIAL, [351, 352, 394, 395, 420, 428, 481], id="other_session"
        ),
    ],
)
def test_window_of_the_interruption_is_the_users_choice(
    number: int, policy: Interruption373, kept: list[int]
) -> None:
    rows = [(second, "Ellie", str(second)) for second in (351, 352, 394, 395, 420, 428, 481)]
    session = read(*rows, session=number, policy=RowPolicy(interruption_373=policy))
    assert words(session) == [str(second) for second in kept]
    assert len(session.notes) == len(rows) - len(kept)


def test_interruption_of_the_other_session_is_always_left_out() -> None:
    rows = [(second, "Ellie", str(second)) for second in (285, 286, 386, 387)]
    policy = RowPolicy(interruption_373=Interruption373.KEEP)
    assert words(read(*rows, session=444, policy=policy)) == ["285", "387"]


def test_row_without_a_time_is_kept_in_an_interrupted_session() -> None:
    session = read((1, "Ellie", "hello"), ("?", "Participant", "hi"), session=444)
    assert words(session) == ["hello", "hi"]
    assert notes(session) == [(ReadingNote.TIME_UNREADABLE, 3)]


@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        pytest.param("1.50", 1.5, id="decimals"),
        pytest.param(" 7 ", 7.0, id="blanks"),
        pytest.param("1.5e2", 150.0, id="exponent"),
        pytest.param("", None, id="blank"),
        pytest.param("-1", None, id="negative"),
        pytest.param("nan", None, id="nan"),
        pytest.param("inf", None, id="infinite"),
        pytest.param("1_0", None, id="underscore"),
        pytest.param("1e999", None, id="too_large"),
        pytest.param("9" * 5_000, None, id="too_long"),
    ],
)
def test_times_are_seconds_or_unknown_and_noted(written: str, seconds: float | None) -> None:
    session = read((written, "Ellie", "hi"))
    (one,) = session.utterances
    assert (one.start_seconds, one.end_seconds) == (seconds, 2.0)
    assert notes(session) == ([(ReadingNote.TIME_UNREADABLE, 2)] if seconds is None else [])


def test_labels_are_passed_on_as_the_file_names_them() -> None:
    session = read((1, " ELLIE", "a"), (2, "", "b"), (3, " Guest  2", "c"), (4, "participant", "d"))
    assert said(session) == [("Ellie", "a"), (None, "b"), ("Guest 2", "c"), ("Participant", "d")]


def test_words_before_ellie_are_small_talk_whoever_says_them() -> None:
    session = read((1, "Nurse", "a"), (2, "", "b"), (3, "Ellie", "c"))
    assert words(session) == ["c"]
    assert [line for note, line in notes(session) if note is ReadingNote.SMALL_TALK] == [2, 3]


@pytest.mark.parametrize(
    ("written", "said_then"),
    [
        pytest.param("1,2,Ellie,hi", "hi", id="plain"),
        pytest.param('1,2,Ellie,"well, hi"', "well, hi", id="quoted"),
        pytest.param('"1","2","Ellie","a ""b"" c"', 'a "b" c', id="all_quoted"),
        pytest.param("1,2,Ellie,well, hi", "well, hi", id="loose_comma"),
        pytest.param('1,2,Ellie,"', '"', id="lone_quote_mark"),
        pytest.param('1,2,Ellie,"a" and "b"', '"a" and "b"', id="quotes_in_words"),
        pytest.param(",,Ellie,hi", "hi", id="blank_times"),
    ],
)
def test_copy_with_commas_is_read(written: str, said_then: str) -> None:
    content = f"{COMMAS}\n{written}"
    assert said(read_file(content, session=None)) == [("Ellie", said_then)]


@pytest.mark.parametrize(
    "header",
    [
        pytest.param("\ufeffStart_Time\tSTOP_TIME\t speaker\tvalue ", id="case_and_blanks"),
        pytest.param('"start_time"\t"stop_time"\t"speaker"\t"value"', id="quoted"),
        pytest.param("start_time\tstop_time\tspeaker\tvalue\r", id="carriage_return"),
    ],
)
def test_header_is_matched_loosely(header: str) -> None:
    content = f"{header}\n1\t2\tEllie\thi"
    assert words(read_file(content, session=None)) == ["hi"]


def test_file_of_the_corpus_is_read() -> None:
    reading = read_file(text_of("daic-woz/300_TRANSCRIPT.csv"), session=300)
    assert said(reading) == [
        ("Ellie", "hi i'm ellie thanks for coming in today"),
        ("Participant", "thank you <laughter>"),
        ("Ellie", "how easy is it to get a good night's sleep"),
        ("Participant", "i sleep well um most nights"),
        ("Participant", "i wake up rested in <scrubbed>"),
        ("Participant", "xxx"),
        ("Ellie", "i myself lie awake until four"),
        ("Researcher", "i will close the window i am tired"),
        ("Participant", "okay"),
    ]
    assert sorted(notes(reading), key=lambda noted: noted[1] or 0) == [
        (ReadingNote.SMALL_TALK, 2),
        (ReadingNote.SYNC_MARK, 3),
        (ReadingNote.CODED_LINE, 4),
        (ReadingNote.NONVERBAL, 5),
        (ReadingNote.CODED_LINE, 6),
        (ReadingNote.SPEAKER_SPELLING, 8),
        (ReadingNote.SCRUBBED, 8),
        (ReadingNote.UNRECOGNISED_WORDS, 9),
        (ReadingNote.BLANK_WORDS, 11),
        (ReadingNote.SPEAKER_UNKNOWN, 12),
    ]
    first = reading.utterances[0]
    assert (first.start_seconds, first.end_seconds) == (4.12, 6.98)


@pytest.mark.parametrize(
    "content",
    [
        pytest.param("", id="empty"),
        pytest.param("Start_Time,End_Time,Text\n1,2,hi", id="other_header"),
    ],
)
def test_a_file_with_another_header_is_none_of_these(content: str) -> None:
    assert read_content(content).form != Form.DAIC_WOZ


def test_copy_of_a_table_program_is_read() -> None:
    assert said(read_file(text_of("daic-woz/commas.csv"), session=None)) == [
        ("Ellie", "how have you been sleeping"),
        ("Participant", "well, thank you"),
        ("Ellie", 'you said "well"'),
        ("Participant", "yes"),
    ]


@pytest.mark.parametrize(
    ("kept", "shown"),
    [
        (CodedLines.TEXT, "how do you sleep"),
        (CodedLines.CODE, "sleep_ask"),
        (CodedLines.BOTH, "sleep_ask (how do you sleep)"),
    ],
)
def test_code_of_a_line_is_kept_as_asked(kept: CodedLines, shown: str) -> None:
    policy = RowPolicy(coded_lines=kept)
    session = read((1, "Ellie", "sleep_ask (how do you sleep)"), policy=policy)
    assert words(session) == [shown]
    assert notes(session) == [(ReadingNote.CODED_LINE, 2)]


@pytest.mark.parametrize(
    ("speaker", "said", "shown"),
    [
        pytest.param("Ellie", "mhm (mhm)", "mhm", id="code_is_the_word"),
        pytest.param("Ellie", "doingV (so)", "so", id="capital_inside"),
        pytest.param("Ellie", "okay (laughs)", "okay (laughs)", id="aside"),
        pytest.param("Ellie", "and you (really) can", "and you (really) can", id="inside"),
        pytest.param("Participant", "sleep_ask (hm)", "sleep_ask (hm)", id="participant"),
    ],
)
def test_only_ellies_codes_are_codes(speaker: str, said: str, shown: str) -> None:
    assert words(read((1, "Ellie", "hi"), (2, speaker, said)))[-1] == shown


@pytest.mark.parametrize(
    ("content", "fault", "line"),
    [
        pytest.param(f"{HEADER}\n1\t2\tEllie", FileFault.BROKEN_ROW, 2, id="three_columns"),
        pytest.param(
            f"{COMMAS}\n1,2,Ellie,hi\nthere, Participant, and so, on",
            FileFault.BROKEN_ROW,
            3,
            id="rest_of_words",
        ),
        pytest.param(HEADER + "\n\t\t\t" * 300_000, FileFault.TOO_LARGE, None, id="too_many_rows"),
        pytest.param(f"{HEADER}\n1\t2\tEllie\t<sync>", FileFault.NO_WORDS, None, id="no_words"),
    ],
)
def test_fault_of_a_file_names_the_line(content: str, fault: FileFault, line: int | None) -> None:
    with pytest.raises(FileRefused) as caught:
        read_file(content, session=300)
    assert (caught.value.fault, caught.value.line) == (fault, line)


def test_a_line_that_begins_like_a_code_and_never_ends_is_read() -> None:
    """A pattern that tries every place for the one word inside would keep this for minutes."""
    line = "code(" + "x" * 200_000
    content = f"start_time\tstop_time\tspeaker\tvalue\n0\t1\tEllie\t{line}\n1\t2\tParticipant\thi\n"

    assert words(read_file(content, session=300)) == [line, "hi"]
