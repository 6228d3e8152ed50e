import json

import pytest

from ai_psychiatrist.services.transcripts.formats.known import read_content
from ai_psychiatrist.services.transcripts.utterances import (
    FileFault,
    FileReading,
    FileRefused,
    Noted,
    ReadingNote,
)


def read(value: object) -> FileReading:
    reading = read_content(json.dumps(value))
    assert isinstance(reading, FileReading)
    return reading


def said(value: object) -> list[tuple[str | None, str]]:
    return [(one.label, one.words) for one in read(value).utterances]


def whisperx(text: str, *words: tuple[str, str | None], **fields: object) -> dict[str, object]:
    spoken = [{"word": word} | ({"speaker": label} if label else {}) for word, label in words]
    return {"segments": [{"text": text, "words": spoken} | fields]}


def google(time: str, word: str) -> list[dict[str, object]]:
    return [{"startTime": time, "endTime": time, "word": word, "speakerTag": 0}]


def spoken(word: str, speaker: str) -> dict[str, object]:
    return {"type": "word", "alternatives": [{"content": word, "speaker": speaker}]}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param(
            whisperx("well, yes", ("well,", "A"), ("yes", None), speaker="A"),
            [("A", "well, yes")],
            id="one_speaker_covers_words_without",
        ),
        pytest.param(
            whisperx("well yes", ("well", "A"), ("yes", None)),
            [("A", "well"), (None, "yes")],
            id="nobody_named_for_the_whole",
        ),
        pytest.param(
            whisperx("well yes", ("well", "B"), ("yes", None), speaker="A"),
            [("B", "well"), (None, "yes")],
            id="words_disagree_with_the_whole",
        ),
        pytest.param(
            whisperx("- well, lost yes!", ("well", "A"), ("yes", "B")),
            [("A", "- well"), (None, ", lost"), ("B", "yes!")],
            id="words_of_the_text_that_nobody_has",
        ),
        pytest.param(
            whisperx("first well yes last", ("well", "A"), ("yes", "B")),
            [(None, "first"), ("A", "well"), ("B", "yes"), (None, "last")],
            id="at_both_ends",
        ),
        pytest.param(
            whisperx("你好很好", ("你", "A"), ("好", "A"), ("很", "B"), ("好", "B")),
            [("A", "你好"), ("B", "很好")],
            id="no_spaces",
        ),
        pytest.param(
            {"text": "I am fine", "segments": []}, [(None, "I am fine")], id="whisper_text_alone"
        ),
        pytest.param(
            {"text": "I am fine", "words": [{"word": "I", "start": 0, "end": 1}]},
            [(None, "I am fine")],
            id="whisper_words",
        ),
        pytest.param(
            {"transcription": [{"text": "hm", "speaker": "?"}, {"text": "ok", "speaker": "1"}]},
            [(None, "hm"), ("1", "ok")],
            id="whisper_cpp_not_sure",
        ),
        pytest.param(
            {
                "text": "well yes",
                "words": [{"text": "well", "speaker": "A"}, {"text": "yes", "speaker": "B"}],
                "utterances": None,
            },
            [("A", "well"), ("B", "yes")],
            id="assemblyai_words_with_speakers",
        ),
        pytest.param(
            {
                "speakers": [{"id": 0, "name": "Speaker"}, {"id": 1, "name": "Speaker"}],
                "monologues": [
                    {"speaker": 0, "elements": [{"type": "text", "value": "hi"}]},
                    {"speaker": 1, "elements": [{"type": "text", "value": "ho"}]},
                    {"speaker": None, "elements": [{"type": "text", "value": "he"}]},
                ],
            },
            [("0", "hi"), ("1", "ho"), (None, "he")],
            id="rev_shared_name",
        ),
        pytest.param(
            {
                "results": {
                    "channels": [],
                    "utterances": [
                        {"transcript": "ho", "channel": 1, "start": 1, "end": 2, "speaker": 0},
                        {"transcript": "hi", "channel": 0, "start": 0, "end": 1},
                    ],
                }
            },
            [("channel 0", "hi"), ("channel 1 speaker 0", "ho")],
            id="deepgram_utterances_of_channels",
        ),
        pytest.param(
            {
                "results": {
                    "channels": [
                        {
                            "alternatives": [
                                {
                                    "transcript": "",
                                    "paragraphs": {
                                        "paragraphs": [
                                            {"speaker": 1, "sentences": [{"text": "Hi."}]},
                                            {"sentences": [{"text": "Ho."}]},
                                        ]
                                    },
                                }
                            ]
                        }
                    ]
                }
            },
            [("1", "Hi."), (None, "Ho.")],
            id="deepgram_paragraphs",
        ),
        pytest.param(
            {"results": {"channels": [{"alternatives": [{"transcript": "hi"}]}]}},
            [(None, "hi")],
            id="deepgram_transcript_alone",
        ),
        pytest.param(
            {
                "response": {
                    "results": [
                        {"alternatives": [{"transcript": "hi", "words": google("0s", "hi")}]},
                        {"alternatives": [{"transcript": " ho", "words": google("1s", "ho")}]},
                    ]
                }
            },
            [(None, "hi"), (None, "ho")],
            id="google_without_speakers",
        ),
        pytest.param(
            {
                "format": "2.9",
                "metadata": {"language_pack_info": {"word_delimiter": ""}},
                "results": [spoken("你", "S1"), spoken("好", "S1"), spoken("嗯", "UU")],
            },
            [("S1", "你好"), (None, "嗯")],
            id="speechmatics_unsure_and_without_spaces",
        ),
        pytest.param(
            {
                "transcripts": [
                    {"text": "hi", "channel_index": 0, "words": [{"text": "hi", "start": 1}]},
                    {"text": "ho", "channel_index": 1, "words": [{"text": "ho", "start": 0}]},
                ]
            },
            [("channel 1", "ho"), ("channel 0", "hi")],
            id="elevenlabs_channels",
        ),
        pytest.param(
            {
                "recognizedPhrases": [
                    {"recognitionStatus": "Success", "nBest": [{"display": "Hi."}], "speaker": 1},
                    {"recognitionStatus": "NoMatch"},
                ]
            },
            [("1", "Hi.")],
            id="azure_phrase_that_was_not_recognised",
        ),
        pytest.param(
            {"segments": [{"text": "hi", "speaker": float("nan")}, {"text": None, "speaker": "A"}]},
            [(None, "hi")],
            id="nan_and_null_are_missing",
        ),
    ],
)
def test_words_go_to_nobody_whom_the_file_does_not_name(
    value: object, expected: list[tuple[str | None, str]]
) -> None:
    assert said(value) == expected


@pytest.mark.parametrize(
    ("value", "line"),
    [
        pytest.param({"segments": [{"text": "x"}, "y"]}, 2, id="segment_is_text"),
        pytest.param({"segments": [{"text": 5}]}, 1, id="text_is_number"),
        pytest.param({"segments": [{"start": 0}]}, 1, id="no_text"),
        pytest.param({"segments": [{"text": "x", "speaker": 1.5}]}, 1, id="speaker_is_fraction"),
        pytest.param({"segments": [{"text": "x", "speaker_id": "A"}]}, 1, id="other_speaker_field"),
        pytest.param({"segments": [{"text": "x", "start": []}]}, 1, id="time_is_list"),
        pytest.param({"segments": [{"text": "x", "start": True}]}, 1, id="time_is_bool"),
        pytest.param({"segments": [{"text": "x", "words": "x"}]}, 1, id="words_are_text"),
        pytest.param(
            whisperx("well yes", ("well", "A"), ("no", "B")), 1, id="words_of_another_text"
        ),
        pytest.param({"transcription": [{"text": "x", "offsets": []}]}, 1, id="offsets_are_list"),
        pytest.param(
            {"monologues": [{"speaker": 0, "elements": [{"type": "tag", "value": "x"}]}]},
            1,
            id="rev_unknown_element",
        ),
        pytest.param(
            {"monologues": [{"speaker": True, "elements": []}]}, 1, id="rev_speaker_is_bool"
        ),
        pytest.param(
            {
                "results": {
                    "channels": [
                        {"alternatives": [{"transcript": "x"}]},
                        {"alternatives": [{"transcript": "y"}]},
                    ]
                }
            },
            1,
            id="deepgram_channels_without_times",
        ),
        pytest.param(
            {"results": {"channels": [{"alternatives": [{"transcript": "", "words": [{}]}]}]}},
            1,
            id="deepgram_word_without_word",
        ),
    ],
)
def test_record_of_another_type_is_refused_by_number(value: object, line: int) -> None:
    with pytest.raises(FileRefused) as caught:
        read(value)
    assert (caught.value.fault, caught.value.line) == (FileFault.BROKEN_ROW, line)


def test_change_of_speakers_without_their_names_is_refused() -> None:
    with pytest.raises(FileRefused) as caught:
        read({"transcription": [{"text": "hi"}, {"text": "ho", "speaker_turn_next": True}]})
    assert (caught.value.fault, caught.value.line) == (FileFault.SPEAKERS_UNKNOWN, 2)


@pytest.mark.parametrize(
    "value",
    [
        {"segments": [{"text": "x"}], "turns": [{"speaker": "A", "text": "y"}]},
        {"segments": [{"text": "x"}], "utterances": [{"text": "y"}]},
    ],
)
def test_object_in_two_forms_is_refused(value: object) -> None:
    with pytest.raises(FileRefused) as caught:
        read(value)
    assert caught.value.fault is FileFault.UNKNOWN_FORM


@pytest.mark.parametrize("time", [float("nan"), float("inf"), -0.5, 10**400])
def test_time_that_no_recording_has_is_noted(time: float) -> None:
    reading = read({"segments": [{"text": "hi", "start": time, "end": 1}]})
    (one,) = reading.utterances
    assert (one.start_seconds, one.end_seconds) == (None, 1.0)
    assert reading.notes == (Noted(note=ReadingNote.TIME_UNREADABLE, line=1),)


def test_blank_words_are_left_out_and_noted() -> None:
    reading = read({"segments": [{"text": "hi"}, {"text": " \n"}]})
    assert len(reading.utterances) == 1
    assert reading.notes == (Noted(note=ReadingNote.BLANK_WORDS, line=2),)


def test_line_break_in_words_becomes_a_space() -> None:
    assert said({"segments": [{"text": "so\nI am ill"}]}) == [(None, "so I am ill")]


@pytest.mark.parametrize(
    "value",
    [
        {"segments": []},
        {"monologues": []},
        {"transcription": []},
        {"results": {"channels": []}},
        {"utterances": [{"text": " "}]},
    ],
)
def test_file_without_words_is_refused(value: object) -> None:
    with pytest.raises(FileRefused) as caught:
        read(value)
    assert caught.value.fault in {FileFault.NO_WORDS, FileFault.BROKEN_ROW}
