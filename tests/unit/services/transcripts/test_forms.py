import re
from pathlib import Path

import pytest

from ai_psychiatrist.domain.errors import TranscriptUnreadable
from ai_psychiatrist.services.transcripts.formats.known import read_content
from ai_psychiatrist.services.transcripts.transcript_reader import read_transcript
from ai_psychiatrist.services.transcripts.utterances import (
    FileFault,
    FileReading,
    FileRefused,
    Form,
    Noted,
    PlainText,
    ReadingNote,
)

FILES = Path(__file__).parents[3] / "data" / "transcripts"

SAID = (
    "How have you been sleeping lately?",
    "I sleep well, about eight hours.",
    "I lie awake a lot myself. And your mood?",
    "Quite cheerful, thanks.",
)
TIMES = ((0.0, 2.4), (2.9, 5.6), (6.1, 9.0), (9.4, 11.2))


def read(content: bytes | str, name: str = "") -> FileReading:
    reading = read_content(content, name=name)
    assert isinstance(reading, FileReading)
    return reading


def text_of(content: bytes | str, name: str = "") -> PlainText:
    reading = read_content(content, name=name)
    assert isinstance(reading, PlainText)
    return reading


@pytest.mark.parametrize("has_name", [True, False], ids=["named", "unnamed"])
@pytest.mark.parametrize(
    ("file", "form", "labels", "is_timed"),
    [
        ("assemblyai/assemblyai.json", Form.ASSEMBLYAI, "A B", True),
        ("aws/aws_transcribe.json", "aws", "spk_0 spk_1", True),
        ("aws/aws_transcribe_2022.json", "aws", "spk_0 spk_1", True),
        ("aws/aws_channels.json", "aws", "ch_0 ch_1", True),
        ("azure/azure_fast.json", "azure", "1 2", True),
        ("azure/azure_batch.json", "azure", "1 2", True),
        ("chat/interview.cha", Form.CHAT, "INV PAR", True),
        ("deepgram/deepgram_words.json", Form.DEEPGRAM, "0 1", True),
        ("deepgram/deepgram_utterances.json", Form.DEEPGRAM, "0 1", True),
        ("deepgram/deepgram_multichannel.json", Form.DEEPGRAM, "channel 0,channel 1", True),
        ("dialogue_json/chat.json", Form.DIALOGUE_JSON, "assistant user", False),
        ("dialogue_json/content_parts.json", Form.DIALOGUE_JSON, "assistant user", False),
        ("dialogue_json/sharegpt.json", Form.DIALOGUE_JSON, "gpt human", False),
        ("dialogue_json/exchanges.json", Form.DIALOGUE_JSON, "therapist client", False),
        ("dialogue_json/turns.json", Form.DIALOGUE_JSON, "Anna Jonas", True),
        ("elevenlabs/elevenlabs.json", "elevenlabs", "speaker_0 speaker_1", True),
        ("fireflies/fireflies_api.json", "fireflies", "Anna Schmidt,Jonas Weber", True),
        ("fireflies/fireflies_export.json", "fireflies", "Anna Schmidt,Jonas Weber", True),
        ("google/google_v1.json", "google", "1 2", True),
        ("google/google_v2.json", "google", "1 2", True),
        ("jsonl/names.jsonl", Form.JSONL, "Anna Jonas", True),
        ("jsonl/one_interview.jsonl", Form.DIALOGUE_JSON, "Anna Jonas", True),
        ("jsonl/turns.jsonl", Form.JSONL, "Anna Jonas", True),
        ("rev/rev_ai.json", Form.REV, "0 1", True),
        ("rev/rev_human.json", Form.REV, "Anna Schmidt,Jonas Weber", True),
        ("speechmatics/speechmatics.json", "speechmatics", "S1 S2", True),
        ("table/question_answer.csv", Form.TABLE, "Question Answer", False),
        ("table/comma.csv", Form.TABLE, "Anna Jonas", True),
        ("table/tab.tsv", Form.TABLE, "Anna Jonas", False),
        ("whisper/openai_whisper.json", Form.WHISPER, "", True),
        ("whisper/openai_whisper.tsv", Form.TABLE, "", True),
        ("whisper/whisper_cpp.json", Form.WHISPER, "", True),
        ("whisper/whisper_cpp_diarized.json", Form.WHISPER, "0 1", True),
        ("whisperx/whisperx.json", Form.WHISPERX, "SPEAKER_00 SPEAKER_01", True),
        ("whisperx/openai_diarized.json", Form.WHISPERX, "A B", True),
    ],
)
def test_file_of_each_tool_gives_the_same_turns(
    file: str, form: str, labels: str, *, is_timed: bool, has_name: bool
) -> None:
    path = FILES / file
    reading = read(path.read_bytes(), path.name if has_name else "")
    names: list[str | None] = [*labels.split("," if "," in labels else None)]
    assert reading.form == form
    assert [said.label for said in reading.utterances] == ([*names, *names] or [None] * 4)
    words = tuple(said.words.removesuffix(" <laugh>") for said in reading.utterances)
    assert words == SAID
    times = tuple((said.start_seconds, said.end_seconds) for said in reading.utterances)
    assert times == (TIMES if is_timed else ((None, None),) * 4)
    assert reading.notes == ()


def test_text_given_by_itself_is_read_as_its_bytes_are() -> None:
    for path in FILES.rglob("*.json"):
        content = path.read_text(encoding="utf-8")
        assert read_content("\ufeff" + content) == read_content(path.read_bytes())


def test_roles_that_a_file_names_are_passed_on() -> None:
    roles = (("Anna", "interviewer"), ("Jonas", "participant"))
    assert read((FILES / "dialogue_json/turns.json").read_bytes()).speakers == roles
    text = text_of((FILES / "dialogue_json/text.json").read_bytes())
    assert text.speakers == roles
    assert text.text.splitlines()[1] == f"Jonas: {SAID[1]}"


def test_segment_of_two_speakers_is_cut_by_word() -> None:
    reading = read((FILES / "whisperx/whisperx_shared_segment.json").read_bytes())
    said = [(one.label, one.words) for one in reading.utterances[2:]]
    assert said == [
        ("SPEAKER_00", "And your mood?"),
        ("SPEAKER_01", "Quite cheerful,"),
        (None, "24"),
        ("SPEAKER_01", "7."),
    ]
    assert reading.notes == (Noted(note=ReadingNote.WORDS_WITHOUT_SPEAKER, line=3),)


def test_assumed_encoding_is_noted_and_line_ends_are_kept() -> None:
    text = text_of((FILES / "plain_text/cp1252.txt").read_bytes())
    assert (text.form, text.encoding) == (Form.TEXT, "cp1252")
    assert text.notes == (Noted(note=ReadingNote.ENCODING_ASSUMED),)
    assert text.text == "Anna: Schläfst du gut?\r\nJonas: Ja, “sehr” gut.\r\n"


@pytest.mark.parametrize(
    "text",
    [
        "[laughs] I am fine",
        "[00:01] Anna: hello",
        "{pause} well",
        "[1] Anna: how are you?\n[2] Jonas: fine",
        "Anna: so, how are you?\nJonas: well, fine, thanks",
        'Anna: the arrow "-->" points right\nJonas: ok',
        "Anna: it says WEBVTT on top\nJonas: 00:00:01.000 --> 00:00:02.000",
        "WEBVTT is what the file was called\nJonas: ok",
        "Text, value and speaker: that is what we talk about.\nSo, yes.",
        "Well, text, I think.\nYes, no.",
        "1\nAnna: how are you?",
        "Transcript\t12.03.2024\nAnna\thow are you?\nJonas\tfine",
        "true",
        "42",
        "",
        "\t\n",
    ],
)
def test_ordinary_text_is_plain_text(text: str) -> None:
    read_text = text_of(text)
    assert (read_text.form, read_text.text) == (Form.TEXT, text)


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("WEBVTT\n\n00:01.000 --> 00:02.000\n<v Anna>hello\n", Form.WEBVTT),
        ("1\n00:00:01,000 --> 00:00:02,000\nAnna: hello\n", Form.SRT),
        ("0:00:01.000,0:00:02.000\nAnna: hello\n", Form.SBV),
        ("start_time\tstop_time\tspeaker\tvalue\n1.0\t2.0\tEllie\thello\n", Form.DAIC_WOZ),
        ("Start_Time,End_Time,Text,Confidence\n1.0,2.0,hello,0.9\n", Form.E_DAIC),
    ],
)
def test_forms_with_readers_of_their_own_are_told(text: str, form: Form) -> None:
    assert read(text).form is form


def test_number_of_a_session_comes_from_its_name() -> None:
    header = "start_time\tstop_time\tspeaker\tvalue\n"
    text = header + "300\t301\tEllie\thello\n300\t302\tParticipant\thi\n400\t401\tEllie\tbye\n"
    assert [said.words for said in read(text, "444_TRANSCRIPT.csv").utterances] == ["bye"]
    assert len(read(text, "443_TRANSCRIPT.csv").utterances) == 3


@pytest.mark.parametrize(
    ("content", "name", "fault"),
    [
        pytest.param('{"a": 1}', "", FileFault.UNKNOWN_FORM, id="object"),
        pytest.param("[]", "", FileFault.NO_WORDS, id="empty_list"),
        pytest.param("[1, 2]", "", FileFault.BROKEN_ROW, id="numbers"),
        pytest.param('{"text": "I am fine', "", FileFault.BROKEN_ROW, id="cut_off"),
        pytest.param('[{"speaker": "A", "text": "x"},', "", FileFault.BROKEN_ROW, id="cut_list"),
        pytest.param('x{"turns": []}', "a.json", FileFault.UNKNOWN_FORM, id="named_json_without"),
        pytest.param("[oops", "a.json", FileFault.BROKEN_ROW, id="named_json"),
        pytest.param("[" * 100_000, "", FileFault.BROKEN_ROW, id="deep"),
        pytest.param('{"turns":' * 100_000, "", FileFault.BROKEN_ROW, id="deep_objects"),
        pytest.param(
            '{"turns": [{"speaker": "A", "text": "x \\ud83d"}]}', "", FileFault.NOT_TEXT,
            id="half_a_character",
        ),
        pytest.param(
            '{"turns": [{"speaker": "A", "speaker": "B", "text": "x"}]}', "", FileFault.BROKEN_ROW,
            id="key_twice",
        ),
        pytest.param('{"text": ' + "9" * 5_000 + "}", "", FileFault.BROKEN_ROW, id="digits"),
        pytest.param("{\\rtf1\\ansi hello}", "", FileFault.UNKNOWN_FORM, id="rtf"),
        pytest.param("<!DOCTYPE html><p>hello", "", FileFault.UNKNOWN_FORM, id="html"),
        pytest.param('<?xml version="1.0"?><tt/>', "", FileFault.UNKNOWN_FORM, id="xml"),
        pytest.param("a,b\nc,d", "x.csv", FileFault.UNKNOWN_FORM, id="csv_of_no_known_header"),
        pytest.param("participant_ID,Gender\n900,1", "", FileFault.UNKNOWN_FORM, id="labels"),
        pytest.param("WEBVTT\n\nNOTE Anna\n", "", FileFault.NO_WORDS, id="subtitles_without_cues"),
        pytest.param("Anna: hello", "a.srt", FileFault.SUBTITLES_REFUSED, id="named_subtitles"),
        pytest.param("Anna: \udc80", "", FileFault.NOT_TEXT, id="lone_surrogate"),
        pytest.param(b"\x00\x05\x16\x07" + bytes(60), "9_TRANSCRIPT.csv", FileFault.NOT_TEXT,
                     id="apple_double"),
    ],
)  # fmt: skip
def test_what_is_no_transcript_is_refused(
    content: bytes | str, name: str, fault: FileFault
) -> None:
    with pytest.raises(FileRefused) as caught:
        read_content(content, name=name)
    assert caught.value.fault is fault
    assert str(caught.value) == fault.value
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


@pytest.mark.parametrize(
    ("content", "name", "what"),
    [
        pytest.param(b"%PDF-1.7\n", "", "PDF", id="pdf"),
        pytest.param(
            b"PK\x03\x04" + bytes(26) + b"mimetypeapplication/vnd.oasis.opendocument.text", "",
            ".odt", id="odt",
        ),
        pytest.param(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "", ".doc", id="doc"),
        pytest.param(b"\xef\xbb\xbf{\\rtf1\\ansi hello}", "", "RTF", id="rtf"),
        pytest.param("<!DOCTYPE html>\n<p>hello", "", "HTML", id="html"),
        pytest.param('<?xml version="1.0"?>\n<html>', "", "HTML", id="xhtml"),
        pytest.param(
            '<?xml version="1.0" encoding="UTF-8"?>\n<ANNOTATION_DOCUMENT AUTHOR="">', "", ".eaf",
            id="eaf",
        ),
        pytest.param(
            'File type = "ooTextFile"\nObject class = "TextGrid"\n'.encode("utf-16"), "",
            "TextGrid", id="textgrid",
        ),
        pytest.param("[Script Info]\nTitle: a", "", "ASS", id="ass"),
        pytest.param(b"Participant: hello", "talk.DOCX", ".docx", id="text_named_docx"),
    ],
)  # fmt: skip
def test_file_of_another_program_is_named_with_what_to_save_it_as(
    content: bytes | str, name: str, what: str
) -> None:
    with pytest.raises(TranscriptUnreadable, match=rf"it is .*{re.escape(what)}.*(?:save|export)"):
        read_transcript(content, name=name)


def test_file_of_several_interviews_is_refused_at_the_second() -> None:
    with pytest.raises(FileRefused) as caught:
        read_content((FILES / "jsonl/several_interviews.jsonl").read_bytes())
    assert (caught.value.fault, caught.value.line) == (FileFault.SEVERAL_INTERVIEWS, 2)


def test_no_words_are_shown() -> None:
    shown = repr(read((FILES / "dialogue_json/turns.json").read_bytes()))
    shown += repr(text_of((FILES / "dialogue_json/text.json").read_bytes()))
    assert "sleep" not in shown
    assert "Jonas" not in shown
