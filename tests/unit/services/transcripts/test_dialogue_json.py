import json

import pytest

from ai_psychiatrist.services.transcripts.formats.chat_json import read_dialogue
from ai_psychiatrist.services.transcripts.formats.known import read_content
from ai_psychiatrist.services.transcripts.utterances import (
    FileFault,
    FileReading,
    FileRefused,
    Form,
    Noted,
    PlainText,
    ReadingNote,
)

HI = {"speaker": "Anna", "text": "hi"}
HO = {"speaker": "Jonas", "text": "ho"}


def lines(*values: object) -> str:
    return "\n".join(json.dumps(value) for value in values) + "\n"


def said(content: str) -> list[tuple[str | None, str]]:
    reading = read_content(content)
    assert isinstance(reading, FileReading)
    return [(one.label, one.words) for one in reading.utterances]


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(lines({"turns": [HI, HO]}), id="turns"),
        pytest.param(lines({"conversations": [[HI], [HO]]}), id="exchanges"),
        pytest.param(
            lines(
                {
                    "messages": [
                        {"role": "Anna", "content": "hi"},
                        {"role": "Jonas", "content": "ho"},
                    ]
                }
            ),
            id="messages",
        ),
        pytest.param(lines([HI, HO]), id="list"),
        pytest.param(lines([{"turns": [HI, HO]}]), id="list_of_one_interview"),
        pytest.param(lines(HI, HO), id="turn_a_line"),
        pytest.param("\n" + lines(HI) + "\r\n  \n" + lines(HO), id="blank_lines"),
        pytest.param(lines(HI, HO).replace("\n", "\r\n"), id="windows_lines"),
        pytest.param(lines({"speaker": " Anna\n", "text": " hi "}, HO), id="loose"),
    ],
)
def test_every_way_to_write_turns_gives_the_same(content: str) -> None:
    assert said(content) == [("Anna", "hi"), ("Jonas", "ho")]


def test_one_turn_is_a_transcript() -> None:
    assert said(json.dumps(HI)) == [("Anna", "hi")]


def test_turn_without_speaker_belongs_to_nobody() -> None:
    turns = [HI, {"speaker": None, "text": "hm"}, {"role": " ", "text": "oh"}]
    reading = read_dialogue({"turns": turns})
    assert isinstance(reading, FileReading)
    assert [one.label for one in reading.utterances] == ["Anna", None, None]
    note = ReadingNote.WORDS_WITHOUT_SPEAKER
    assert reading.notes == (Noted(note=note, line=2), Noted(note=note, line=3))


def test_text_of_a_line_is_left_to_the_reader_of_labels() -> None:
    reading = read_content(json.dumps({"id": 1, "text": "Anna: hi\nJonas: ho"}))
    assert isinstance(reading, PlainText)
    assert (reading.form, reading.text) == (Form.DIALOGUE_JSON, "Anna: hi\nJonas: ho")


@pytest.mark.parametrize(
    ("content", "fault", "line"),
    [
        pytest.param(lines(HI, [HO]), FileFault.BROKEN_ROW, 2, id="line_is_list"),
        pytest.param(lines(HI) + "{oops\n", FileFault.BROKEN_ROW, 2, id="line_is_no_json"),
        pytest.param(lines(HI) + "Jonas: ho\n", FileFault.BROKEN_ROW, 2, id="line_is_text"),
        pytest.param(
            lines(HI, {"turns": [HO]}), FileFault.UNKNOWN_FORM, 2, id="turns_and_interviews"
        ),
        pytest.param(
            lines({"text": "hi"}, {"text": "ho"}), FileFault.SEVERAL_INTERVIEWS, 2, id="texts"
        ),
        pytest.param(
            lines(HI | {"session_id": 1}, HO | {"session_id": 2}),
            FileFault.SEVERAL_INTERVIEWS,
            2,
            id="turns_of_two_interviews",
        ),
        pytest.param(
            lines({"turns": [HI], "messages": [HO]}), FileFault.UNKNOWN_FORM, None, id="two_forms"
        ),
        pytest.param(lines({"turns": "hi"}), FileFault.BROKEN_ROW, 1, id="turns_are_text"),
        pytest.param(lines({"turns": [HI, 5]}), FileFault.BROKEN_ROW, 2, id="turn_is_number"),
        pytest.param(
            lines({"turns": [HI, {"speaker": 1, "text": "ho"}]}),
            FileFault.BROKEN_ROW,
            2,
            id="speaker_is_number",
        ),
        pytest.param(
            lines({"turns": [HI, HO | {"role": "participant"}]}),
            FileFault.BROKEN_ROW,
            2,
            id="two_speakers",
        ),
        pytest.param(
            lines({"turns": [{"speaker": "A", "text": ["x"]}]}), FileFault.BROKEN_ROW, 1,
            id="text_is_list",
        ),
        pytest.param(lines({"turns": [{"speaker": "A"}]}), FileFault.BROKEN_ROW, 1, id="no_text"),
        pytest.param(lines({"turns": [HI, {"text": "ho"}]}), FileFault.BROKEN_ROW, 2,
                     id="speaker_is_not_said"),
        pytest.param(lines({"turns": [HI, {"name": "Jonas", "text": "ho"}]}), FileFault.BROKEN_ROW,
                     2, id="speaker_under_another_name"),
        pytest.param(
            lines({"text": "hi ho", "words": [{"text": "hi", "speaker_id": "a"}]}),
            FileFault.BROKEN_ROW, 1, id="words_that_are_not_all_of_the_text",
        ),
        pytest.param(lines({"turns": []}), FileFault.NO_WORDS, None, id="no_turns"),
        pytest.param(lines({"conversations": ["hi"]}), FileFault.BROKEN_ROW, 1, id="no_exchange"),
        pytest.param(
            lines({"turns": [HI], "speakers": {"Anna": "patient"}}), FileFault.BROKEN_ROW, 1,
            id="role_is_not_known",
        ),
        pytest.param(
            lines({"turns": [HI], "speakers": ["Anna"]}), FileFault.BROKEN_ROW, 1,
            id="roles_are_list",
        ),
        pytest.param(lines({"text": 5}), FileFault.UNKNOWN_FORM, 1, id="whole_text_is_number"),
    ],
)  # fmt: skip
def test_other_forms_are_refused_by_number(
    content: str, fault: FileFault, line: int | None
) -> None:
    with pytest.raises(FileRefused) as caught:
        read_content(content)
    assert (caught.value.fault, caught.value.line) == (fault, line)


def test_more_turns_than_a_transcript_has_are_refused() -> None:
    with pytest.raises(FileRefused) as caught:
        read_content(lines(HI) * 200_001)
    assert (caught.value.fault, caught.value.line) == (FileFault.TOO_LARGE, 200_001)


def test_more_objects_than_a_transcript_has_are_refused_unread() -> None:
    with pytest.raises(FileRefused) as caught:
        read_content('{"turns": [' + "{}," * 1_000_001 + "{}]}")
    assert caught.value.fault is FileFault.TOO_LARGE


def test_a_role_that_several_share_is_told_apart_by_their_names() -> None:
    turns = [
        {"role": "assistant", "content": "and you?"},
        {"role": "user", "name": "Anna", "content": "hi"},
        {"role": "user", "name": "Jonas", "content": "ho"},
    ]
    assert said(json.dumps(turns)) == [("assistant", "and you?"), ("Anna", "hi"), ("Jonas", "ho")]


def test_names_that_do_not_recur_are_those_of_interviews() -> None:
    with pytest.raises(FileRefused) as caught:
        read_content(lines({"name": "a", "text": "P: hi"}, {"name": "b", "text": "P: ho"}))
    assert caught.value.fault is FileFault.SEVERAL_INTERVIEWS


def test_a_turn_without_words_is_left_out_and_noted() -> None:
    turns = [HI, HO | {"text": None}, HO | {"text": float("nan")}, HO]
    reading = read_content(json.dumps(turns))
    assert isinstance(reading, FileReading)
    assert [one.label for one in reading.utterances] == ["Anna", "Jonas"]
    assert [note.note for note in reading.notes] == [ReadingNote.BLANK_WORDS] * 2
