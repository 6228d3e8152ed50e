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
def test_unknown_labels_are_refused_and_told(way: str) -> None:
    for first, second in STRANGERS:
        with pytest.raises(SpeakersUnknown) as caught:
            parse_transcript(WAYS[way].format(first, second))
        assert caught.value.labels == (first, second)
        assert not {first, second} & set(str(caught.value).split())
        assert "--participant" in str(caught.value)


@pytest.mark.parametrize("way", WAYS)
def test_named_participant_has_no_word_of_another_speaker(way: str) -> None:
    for first, second in STRANGERS:
        labels = SpeakerLabels(given=((second, PARTICIPANT),))
        found = turns(WAYS[way].format(first, second), labels)
        theirs = " ".join(words for speaker, words in found if speaker is PARTICIPANT)
        assert theirs.split() in (["fine"], ["fine", "bye"]), (first, second)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("A: how are you\nB: fine\nA: and now\nB: fine", id="answer_without_question"),
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
    theirs = {turn.label for turn in transcript.turns if turn.speaker is not PARTICIPANT}
    assert theirs == {others}
    # Who alone speaks with the participant asks the questions, but for a known participant.
    role = OTHER if others == "Patient" else INTERVIEWER
    assert {turn.speaker for turn in transcript.turns if turn.label == others} == {role}


def test_named_label_that_is_not_there_is_refused() -> None:
    with pytest.raises(SpeakersUnknown, match="does not have the named label"):
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


@pytest.mark.parametrize(
    "text",
    ["P: x\n" * (MAX_TURNS + 1), "I\n" + "P: x\n" * MAX_TURNS],
    ids=["labelled", "before a label"],
)
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


def notes(text: str) -> dict[str, int]:
    return {note.code: note.count for note in parse_transcript(text).source.notes}


ASKED, TOLD = "How are you", "Not well at all"


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        *(("Question:", "Answer:"), ("Q:", "A:"), ("Q.", "A."), ("q:", "a:"), ("Q1:", "A1:")),
        *(("Frage:", "Antwort:"), ("Domanda:", "Risposta:"), ("Q:", "Answer:")),
    ],
)
def test_questions_and_answers_are_the_interviewers_and_the_participants(
    question: str, answer: str
) -> None:
    text = f"{question} {ASKED}\n{answer} {TOLD}\n{question} And then\n{answer} Nothing"
    said = [(speaker, words.strip()) for speaker, words in turns(text)]
    assert said == [
        (INTERVIEWER, ASKED),
        (PARTICIPANT, TOLD),
        (INTERVIEWER, "And then"),
        (PARTICIPANT, "Nothing"),
    ]


def test_answers_numbered_like_their_questions_are_one_persons() -> None:
    text = "Q1: How are you\nA1: bad\nQ2: And sleep\nA2: bad too"
    assert [words for who, words in turns(text) if who is PARTICIPANT] == ["bad\n", "bad too"]


@pytest.mark.parametrize(
    ("interviewer", "participant"),
    [("I", "P"), ("I1", "P1"), ("INT", "P07"), ("I", "P-07"), ("Vera", "Patient-07")],
)
def test_letters_and_numbers_of_known_labels_are_known(interviewer: str, participant: str) -> None:
    text = f"{interviewer}: {ASKED}?\n{participant}: {TOLD}\n{interviewer}: Hm."
    assert [speaker for speaker, _ in turns(text)] == [INTERVIEWER, PARTICIPANT, INTERVIEWER]


def test_the_only_other_label_is_the_interviewers() -> None:
    text = "Vera: How are you?\nPatient: Bad.\nVera: I want to die sometimes, do you?"
    assert [speaker for speaker, _ in turns(text)] == [INTERVIEWER, PARTICIPANT, INTERVIEWER]
    assert notes(text) == {"interviewer_assumed": 2}


def test_further_unknown_labels_are_other_speakers_and_counted() -> None:
    text = "Vera: How?\nPatient: Bad.\nTom: He cries.\nVera: So.\nTom: Yes.\nPatient: No."
    found = [speaker for speaker, _ in turns(text)]
    assert found == [OTHER, PARTICIPANT, OTHER, OTHER, OTHER, PARTICIPANT]
    assert notes(text) == {"speaker_unknown": 4}


SUBJECTS = (
    *("About work: it's the shifts.", "And at night: nothing.", "Honestly: I hate it."),
    *("Work: too much.", "The thing is: I cannot sleep.", "Money: none.", "Garden: all weeds."),
    *("Bottom line: I am tired.", "My answer: no.", "In short: no."),
)


@pytest.mark.parametrize("subject", SUBJECTS)
def test_a_line_that_names_its_subject_stays_the_participants(subject: str) -> None:
    answer = f"Hard to say.\n{subject}\nIt began in May.\n"
    text = f"Interviewer: {ASKED}?\nParticipant: {answer}Interviewer: And?\nParticipant: No."
    assert turns(text)[1] == (PARTICIPANT, answer)
    assert notes(text) == {}
    labels = SpeakerLabels(given=(("Jo", PARTICIPANT),))
    named = text.replace("Participant", "Jo").replace("Interviewer", "Vera")
    assert turns(named, labels)[1] == (PARTICIPANT, answer)


def test_subjects_of_several_turns_stay_the_participants() -> None:
    answers = ("Garden: weeds.\nCar: broken.\nI rest.\n", "Car: sold.\nGarden: gone.\nI weep.\n")
    text = "".join(f"Interviewer: So?\nParticipant: Well.\n{answer}" for answer in answers)
    own = [words for who, words in turns(text) if who is PARTICIPANT]
    assert own == [f"Well.\n{answer}" for answer in answers]


def test_a_name_that_recurs_between_the_speakers_is_another_speaker() -> None:
    text = (
        "Interviewer: So?\nZora: He drinks.\nParticipant: I am low.\nZora: He does.\n"
        "Participant: No."
    )
    assert [speaker for speaker, _ in turns(text)] == [
        *(INTERVIEWER, OTHER, PARTICIPANT, OTHER, PARTICIPANT),
    ]


def test_what_is_set_aside_within_a_turn_is_counted_with_its_line() -> None:
    text = "Interviewer: So?\nParticipant: I am low.\n> He drinks.\nInterviewer: And?"
    (note,) = parse_transcript(text).source.notes
    assert (note.code, note.count, note.line) == ("words_set_aside", 1, 3)


@pytest.mark.parametrize("slip", ["Particpant", "Participnat", "Paticipant", "Partecipant"])
def test_a_label_spelt_wrongly_once_is_the_one_that_is_meant(slip: str) -> None:
    text = f"Interviewer: a?\nParticipant: b\nInterveiwer: c?\n{slip}: d\nInterviewer: e"
    assert [speaker for speaker, _ in turns(text)] == [
        *(INTERVIEWER, PARTICIPANT, INTERVIEWER, PARTICIPANT, INTERVIEWER),
    ]
    assert notes(text) == {"speaker_spelling": 2}


@pytest.mark.parametrize("other", ["Parent", "Partner", "Interviewee 2", "Speaker 2"])
def test_another_speakers_label_is_no_slip(other: str) -> None:
    text = f"Interviewer: a?\nParticipant: b\n{other}: He wept.\nInterviewer: e"
    try:
        own = [words for who, words in turns(text) if who is PARTICIPANT]
    except SpeakersUnknown:
        return
    assert own == ["b\n"]


@pytest.mark.parametrize(
    ("first", "second"),
    [("Interviewer", "Participant"), ("Q", "A"), ("I", "P"), ("Doctor", "Patient")],
)
def test_an_interview_on_one_line_is_cut_at_its_labels(first: str, second: str) -> None:
    text = f"{first}: How are you? {second}: Bad. It hurts. {first}: And? {second}: No."
    assert [(who, words.strip()) for who, words in turns(text)] == [
        (INTERVIEWER, "How are you?"),
        (PARTICIPANT, "Bad. It hurts."),
        (INTERVIEWER, "And?"),
        (PARTICIPANT, "No."),
    ]


@pytest.mark.parametrize(
    "mark", ["\u200e", "\u200f", "\u202a", "\u202c", "\ufeff", "\u200b", "\u2066", "\u2069"]
)
def test_invisible_marks_change_nothing(mark: str) -> None:
    clean = "Interviewer: How are you?\nParticipant: Bad.\nI rest.\nInterviewer: So?"
    text = (
        f"{mark}Interviewer{mark}:{mark} How are you?\n{mark}Participant{mark}: Bad.{mark}\n"
        f"{mark}I rest.\nInter{mark}viewer: So?{mark}"
    )
    seen = [(who, words.replace(mark, "").strip()) for who, words in turns(text)]
    assert seen == [(who, words.strip()) for who, words in turns(clean)]
    found = parse_transcript(text).turns
    assert [turn.label for turn in found] == ["Interviewer", "Participant", "Interviewer"]
    assert "".join(text[turn.start : turn.end] for turn in found) == text


@pytest.mark.parametrize("words", ["\x00", "[00:00:13]", "00:00:13", "\u200e \u200b", "(0:13)"])
def test_a_time_mark_or_a_control_character_is_no_spoken_word(words: str) -> None:
    with pytest.raises(TranscriptUnreadable, match="no words of the participant"):
        parse_transcript(f"Interviewer: So?\nParticipant: {words}\nInterviewer: Well.")
    with pytest.raises(TranscriptUnreadable):
        parse_transcript(words)


def test_a_spoken_time_is_a_word() -> None:
    assert turns("Interviewer: When?\nParticipant: 3:30")[1] == (PARTICIPANT, "3:30")


HEADS_OF_PROTOCOLS = (
    "Transcript of session 4\nPresent: Dr Lee, Mr Park\nDate: 3 May 2024\n\n",
    "Patient: Tom Kern\nTherapist: Dr Lee\nDate: 3 May\n\n",
    "Interviewer: Ada Kay\nParticipant: P07 Bo\n\n",
    "Session 4\nParticipant: Bo West\nLocation: Ward 3\n",
)


@pytest.mark.parametrize("head", HEADS_OF_PROTOCOLS)
def test_a_head_before_the_turns_is_nobodys_and_counted(head: str) -> None:
    text = f"{head}Therapist: How are you?\nParticipant: I am low.\nTherapist: So?"
    if head.startswith("Patient"):
        text = text.replace("Participant", "Patient")
    own = [words.strip() for who, words in turns(text) if who is PARTICIPANT]
    assert own == ["I am low."]
    assert notes(text)["head_set_aside"] == 1


def test_greetings_are_no_head() -> None:
    text = "Interviewer: Hello\nParticipant: Hi\n\nInterviewer: So?\nParticipant: I am low."
    assert [words.strip() for who, words in turns(text) if who is PARTICIPANT] == [
        "Hi",
        "I am low.",
    ]


def test_a_role_in_brackets_behind_a_name_is_that_speakers() -> None:
    text = "Anna (interviewer): and now?\nJonas [participant]: I am tired\nMother (patient): hm"
    (asked, said, _) = parse_transcript(text).turns
    assert (asked.speaker, said.speaker) == (INTERVIEWER, PARTICIPANT)
    assert turns("Tom (patient): hi\nJo (patient's wife): ho\nDr. Lee: and?")[1][0] is Speaker.OTHER


@pytest.mark.parametrize("head", ["Participant: P12", "Patient: 0042", "Client: AB-7"])
def test_a_participants_number_above_letters_is_a_head(head: str) -> None:
    text = f"{head}\nI: and now?\nP: I am tired\nI: mhm\nP: yes"
    assert [turn.speaker for turn in parse_transcript(text).participant_turns()] == [
        PARTICIPANT
    ] * 2
    assert turns(text)[0] == (Speaker.UNKNOWN, f"{head}\n")


def test_numbers_of_recognised_speakers_stand_in_round_brackets() -> None:
    text = "(speaker 0) and now?\n(speaker 1) tired\n(speaker 0) mhm\n(speaker 1) yes"
    labels = SpeakerLabels(given=(("speaker 1", PARTICIPANT),))
    own = parse_transcript(text, labels)
    assert [own.words(turn).strip() for turn in own.participant_turns()] == ["tired", "yes"]
