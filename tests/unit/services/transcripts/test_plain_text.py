import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai_psychiatrist.domain.errors import InputError, SpeakersUnknown, TranscriptUnreadable
from ai_psychiatrist.domain.transcript import MAX_TURNS, Speaker
from ai_psychiatrist.services.transcripts.plain_text import parse_transcript
from ai_psychiatrist.services.transcripts.speaker_labels import SpeakerLabels

INTERVIEWER_LABELS = (
    *("Ellie", "Interviewer", "Therapist", "Clinician", "Doctor", "Counsellor", "Counselor"),
    *("Psychologist", "Psychiatrist", "Assistant", "Agent", "I", "T", "D"),
    *("Therapeutin", "Ärztin", "entrevistadora", "psicólogo", "thérapeute", "médecin"),
    *(
        "terapeuta",
        "dottoressa",
        "psycholoog",
        "医生",
        "諮詢師",
        "カウンセラー",
        "الطبيب",
        "Interviewer 2",
    ),
)
PARTICIPANT_LABELS = (
    *("Participant", "Patient", "Client", "Interviewee", "User", "P", "Participant 301"),
    *("Patientin", "Befragte", "paciente", "entrevistado", "enquêtée", "utente", "paziente"),
    *("deelneemster", "患者", "來訪者", "クライエント", "المريضة", "Patient (Tom)"),
)
INTERVIEWER, PARTICIPANT = Speaker.INTERVIEWER, Speaker.PARTICIPANT
OTHER, UNKNOWN = Speaker.OTHER, Speaker.UNKNOWN


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
            "P: a\nPatient said: b",
            [(PARTICIPANT, "a\n"), (UNKNOWN, "Patient said: b")],
            id="report_of_a_known_label",
        ),
        pytest.param("P: I: b", [(PARTICIPANT, "I: b")], id="label_inside_a_line"),
        pytest.param("P: at 4:30\nI", [(PARTICIPANT, "at 4:30\nI")], id="letter_without_colon"),
        *(
            pytest.param(
                f"P: a{end}I: b", [(PARTICIPANT, f"a{end}"), (INTERVIEWER, "b")], id=repr(end)
            )
            for end in "\v\f\x85\u2028\u2029"
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


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("I feel tired", id="a_line"),
        pytest.param("Patient said: I feel tired\nVery tired.", id="one_prefix"),
        pytest.param("I said: no.\nShe said: yes.\nHe asked: why?", id="reported_speech"),
        pytest.param("Tom: I feel tired\nand I cannot sleep", id="one_name"),
        pytest.param("[laughs] I am fine\n[Laughter] ok\n[laughs] so", id="sounds"),
        pytest.param("At 3:30 I woke\nthen http://x.org\nat 4:00 again", id="times_and_addresses"),
        pytest.param("Well: yes\nWell: no\nSo: no", id="openers"),
        pytest.param("Tired - very\nI - I mean - yes", id="dashes"),
    ],
)
def test_text_without_labels_is_taken_for_the_participants(text: str) -> None:
    transcript = parse_transcript(text)
    assert transcript.speakers_assumed is True
    assert turns(text) == [(PARTICIPANT, text)]


WAYS = {
    "colon": ("{0}: how are you\n{1}: fine\n{0}: good\n{1}: bye"),
    "full_width_colon": ("{0}：how are you\n{1}：fine\n"),
    "colon_alone": ("{0}:\nhow are you\n{1}:\nfine\n"),
    "bold": ("**{0}:** how are you\n**{1}**: fine\n"),
    "italic": ("_{0}_: how are you\n*{1}:* fine\n"),
    "list": ("- {0}: how are you\n• {1}: fine\n"),
    "change_of_speaker": (">> {0}: how are you\n>>{1}: fine\n"),
    "line_numbers": ("1 {0}: how are you\n2 {1}: fine\n"),
    "time_before": ("[00:01:02] {0}: how are you\n00:01:05 {1}: fine\n"),
    "span_before": ("[00:00:01 - 00:00:05] {0}: how are you\n(0:06) - {1}: fine\n"),
    "time_after": ("{0} [00:01:02]: how are you\n{1} (00:01:05): fine\n"),
    "otter": ("{0}  0:03\nhow are you\n\n{1}  0:09\nfine\n"),
    "rev": ("{0} (00:03):\nhow are you\n{1} (00:09):\nfine\n"),
    "time_and_label_line": ("00:00:03 {0}\nhow are you\n00:00:09 {1}\nfine\n"),
    "chat": ("[{0}] how are you\n[{1}] fine\n[{0}] good\n[{1}] bye"),
    "zoom_text": ("[{0}] 10:02:03\nhow are you\n[{1}] 10:02:07\nfine\n"),
    "tabs": ("{0}\thow are you\n{1}\tfine\n"),
    "dash": ("{0} - how are you\n{1} - fine\n{0} - good\n{1} - bye"),
    "line_of_its_own": ("{0}\nhow are you\n\n{1}\nfine\n\n{0}\ngood\n\n{1}\nbye"),
}
STRANGERS = [
    ("Anna", "Tom"),
    ("Speaker 1", "Speaker 2"),
    ("SPEAKER_00", "SPEAKER_01"),
    ("Dr. Smith", "Mr. Jones"),
    ("Anna Schmidt", "Tom van der Berg"),
    ("Schmidt, Anna", "Meier, Tom"),
    ("Krankenpfleger", "Tochter"),
    ("王医生", "李雷"),
]


@pytest.mark.parametrize("way", WAYS)
def test_known_labels_are_read_in_every_way_of_writing(way: str) -> None:
    found = turns(WAYS[way].format("Interviewer", "Patient"))
    said = [(speaker, words.strip()) for speaker, words in found if speaker is not UNKNOWN]
    assert said[:2] == [(INTERVIEWER, "how are you"), (PARTICIPANT, "fine")]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("first", "second"), STRANGERS, ids=lambda name: name.split()[0])
def test_unknown_labels_are_refused_and_told(way: str, first: str, second: str) -> None:
    with pytest.raises(SpeakersUnknown) as caught:
        parse_transcript(WAYS[way].format(first, second))
    assert caught.value.labels == (first, second)
    assert not {first, second} & set(str(caught.value).split())
    assert "--participant" in str(caught.value)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("first", "second"), STRANGERS, ids=lambda name: name.split()[0])
def test_named_participant_has_no_word_of_another_speaker(
    way: str, first: str, second: str
) -> None:
    labels = SpeakerLabels(given=((second, PARTICIPANT),))
    found = turns(WAYS[way].format(first, second), labels)
    theirs = " ".join(words for speaker, words in found if speaker is PARTICIPANT)
    assert theirs.split() in (["fine"], ["fine", "bye"])


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("Q: how are you\nA: fine", id="question_and_answer"),
        pytest.param("Q. How are you?\nA. Fine.", id="deposition"),
        pytest.param("anna: hi\ntom: ho\nanna: ok\ntom: no", id="lower_case"),
        pytest.param("1: hi\n2: ho\n1: ok\n2: no", id="numbers"),
        pytest.param("Interviewer: hi\nAnna: ho", id="no_participant"),
        pytest.param("I: hi\nParticipant 1: a\nParticipant 2: b", id="two_participants"),
        pytest.param("— ¿Cómo está?\n— Bien.", id="dashes"),
        pytest.param(">> How are you?\n>> Fine.", id="marks_of_change"),
        pytest.param("P: hi\nC: ho", id="letters_of_which_none_is_an_interviewers"),
    ],
)
def test_text_whose_participant_nobody_named_is_refused(text: str) -> None:
    with pytest.raises(SpeakersUnknown):
        parse_transcript(text)


def test_another_speaker_is_no_participant() -> None:
    found = turns("Doctor: and he?\nPatient: fine\nMother: he cries\nSpeaker ?: hm")
    assert [speaker for speaker, _ in found] == [INTERVIEWER, PARTICIPANT, OTHER, OTHER]


@pytest.mark.parametrize(
    ("text", "others"),
    [
        pytest.param("anna: hi\ntom: I cry", "tom", id="lower_case_label_seen_once"),
        pytest.param("[Anna] hi\n[Tom] I cry", "Tom", id="bracketed_label_seen_once"),
        pytest.param("1: hi\n2: I cry", "2", id="number_seen_once"),
        pytest.param("Anna\nhi\n\nTom\nI cry\n\nAnna\nok", "Tom", id="line_seen_once"),
        pytest.param("Patient: I cry\nAnna: hi", "Patient", id="known_label"),
    ],
)
def test_named_participant_is_the_only_one(text: str, others: str) -> None:
    name = "1" if text[0] == "1" else "anna" if text[0] == "a" else "Anna"
    transcript = parse_transcript(text, SpeakerLabels(given=((name, PARTICIPANT),)))
    assert {turn.label for turn in transcript.turns if turn.speaker is OTHER} == {others}


def test_named_label_that_is_not_there_is_refused() -> None:
    with pytest.raises(SpeakersUnknown, match="does not have the label"):
        parse_transcript("Patient: hi", SpeakerLabels(given=(("Tom", PARTICIPANT),)))


def test_first_line_says_who_is_who() -> None:
    text = "speakers: Anna = interviewer, Tom = participant\nAnna: well?\nTom: fine"
    assert turns(text)[1:] == [(INTERVIEWER, "well?\n"), (PARTICIPANT, "fine")]


@pytest.mark.parametrize("roles", ["Anna = boss", "Anna = ", "= participant"])
def test_first_line_with_an_unknown_role_is_refused(roles: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_transcript(f"speakers: {roles}\nAnna: well?\nTom: fine")
    assert caught.value.field == "speakers"


def test_everybody_can_be_the_participant() -> None:
    labels = SpeakerLabels(given=(("*", PARTICIPANT),))
    assert turns("Sleep: bad\nAppetite: poor", labels) == [
        (PARTICIPANT, "Sleep: bad\nAppetite: poor")
    ]


def test_times_are_kept() -> None:
    text = "[00:01:02.5] Interviewer: well?\nPatient (1:00:05): fine\nPatient: bye"
    assert [turn.start_seconds for turn in parse_transcript(text).turns] == [62.5, 3605.0, None]


def test_labels_of_the_settings_start_a_turn() -> None:
    labels = SpeakerLabels(interviewer=("Helper",), participant=("Frau Ä.",))
    assert turns("HELPER: a\nfrau ä.: b", labels) == [(INTERVIEWER, "a\n"), (PARTICIPANT, "b")]


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
def test_labels_without_words_of_a_participant_are_refused(text: str) -> None:
    with pytest.raises(TranscriptUnreadable, match="participant") as caught:
        parse_transcript(text)
    assert "tired" not in str(caught.value)


def test_text_is_kept_out_of_the_representation() -> None:
    assert "tired" not in repr(parse_transcript("P: tired"))


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(" " * 200_000 + "x" * 100_000 + ":" * 100_000, id="colons_and_spaces"),
        pytest.param("tired" + "\t" * 100_000, id="tabs"),
    ],
)
def test_long_line_is_read(line: str) -> None:
    """A pattern that is not linear in time would keep this for minutes."""
    assert len(parse_transcript("P: a\n" + line).turns) == 1


def test_a_word_longer_than_labels_are_is_none_wherever_it_stands() -> None:
    """A label is compared in forms that may be eighteen times as long."""
    lines = [f"{letter * 61} - it went on" for letter in "abcabc"]
    assert parse_transcript("\n".join(lines)).speakers_assumed


LINES = st.lists(
    st.one_of(
        st.sampled_from(
            [
                "Participant: yes",
                "Ellie: hm",
                " T :",
                "\ufeff",
                "Nurse: x",
                "Participant:",
                "I：ok",
                "",
                "[Tom] x",
                "A\tb",
            ]
        ),
        st.text(max_size=12),
    ),
    max_size=8,
)


@given(lines=LINES, line_end=st.sampled_from(["\n", "\r\n", "\r", "\n\n"]))
def test_turns_tile_the_text(lines: list[str], line_end: str) -> None:
    text = line_end.join([*lines, "Participant: I sleep badly"])
    try:
        transcript = parse_transcript(text)
    except SpeakersUnknown:
        # What was drawn holds a second label of a participant, or looks like names.
        return
    assert "".join(text[turn.start : turn.end] for turn in transcript.turns) == text
    assert [turn.index for turn in transcript.turns] == list(range(len(transcript.turns)))
    assert all(turn.start <= turn.words_start <= turn.end for turn in transcript.turns)


def test_as_many_turns_as_allowed_are_read() -> None:
    assert len(parse_transcript("P: x\n" * MAX_TURNS).turns) == MAX_TURNS


@pytest.mark.parametrize("text", ["P: x\n" * (MAX_TURNS + 1), "I\n" + "P: x\n" * MAX_TURNS])
def test_more_turns_are_refused_with_the_cure(text: str) -> None:
    with pytest.raises(TranscriptUnreadable, match=r"20,000 turns; join the lines"):
        parse_transcript(text)


STRANGE = "I cannot sleep nearly every day."
OWN = "I am fine and I sleep well."


@pytest.mark.parametrize(
    "line",
    [
        *("Interviewer. {}", "Interviewer; {}", "Interviewer = {}", "Interviewer > {}"),
        *("(Interviewer) {}", "INTERVIEWER {}", "**Interviewer** {}", "# Interviewer\n{}"),
        *(
            "<b>Interviewer:</b> {}",
            '"Interviewer": {}',
            "\u200bInterviewer: {}",
            "Interviewer\n{}",
        ),
        *("mother: {}", "Participant's wife: {}", "Second interviewer: {}", "???: {}", "👩: {}"),
        *("#2: {}", "Dr. med. Jones: {}", "T.J.: {}", "[Mother] {}", "Nurse - {}", "%com: {}"),
        *("Patient advocate: {}", "Patient (mother): {}", "Tom [nurse]: {}", "“Mother”: {}"),
        *("Participant: ok. Interviewer: {}", "Participant: ok. (Interviewer: {})"),
    ],
)
def test_line_of_somebody_else_is_never_the_participants(line: str) -> None:
    text = f"Interviewer: Hi.\nParticipant: {OWN}\n{line.format(STRANGE)}\nParticipant: Bye."
    own = [words for speaker, words in turns(text) if speaker is PARTICIPANT]
    assert STRANGE not in " ".join(own)
    assert OWN in own[0]


@pytest.mark.parametrize(
    "separator",
    [" | ", " > ", " -> ", " → ", " = ", ". ", "; ", ", ", "   ", " / ", " -- ", "﹕ ", "∶", " "],
)
@pytest.mark.parametrize("names", [("Interviewer", "Participant"), ("Anna", "Tom")])
def test_labels_with_other_marks_are_read_or_refused(
    separator: str, names: tuple[str, str]
) -> None:
    said = (STRANGE, OWN, "And then?", "Nothing more.")
    text = "\n".join(
        f"{name}{separator}{words}" for name, words in zip(names * 2, said, strict=True)
    )
    try:
        own = [words for speaker, words in turns(text) if speaker is PARTICIPANT]
    except SpeakersUnknown:
        return
    assert STRANGE not in " ".join(own)


@pytest.mark.parametrize(
    "head",
    [
        *("12/03/24, 10:15 - {}: ", "[12/03/24, 10:15:22] {}: ", "#00:00:01-0# {}: "),
        *("{}  10:15 AM\n", "{}, [12.03.24 10:15]\n", "[{} 00:01] ", "00:01 | {} | "),
        *("2024-03-12T10:15:00Z {}: ", "{} — 12/03/2024 10:15\n"),
    ],
)
def test_exports_of_chats_are_refused_until_somebody_is_named(head: str) -> None:
    said = (STRANGE, OWN, "And then?", "Nothing more.")
    text = "\n".join(
        f"{head.format(name)}{words}" for name, words in zip(["Anna", "Tom"] * 2, said, strict=True)
    )
    with pytest.raises(SpeakersUnknown):
        parse_transcript(text)


def test_head_of_a_protocol_is_no_turn() -> None:
    with pytest.raises(SpeakersUnknown, match="head"):
        parse_transcript(f"Participant: P07\n\nthey talked\nand {STRANGE}\nand more")


@pytest.mark.parametrize(
    "text",
    [
        "Monday: bad\nTuesday: worse\nWednesday: bad",
        "Sleep: bad\nMood: low\nAppetite: none",
        "Day 1: bad\nDay 2: worse",
        "From: Anna\nTo: Tom\nI cannot sleep.",
        "Montag: müde\nDienstag: traurig",
    ],
)
def test_headings_of_diaries_are_no_labels(text: str) -> None:
    assert parse_transcript(text).speakers_assumed


def test_headings_within_a_turn_stay_the_participants() -> None:
    found = turns("Interviewer: And?\nParticipant: well\nMonday: I cried\nMy answer: no")
    assert found[1] == (PARTICIPANT, "well\nMonday: I cried\nMy answer: no")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("00:01 " * 60_000, id="times"),
        pytest.param("P: a\n" + "<b>" * 100_000, id="tags"),
        pytest.param("Patient: a\n" + "Anna: b. " * 15_000, id="names_inside"),
        pytest.param("P: a\n" + '"`*_' * 100_000, id="marks"),
    ],
)
def test_hostile_openings_are_looked_at_once(text: str) -> None:
    """A pattern that goes back over what it read would keep each of these for hours."""
    assert parse_transcript(text).turns
