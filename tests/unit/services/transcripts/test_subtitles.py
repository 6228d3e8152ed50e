import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.services.transcripts.files import notes, said, text_of, words

from ai_psychiatrist.services.transcripts.formats.captions import read_subtitles
from ai_psychiatrist.services.transcripts.utterances import (
    FileFault,
    FileReading,
    FileRefused,
    Form,
    ReadingNote,
)

TIMES = "00:01.000 --> 00:02.500"


def cues(*payloads: str) -> str:
    return "WEBVTT\n\n" + "\n\n".join(f"{TIMES}\n{payload}" for payload in payloads) + "\n"


def read(*payloads: str) -> FileReading:
    return read_subtitles(cues(*payloads), Form.WEBVTT)


@pytest.mark.parametrize(
    ("payload", "expected"),
    [
        pytest.param("<v Tom>hi</v>", [("Tom", "hi")], id="closed"),
        pytest.param("<v Tom>hi", [("Tom", "hi")], id="open"),
        pytest.param("<v.loud.x Anna  Schmidt>hi", [("Anna Schmidt", "hi")], id="classes"),
        pytest.param("<v\tTom>hi", [("Tom", "hi")], id="tab"),
        pytest.param("<v\nTom>hi", [("Tom", "hi")], id="name_on_the_next_line"),
        pytest.param("<V Tom>hi</V>", [("Tom", "hi")], id="capital"),
        pytest.param("<v Tom &amp; Anna>hi", [("Tom & Anna", "hi")], id="entity_in_a_name"),
        pytest.param("<v Tom>one\ntwo</v>", [("Tom", "one two")], id="two_lines"),
        pytest.param("<v Tom>one<br/>two</v>", [("Tom", "one two")], id="break_tag"),
        pytest.param("<v Tom>a</v> b", [("Tom", "a"), (None, "b")], id="after_the_end"),
        pytest.param("<v Tom>a</v>\nb", [("Tom", "a"), (None, "b")], id="line_after_the_end"),
        pytest.param("<v Tom>a</v\t>b", [("Tom", "a"), (None, "b")], id="end_with_blank"),
        pytest.param("<v Tom>a</v.x>b", [("Tom", "a"), (None, "b")], id="end_with_class"),
        pytest.param(
            "<v Tom>a<v Anna>b</v>c</v>d",
            [("Tom", "a"), ("Anna", "b"), (None, "c"), (None, "d")],
            id="nested_voices",
        ),
        pytest.param("<v Tom><b>a</v> b</b>", [("Tom", "a"), (None, "b")], id="end_inside_bold"),
        pytest.param("a <v Tom>b", [(None, "a"), ("Tom", "b")], id="before_a_voice"),
        pytest.param("<v>a", [(None, "a")], id="no_name"),
        pytest.param("<v Tom>a<v >b", [("Tom", "a"), (None, "b")], id="blank_name"),
        pytest.param("<v Tom>a<v.x>b", [("Tom", "a"), (None, "b")], id="class_without_a_name"),
        pytest.param("<v Tom>a<v &nbsp;>b", [("Tom", "a"), (None, "b")], id="unseen_name"),
        pytest.param("<v Anna hello", [(None, "<v Anna hello")], id="broken"),
        pytest.param(
            "<v Tom>hi <v Anna hello",
            [("Tom", "hi"), (None, "<v Anna hello")],
            id="broken_after_a_voice",
        ),
        pytest.param(
            "<v Tom>a <v Anna b\n<v Tom>c",
            [("Tom", "a"), (None, "<v Anna b"), ("Tom", "c")],
            id="broken_between_voices",
        ),
        pytest.param(
            "<v Tom>a</v b", [("Tom", "a"), (None, "</v b")], id="broken_end_ends_the_voice"
        ),
        pytest.param(
            "<v Tom>a <v-Anna>b", [("Tom", "a"), (None, "<v-Anna>b")], id="not_quite_a_voice"
        ),
        pytest.param(
            "<v Tom>a &lt;v Anna>b", [("Tom", "a <v Anna>b")], id="entities_make_no_voice"
        ),
        pytest.param("<v Tom>- a\n- b", [("Tom", "- a"), (None, "- b")], id="dash_ends_the_voice"),
        pytest.param("<v Tom>a >> b", [("Tom", "a"), (None, ">> b")], id="arrows_end_the_voice"),
        pytest.param("<v Tom>&gt;&gt; a", [("Tom", ">> a")], id="arrows_of_its_own"),
        pytest.param("<v Tom>a - b", [("Tom", "a - b")], id="dash_inside"),
    ],
)
def test_words_are_credited_to_the_voice_that_the_file_names(
    payload: str, expected: list[tuple[str | None, str]]
) -> None:
    assert said(read(payload)) == expected


@pytest.mark.parametrize(
    ("payload", "expected"),
    [
        pytest.param("Tom: hi\nAnna: hello", ["Tom: hi", "Anna: hello"], id="labels_stay"),
        pytest.param("- hi\n- hello", ["- hi", "- hello"], id="dashes_stay"),
        pytest.param(">> ANNA: hi", [">> ANNA: hi"], id="arrows_stay"),
        pytest.param("[Anna] hi\n(Tom) ho", ["[Anna] hi", "(Tom) ho"], id="brackets_stay"),
        pytest.param("one<br>two", ["one", "two"], id="break_tag"),
        pytest.param(
            "<b>a</b> <c.red.x>b</c> <00:01.500>c<01:00:01.500> <i.x>d</i>",
            ["a b c d"],
            id="tags",
        ),
        pytest.param(
            "<lang de-DE>ja</lang> <ruby>ka<rt>n</rt></ruby> <u>x</u>", ["ja kan x"], id="rare_tags"
        ),
        pytest.param('<font color="#fff">a</font> {\\an8}b', ["a b"], id="foreign_tags"),
        pytest.param("a &amp; b &lt;i&gt; &#39;c&#x27;", ["a & b <i> 'c'"], id="entities"),
        pytest.param("R&D &copy 5 &nosuch; &", ["R&D &copy 5 &nosuch; &"], id="no_entities"),
        pytest.param("a&#10;Patient: b&NewLine;c", ["a Patient: b c"], id="no_line_break_appears"),
        pytest.param("&amp;lt;v Anna>", ["&lt;v Anna>"], id="decoded_once"),
        pytest.param(
            "<deep breath> <very> <i think so>", ["<deep breath> <very> <i think so>"], id="sounds"
        ),
        pytest.param("a < b <3 > c", ["a < b <3 > c"], id="signs"),
        pytest.param("a\u2028Patient: b\x0bc\x85d", ["a Patient: b c d"], id="rare_line_ends"),
        pytest.param("a\x00b", ["a\x00b"], id="nul"),
    ],
)
def test_line_without_a_voice_is_nobodys_and_keeps_its_words(
    payload: str, expected: list[str]
) -> None:
    assert said(read(payload)) == [(None, one) for one in expected]


def test_voice_never_runs_on_into_the_next_cue() -> None:
    reading = read("<v Anna>fine", "thanks", "<v Anna>bye")
    assert said(reading) == [("Anna", "fine"), (None, "thanks"), ("Anna", "bye")]
    assert notes(reading) == [(ReadingNote.WORDS_WITHOUT_SPEAKER, 7)]


def test_words_of_an_unnamed_voice_are_noted() -> None:
    assert notes(read("<v>a</v>")) == [(ReadingNote.WORDS_WITHOUT_SPEAKER, 4)]


def test_times_are_kept_in_seconds() -> None:
    reading = read_subtitles("WEBVTT\n\n01:00:00.250 --> 01:00:02.500\nhi\n", Form.WEBVTT)
    assert [(one.start_seconds, one.end_seconds) for one in reading.utterances] == [
        (3600.25, 3602.5)
    ]


@pytest.mark.parametrize(
    ("name", "form", "expected"),
    [
        pytest.param(
            "webvtt/teams.vtt",
            Form.WEBVTT,
            [
                ("Tom Berger", "How have you been sleeping lately?"),
                ("Anna Schmidt", "I sleep well, thank you & I wake up rested."),
                (
                    "Tom Berger",
                    "Good. I hardly sleep at all these days, I lie awake until four.",
                ),
                ("Anna Schmidt", "I am sorry to hear that."),
                ("Tom Berger", "And your mood, over the last two weeks?"),
                ("Anna Schmidt", "Quite cheerful, most days."),
            ],
            id="teams",
        ),
        pytest.param(
            "webvtt/zoom.vtt",
            Form.WEBVTT,
            [
                (None, "Tom Berger: How have you been sleeping lately?"),
                (None, "Anna Schmidt: I sleep well, thank you."),
                (None, "Tom Berger: Good. I hardly sleep at all these days."),
                (None, "I lie awake until four."),
                (None, "Anna Schmidt: I am cheerful, most days."),
            ],
            id="zoom",
        ),
        pytest.param(
            "webvtt/voices.vtt",
            Form.WEBVTT,
            [
                ("Tom", "How do you sleep?"),
                ("Anna Schmidt", "Very well."),
                ("Anna Schmidt", "I wake up rested <smiles>."),
                (None, "I never sleep, myself."),
                (None, "Somebody coughs."),
                ("Tom", "And your Stimmung, your mood?"),
            ],
            id="voices",
        ),
        pytest.param(
            "srt/labels.srt",
            Form.SRT,
            [
                (None, "Tom: How have you been sleeping?"),
                (None, "Anna: I sleep well,"),
                (None, "thank you."),
                (None, "[Tom] I hardly sleep at all."),
                (None, ">> ANNA: I am sorry."),
            ],
            id="srt_labels",
        ),
        pytest.param(
            "srt/dialogue.srt",
            Form.SRT,
            [
                (None, "- How have you been sleeping?"),
                (None, "- I sleep well."),
                (None, "- I hardly sleep at all."),
                (None, "- (Anna) I am sorry to hear that."),
            ],
            id="srt_dialogue",
        ),
        pytest.param(
            "sbv/youtube_studio.sbv",
            Form.SBV,
            [
                (None, "TOM: How have you been sleeping?"),
                (None, "ANNA: I sleep well,"),
                (None, "thank you."),
                (None, ">> TOM: I hardly sleep at all."),
                (None, "I lie awake until four."),
            ],
            id="sbv",
        ),
    ],
)
def test_file_of_a_tool_is_read_in_order(
    name: str, form: Form, expected: list[tuple[str | None, str]]
) -> None:
    reading = read_subtitles(text_of(name), form)
    assert (said(reading), reading.form) == (expected, form)
    assert all(one.end_seconds is not None for one in reading.utterances)


def test_captions_that_roll_are_kept_and_noted() -> None:
    reading = read_subtitles(text_of("webvtt/youtube_rolling.vtt"), Form.WEBVTT)
    assert words(reading) == [
        *["how have you been sleeping"] * 3,
        *["i sleep well thank you"] * 3,
        ">> [Music]",
    ]
    assert {note for note, _ in notes(reading)} == {ReadingNote.REPEATED_WORDS}
    assert len(notes(reading)) == 4


@pytest.mark.parametrize(
    ("text", "form", "pairs"),
    [
        pytest.param(
            text_of("webvtt/voices.vtt"),
            Form.WEBVTT,
            (("Anna Schmidt", "participant"), ("Tom", "interviewer")),
            id="note",
        ),
        pytest.param(
            cues("hi").replace("WEBVTT", "WEBVTT - Speakers: A=participant"),
            Form.WEBVTT,
            (("A", "participant"),),
            id="title",
        ),
        pytest.param(
            cues("hi").replace("WEBVTT", "WEBVTT\nspeakers: A = participant"),
            Form.WEBVTT,
            (("A", "participant"),),
            id="header",
        ),
        pytest.param(
            "speakers: A = participant\n\n1\n00:00:01,000 --> 00:00:02,000\nhi",
            Form.SRT,
            (("A", "participant"),),
            id="srt",
        ),
        pytest.param(
            "speakers: A = participant\n0:00:01.000,0:00:02.000\nhi",
            Form.SBV,
            (("A", "participant"),),
            id="sbv",
        ),
        pytest.param(
            cues("hi") + "\nNOTE\nspeakers: we know them\n", Form.WEBVTT, (), id="prose_in_a_note"
        ),
        pytest.param(cues("speakers: A = participant"), Form.WEBVTT, (), id="in_a_cue"),
    ],
)
def test_speakers_are_named_in_the_header_or_a_note(
    text: str, form: Form, pairs: tuple[tuple[str, str], ...]
) -> None:
    reading = read_subtitles(text, form)
    assert reading.speakers == pairs
    assert len(reading.utterances) == (6 if "Schmidt" in text else 1)


@pytest.mark.parametrize(
    ("text", "form", "lines"),
    [
        pytest.param(
            cues("one") + "\nlost\n\nNOTE\nnot spoken\n\n" + TIMES + "\ntwo",
            Form.WEBVTT,
            [6],
            id="block_without_times",
        ),
        pytest.param(
            cues("one") + "\n00:0x.000 --> 00:09.000\nlost\nlost too",
            Form.WEBVTT,
            [7, 8],
            id="bad_times",
        ),
        pytest.param(cues("one", "he said --> lost"), Form.WEBVTT, [7], id="arrow_in_words"),
        pytest.param(
            cues("one").replace("one", "same") + "\nsame", Form.WEBVTT, [6], id="like_a_kept_line"
        ),
        pytest.param(cues("one") + "\nNOTES of Anna", Form.WEBVTT, [6], id="not_quite_a_note"),
        pytest.param(
            "1\n00:00:01,000 --> 00:00:02,000\nhi\n\n2\n00:00:0x,000 --> 00:00:04,000\nlost",
            Form.SRT,
            [7],
            id="srt",
        ),
        pytest.param("0:00:01.000,0:00:02.000\nhi\n\nlost", Form.SBV, [4], id="sbv"),
        pytest.param(cues("one", "two"), Form.WEBVTT, [], id="nothing_lost"),
    ],
)
def test_words_that_belong_to_no_cue_are_noted_by_line(
    text: str, form: Form, lines: list[int]
) -> None:
    reading = read_subtitles(text, form)
    assert notes(reading) == [(ReadingNote.WORDS_WITHOUT_TIMES, line) for line in lines]
    assert not any("lost" in one for one in words(reading))


@pytest.mark.parametrize(
    ("text", "form", "fault", "line"),
    [
        pytest.param("", Form.WEBVTT, FileFault.NO_WORDS, None, id="empty"),
        pytest.param("WEBVTT", Form.WEBVTT, FileFault.NO_WORDS, None, id="header_only"),
        pytest.param(cues("<v Anna> </v>"), Form.WEBVTT, FileFault.NO_WORDS, None, id="no_words"),
        pytest.param("\n\nhi\n", Form.WEBVTT, FileFault.SUBTITLES_REFUSED, 3, id="no_header"),
        pytest.param("hi", Form.SRT, FileFault.SUBTITLES_REFUSED, 1, id="no_srt"),
        pytest.param("hi", Form.SBV, FileFault.SUBTITLES_REFUSED, 1, id="no_sbv"),
        pytest.param(
            "WEBVTT\n\nhi\n", Form.WEBVTT, FileFault.SUBTITLES_REFUSED, 3, id="words_without_cues"
        ),
        pytest.param(
            f"WEBVTT\n\n{'9' * 5000}:00:00.000 --> 00:01.000\nhi",
            Form.WEBVTT,
            FileFault.SUBTITLES_REFUSED,
            4,
            id="endless_hours",
        ),
        pytest.param(
            "WEBVTT\n\n" + f"{TIMES}\nx\n\n" * 1_000_000,
            Form.WEBVTT,
            FileFault.TOO_LARGE,
            None,
            id="a_million_cues",
        ),
        pytest.param(
            "WEBVTT\n" + "\n" * 5_000_000, Form.WEBVTT, FileFault.TOO_LARGE, None, id="line_ends"
        ),
    ],
)
def test_file_without_cues_is_refused(
    text: str, form: Form, fault: FileFault, line: int | None
) -> None:
    with pytest.raises(FileRefused) as caught:
        read_subtitles(text, form)
    assert (caught.value.fault, caught.value.line) == (fault, line)
    assert "hi" not in str(caught.value)


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
@pytest.mark.parametrize("start", ["", "\ufeff", "\ufeff\n \n"])
def test_line_ends_and_marks_at_the_start_change_nothing(start: str, end: str) -> None:
    text = start + cues("<v Tom>one\ntwo", "three")
    assert words(read_subtitles(text.replace("\n", end), Form.WEBVTT)) == ["one two", "three"]


def test_blank_words_are_noted_by_line() -> None:
    reading = read(" \u200b", "<v Anna></v>hi")
    assert words(reading) == ["hi"]
    assert [note for note in notes(reading) if note[0] is ReadingNote.BLANK_WORDS] == [
        (ReadingNote.BLANK_WORDS, 4),
        (ReadingNote.BLANK_WORDS, 7),
    ]


@pytest.mark.parametrize(
    "payload",
    [
        pytest.param("<v " * 1_700_000, id="voices_without_end"),
        pytest.param("<" * 5_000_000, id="signs"),
        pytest.param("&" * 5_000_000, id="ampersands"),
        pytest.param("{\\" * 2_500_000, id="styles_without_end"),
        pytest.param("<v Tom>\n" + " " * 5_000_000 + "x", id="blanks"),
        pytest.param("<v" + " " * 5_000_000 + "x>y", id="blanks_in_a_voice"),
    ],
)
def test_hostile_payload_of_five_megabytes_is_read_at_once(payload: str) -> None:
    """A pattern that goes back over what it read would keep each of these for hours."""
    assert len(read(payload).utterances) == 1


NAMES = ["Anna", "Tom", "Dr Who"]
MARKUP = ["<b>", "</b>", "<c.x>", "</c>", "<00:01.200>", "<i>", "<lang de>", "</lang>"]
PARTS = st.one_of(
    st.sampled_from(NAMES).map("<v {}>".format),
    st.sampled_from(["</v>", "<v>", "<v broken <", "\n", " ", "\n- ", ">> ", "&amp;", *MARKUP]),
    st.just("WORD"),
)


@given(st.lists(st.lists(PARTS, min_size=1, max_size=12), min_size=1, max_size=4))
def test_every_word_comes_out_once_and_of_no_other_voice(cues_of_parts: list[list[str]]) -> None:
    """The voice of a word is the last voice tag before it in its cue, or nobody."""
    number = 0
    payloads, spoken = [], {}
    for parts in cues_of_parts:
        voice = None
        payload = ""
        for part in parts:
            if part.startswith("<v") or part == "</v>":
                voice = part[3:-1] if part.endswith(">") else None
            if part == "WORD":
                number += 1
                spoken[f"w{number}w"] = voice
            payload += f" w{number}w " if part == "WORD" else part
        payloads.append(re.sub(r"\n\s*\n", "\n", payload).strip() or "x")
    found = [
        (word, label)
        for label, line in said(read("first", *payloads))
        for word in re.findall(r"w\d+w", line)
    ]
    assert [word for word, _ in found] == list(spoken)
    assert all(label in {None, spoken[word] or None} for word, label in found)


def test_public_subtitles_are_read_or_refused(public_data: Path) -> None:
    refused = []
    for path in sorted((public_data / "transcripts" / "subtitles").iterdir()):
        form = {".vtt": Form.WEBVTT, ".srt": Form.SRT, ".sbv": Form.SBV}.get(path.suffix)
        if form is None:
            continue
        try:
            assert read_subtitles(path.read_text("utf-8"), form).utterances
        except FileRefused:
            refused.append(path.name)
    assert refused == [
        "empty.vtt",
        "invalid.vtt",
        "invalid_format.sbv",
        *(f"invalid_format{number}.srt" for number in range(1, 5)),
        "no_captions.vtt",
    ]
