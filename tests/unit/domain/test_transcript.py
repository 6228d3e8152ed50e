import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai_psychiatrist.domain.errors import TranscriptUnreadable
from ai_psychiatrist.domain.transcript import (
    INTERVIEWER_LABELS,
    MAX_TURNS,
    PARTICIPANT_LABELS,
    Speaker,
    SpeakerLabels,
    parse_transcript,
)

INTERVIEWER, PARTICIPANT, UNKNOWN = Speaker.INTERVIEWER, Speaker.PARTICIPANT, Speaker.UNKNOWN


def turns(text: str, labels: SpeakerLabels | None = None) -> list[tuple[Speaker, str]]:
    transcript = parse_transcript(text) if labels is None else parse_transcript(text, labels)
    return [(turn.speaker, transcript.words(turn)) for turn in transcript.turns]


@pytest.mark.parametrize("label", PARTICIPANT_LABELS)
def test_participant_labels_start_a_turn(label: str) -> None:
    assert turns(f"{label}: words") == [(PARTICIPANT, "words")]
    assert turns(f"{label.upper()}: words") == [(PARTICIPANT, "words")]


@pytest.mark.parametrize("label", INTERVIEWER_LABELS)
def test_interviewer_labels_start_a_turn(label: str) -> None:
    assert turns(f"{label.lower()}: hm\nP: yes") == [(INTERVIEWER, "hm\n"), (PARTICIPANT, "yes")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            "P: a\r\nI: b\r\n", [(PARTICIPANT, "a\r\n"), (INTERVIEWER, "b\r\n")], id="crlf"
        ),
        pytest.param("P: a\rI: b", [(PARTICIPANT, "a\r"), (INTERVIEWER, "b")], id="cr_only"),
        pytest.param("\ufeffP: a", [(PARTICIPANT, "a")], id="byte_order_mark"),
        pytest.param("\n \nP: a", [(PARTICIPANT, "a")], id="blank_lines_first"),
        pytest.param("  P : a", [(PARTICIPANT, "a")], id="indented_with_space_before_colon"),
        pytest.param("P：a", [(PARTICIPANT, "a")], id="full_width_colon"),
        pytest.param("P: a\nmore\n", [(PARTICIPANT, "a\nmore\n")], id="line_without_label"),
        pytest.param(
            "P: a\nPatient said: b", [(PARTICIPANT, "a\nPatient said: b")], id="no_known_label"
        ),
        pytest.param("P: I: b", [(PARTICIPANT, "I: b")], id="label_inside_a_line"),
        pytest.param("P: at 4:30\nI", [(PARTICIPANT, "at 4:30\nI")], id="letter_without_colon"),
        pytest.param(
            "P: a\u2028I: b", [(PARTICIPANT, "a\u2028I: b")], id="line_separator_ends_no_line"
        ),
        pytest.param(
            "P: a\nP: b", [(PARTICIPANT, "a\n"), (PARTICIPANT, "b")], id="turn_after_turn"
        ),
        pytest.param(
            "P:\nI: a\nP: b",
            [(PARTICIPANT, "\n"), (INTERVIEWER, "a\n"), (PARTICIPANT, "b")],
            id="turn_without_words",
        ),
        pytest.param(
            "Recorded today.\nP: a",
            [(UNKNOWN, "Recorded today.\n"), (PARTICIPANT, "a")],
            id="preamble",
        ),
    ],
)
def test_text_is_cut_at_known_labels(text: str, expected: list[tuple[Speaker, str]]) -> None:
    assert turns(text) == expected
    assert parse_transcript(text).speakers_assumed is False


@pytest.mark.parametrize("text", ["I feel tired", "Patient said: I feel tired\nNurse: hm"])
def test_text_without_known_labels_is_taken_for_the_participants(text: str) -> None:
    transcript = parse_transcript(text)
    assert transcript.speakers_assumed is True
    assert turns(text) == [(PARTICIPANT, text)]


def test_labels_of_the_settings_start_a_turn() -> None:
    labels = SpeakerLabels(interviewer=("Nurse",), participant=("Frau Ä.",))
    assert turns("NURSE: a\nfrau ä.: b\nP: c", labels) == [
        (INTERVIEWER, "a\n"),
        (PARTICIPANT, "b\nP: c"),
    ]


@pytest.mark.parametrize("text", ["", "  ", "\r\n\t", "\ufeff", "\u00a0\u200b"])
def test_blank_text_is_refused(text: str) -> None:
    with pytest.raises(TranscriptUnreadable, match="empty"):
        parse_transcript(text)


def test_lone_surrogate_is_refused() -> None:
    with pytest.raises(TranscriptUnreadable, match="surrogate"):
        parse_transcript("P: I feel \ud83d tired")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("Ellie: hello\nI: bye", id="none_of_a_participant"),
        pytest.param("Ellie: hello\nP:  \n", id="participant_without_words"),
        pytest.param("I feel tired\nEllie: hello", id="words_only_before_the_first_label"),
    ],
)
def test_labels_without_words_of_a_participant_are_refused_naming_the_setting(text: str) -> None:
    with pytest.raises(TranscriptUnreadable, match="TRANSCRIPT_PARTICIPANT_LABELS") as caught:
        parse_transcript(text)
    assert caught.value.field == "transcript_text"
    assert "tired" not in str(caught.value)


def test_text_is_kept_out_of_the_representation() -> None:
    assert "tired" not in repr(parse_transcript("P: tired"))


def test_long_line_of_colons_and_spaces_is_read() -> None:
    """A pattern that is not linear in time would keep this for minutes."""
    text = "P: a\n" + " " * 200_000 + "x" * 100_000 + ":" * 100_000
    assert len(parse_transcript(text).turns) == 1


LINES = st.lists(
    st.one_of(
        st.sampled_from(["P: yes", "Ellie: hm", " T :", "\ufeff", "Nurse: x", "P:", "I：ok", ""]),
        st.text(max_size=12),
    ),
    max_size=8,
)


@given(lines=LINES, line_end=st.sampled_from(["\n", "\r\n", "\r", "\n\n"]))
def test_turns_tile_the_text(lines: list[str], line_end: str) -> None:
    text = line_end.join([*lines, "Participant: I sleep badly"])
    transcript = parse_transcript(text)
    assert "".join(text[turn.start : turn.end] for turn in transcript.turns) == text
    assert [turn.index for turn in transcript.turns] == list(range(len(transcript.turns)))
    assert all(turn.start <= turn.words_start <= turn.end for turn in transcript.turns)


def test_as_many_turns_as_allowed_are_read() -> None:
    assert len(parse_transcript("P: x\n" * MAX_TURNS).turns) == MAX_TURNS


@pytest.mark.parametrize("text", ["P: x\n" * (MAX_TURNS + 1), "I\n" + "P: x\n" * MAX_TURNS])
def test_more_turns_are_refused_with_the_cure(text: str) -> None:
    with pytest.raises(TranscriptUnreadable, match=r"20,000 turns; join the lines"):
        parse_transcript(text)
