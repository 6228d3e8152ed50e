import pytest

from ai_psychiatrist.services.daic_woz import (
    CodedLines,
    FileFault,
    Interruption373,
    RowNote,
    RowPolicy,
    RowsUnreadable,
    Session,
    read_session,
)

HEADER = "start_time\tstop_time\tspeaker\tvalue"


def read(
    *rows: tuple[object, str, str], participant_id: int = 300, policy: RowPolicy | None = None
) -> Session:
    lines = [f"{start}\t2\t{speaker}\t{words}" for start, speaker, words in rows]
    content = "\n".join([HEADER, *lines])
    return read_session(content, participant_id=participant_id, policy=policy or RowPolicy())


def words(session: Session) -> list[str]:
    return [row.words for row in session.rows]


def notes(session: Session) -> list[tuple[RowNote, int | None]]:
    return [(noted.note, noted.line) for noted in session.notes]


@pytest.mark.parametrize(
    ("row", "kept", "note"),
    [
        pytest.param(("Participant", "<sync>"), None, RowNote.SYNC_MARK, id="sync"),
        pytest.param(("Participant", "[SYNCHING]."), None, RowNote.SYNC_MARK, id="synching"),
        pytest.param(("", "<sync>"), None, RowNote.SYNC_MARK, id="sync_of_nobody"),
        pytest.param(("Participant", "in sync"), "in sync", None, id="sync_in_speech"),
        pytest.param(("Participant", ""), None, RowNote.BLANK_WORDS, id="blank_words"),
        pytest.param(("", "yes"), None, RowNote.WORDS_WITHOUT_SPEAKER, id="nobody"),
        pytest.param(("PARTICIPANT ", "yes"), "yes", RowNote.SPEAKER_SPELLING, id="capitals"),
        pytest.param(("Participant", "scrubbed_entry"), None, RowNote.SCRUBBED, id="scrubbed"),
        pytest.param(("Participant", "<scrubbed_entry>."), None, RowNote.SCRUBBED, id="in_tags"),
        pytest.param(
            ("Participant", "in scrubbed_entry last year"),
            "in <scrubbed> last year",
            RowNote.SCRUBBED,
            id="scrubbed_between_words",
        ),
        pytest.param(
            ("Participant", "i am xxx now"), "i am xxx now", RowNote.UNRECOGNISED_WORDS, id="xxx"
        ),
        pytest.param(
            ("Participant", "no <laughter>"), "no <laughter>", RowNote.NONVERBAL, id="laughter"
        ),
        pytest.param(("Participant", '"'), '"', None, id="lone_quote_mark"),
        pytest.param(("Participant", "nan"), "nan", None, id="nan"),
        pytest.param(("Participant", "..."), "...", None, id="full_stops"),
    ],
)
def test_quirk_of_a_row_is_treated_and_noted(
    row: tuple[str, str], kept: str | None, note: RowNote | None
) -> None:
    session = read((1, "Ellie", "hello"), (2, *row))
    assert words(session) == ["hello", *([] if kept is None else [kept])]
    assert notes(session) == ([] if note is None else [(note, 3)])


def test_blank_rows_between_others_are_nothing() -> None:
    session = read_session(f"{HEADER}\n\n1\t2\tEllie\thi\n\t\t\t\n", participant_id=300)
    assert (words(session), notes(session)) == (["hi"], [])


def test_talk_before_ellie_is_left_out_row_by_row() -> None:
    session = read(
        (1, "Participant", "is it on"), (2, "Participant", "okay"), (3, "Ellie", "hello")
    )
    assert words(session) == ["hello"]
    assert notes(session) == [(RowNote.SMALL_TALK, 2), (RowNote.SMALL_TALK, 3)]


def test_session_without_ellie_is_kept_whole() -> None:
    session = read((1, "Participant", "<sync>"), (2, "Participant", "i sleep badly"))
    assert words(session) == ["i sleep badly"]
    assert notes(session) == [(RowNote.SYNC_MARK, 2), (RowNote.NO_INTERVIEWER, None)]


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
    session = read(*rows, participant_id=number, policy=RowPolicy(interruption_373=policy))
    assert words(session) == [str(second) for second in kept]
    assert len(session.notes) == len(rows) - len(kept)


def test_interruption_of_the_other_session_is_always_left_out() -> None:
    rows = [(second, "Ellie", str(second)) for second in (285, 286, 386, 387)]
    policy = RowPolicy(interruption_373=Interruption373.KEEP)
    assert words(read(*rows, participant_id=444, policy=policy)) == ["285", "387"]


def test_row_without_a_time_is_kept_in_an_interrupted_session() -> None:
    session = read((1, "Ellie", "hello"), ("?", "Participant", "hi"), participant_id=444)
    assert words(session) == ["hello", "hi"]
    assert notes(session) == [(RowNote.TIME_UNREADABLE, 3)]


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
    assert notes(session) == [(RowNote.CODED_LINE, 2)]


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
        pytest.param("", FileFault.WRONG_HEADER, 1, id="empty"),
        pytest.param("Start_Time,End_Time,Text\n", FileFault.WRONG_HEADER, 1, id="other_header"),
        pytest.param(f"{HEADER}\n1\t2\tEllie", FileFault.BROKEN_ROW, 2, id="three_columns"),
        pytest.param(
            f"{HEADER}\n1\t2\tEllie\thi\n1\t2\tNurse\thi",
            FileFault.UNKNOWN_SPEAKER_ROW,
            3,
            id="nurse",
        ),
        pytest.param(f"{HEADER}\n1\t2\tNurse\t", FileFault.UNKNOWN_SPEAKER_ROW, 2, id="silent"),
        pytest.param(f"{HEADER}\n1\t2\tEllie\t<sync>", FileFault.NO_WORDS, None, id="no_words"),
    ],
)
def test_fault_of_a_file_names_the_line(content: str, fault: FileFault, line: int | None) -> None:
    with pytest.raises(RowsUnreadable) as caught:
        read_session(content, participant_id=300)
    assert (caught.value.fault, caught.value.line) == (fault, line)


def test_a_line_that_begins_like_a_code_and_never_ends_is_read() -> None:
    """A pattern that tries every place for the one word inside would keep this for minutes."""
    words = "code(" + "x" * 200_000
    content = (
        f"start_time\tstop_time\tspeaker\tvalue\n0\t1\tEllie\t{words}\n1\t2\tParticipant\thi\n"
    )

    assert [row.words for row in read_session(content, participant_id=300).rows] == [words, "hi"]
