import os
from pathlib import Path

import pytest
from tests.unit.evaluation.datasets.corpora import found, write

from ai_psychiatrist.domain.errors import InputError, TranscriptUnreadable
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.evaluation.datasets.dataset import DatasetKind, SpeakerFilter
from ai_psychiatrist.evaluation.datasets.oddities import OddityCode
from ai_psychiatrist.evaluation.datasets.opening import open_dataset
from ai_psychiatrist.services.transcripts.plain_text import parse_transcript

TALK = "Therapist: how are you\r\nClient: fine\nreally fine\nTherapist: good"


def cues(*lines: str) -> str:
    """Return a WebVTT file with a cue for each text."""
    timed = [f"00:0{at}.000 --> 00:0{at}.900\n{line}" for at, line in enumerate(lines)]
    return "\n\n".join(["WEBVTT", *timed])


def text_of(folder: Path, name: str, content: str) -> str:
    dataset = open_dataset(write(folder, {name: content}))
    (unit,) = dataset.units
    return dataset.transcript(unit.unit_id).text


def test_plain_text_stays_exactly_as_it_is(tmp_path: Path) -> None:
    dataset = open_dataset(write(tmp_path, {"b.txt": TALK, "a.TXT": "hi"}))
    assert dataset.kind is DatasetKind.TEXT
    assert [unit.unit_id for unit in dataset.units] == ["a", "b"]
    assert dataset.transcript("b").text == TALK
    assert found(dataset) == {
        OddityCode.SPEAKERS_ASSUMED: ["a.TXT"],
        OddityCode.NO_LABELS: ["."],
    }


@pytest.mark.parametrize(
    ("speakers", "text"),
    [
        (SpeakerFilter.PARTICIPANT_ONLY, "Participant: fine really fine"),
        (
            SpeakerFilter.QUESTION_CONTEXT,
            "Interviewer: how are you\nParticipant: fine really fine",
        ),
    ],
)
def test_filtered_text_is_written_line_by_line(
    tmp_path: Path, speakers: SpeakerFilter, text: str
) -> None:
    assert (
        open_dataset(write(tmp_path, {"a.txt": TALK}), speakers=speakers).transcript("a").text
        == text
    )


@pytest.mark.parametrize("unit_id", ["a", "a.txt"])
def test_labels_are_joined_by_name(tmp_path: Path, unit_id: str) -> None:
    header = ",".join(["unit_id", *(item.value for item in Item)])
    labels = {"labels.csv": f"{header}\n{unit_id},0,1,2,0,0,0,0,0\nz,0,0,0,0,0,0,0,0\n"}
    dataset = open_dataset(write(tmp_path, labels | {"a.txt": TALK, "b.txt": TALK}))
    first = dataset.units[0]
    assert first.labels is not None
    assert (first.unit_id, first.labels.total, first.participant_id) == ("a", 3, None)
    assert found(dataset) == {
        OddityCode.LABEL_MISSING: ["b"],
        OddityCode.TRANSCRIPT_MISSING: ["z"],
    }


def test_labels_without_a_column_of_units_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no column 'unit_id'"):
        open_dataset(write(tmp_path, {"a.txt": TALK, "labels.csv": "name,total\na,3\n"}))


def test_files_of_one_stem_keep_their_endings(tmp_path: Path) -> None:
    dataset = open_dataset(
        write(tmp_path, {"a.txt": TALK, "a.srt": "1\n00:00:01,0 --> 00:00:02,0\nhi"})
    )
    assert [unit.unit_id for unit in dataset.units] == ["a.srt", "a.txt"]


@pytest.mark.parametrize(
    ("files", "code"),
    [
        ({"sub/b.txt": TALK}, OddityCode.SUBFOLDER),
        ({"notes.pdf": b"%PDF"}, OddityCode.OTHER_FILE),
        ({"._a.txt": b"\x00\x05\x16\x07"}, OddityCode.APPLE_DOUBLE),
        ({"b.txt": b"\xff\xfe"}, OddityCode.NOT_TEXT),
        ({"b.txt": " \n"}, OddityCode.NO_WORDS),
        ({"b.txt": "Doctor: hm"}, OddityCode.NO_PARTICIPANT),
        ({"b.vtt": "no subtitles"}, OddityCode.SUBTITLES_REFUSED),
        ({"b.vtt": cues()}, OddityCode.NO_WORDS),
    ],
)
def test_odd_file_is_listed(
    tmp_path: Path, files: dict[str, str | bytes], code: OddityCode
) -> None:
    dataset = open_dataset(write(tmp_path, {"a.txt": TALK} | files))
    assert list(found(dataset)) == [code, OddityCode.NO_LABELS]
    assert found(dataset)[code] == [next(iter(files)).split("/")[0]]
    for unit_id in dataset.unreadable:
        with pytest.raises(TranscriptUnreadable):
            dataset.transcript(unit_id).text


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        pytest.param(
            ["<v Doctor>how are you</v>", "<v.loud Patient>fine</v>"],
            "Interviewer: how are you\nParticipant: fine",
            id="voices",
        ),
        pytest.param(
            ["<v Doctor>hi</v> <v Patient>hello</v>"],
            "Interviewer: hi\nParticipant: hello",
            id="two_voices_in_a_cue",
        ),
        pytest.param(
            ["<v Patient>fine", "thanks", "<v Patient>bye"],
            "Participant: fine\nInterviewer: thanks\nParticipant: bye",
            id="cue_without_a_voice_is_nobodys",
        ),
        pytest.param(
            ["Doctor: hi", "Patient: fine", "thanks"],
            "Interviewer: hi\nParticipant: fine\nParticipant: thanks",
            id="labels",
        ),
        pytest.param(
            ["- Doctor: hi\n- Patient: <i>fine</i> &amp; well <laughter>"],
            "Interviewer: hi\nParticipant: fine & well <laughter>",
            id="dialogue",
        ),
        pytest.param(["well <00:00.500><c.red>you</c> see"], "well you see", id="no_speakers"),
    ],
)
def test_speakers_of_subtitles_are_read(tmp_path: Path, lines: list[str], text: str) -> None:
    assert text_of(tmp_path, "a.vtt", cues(*lines)) == text


def test_unknown_voice_is_not_the_participant_and_is_not_named(tmp_path: Path) -> None:
    content = cues("<v Roger Bingham>i am tired", "<v Patient>no")
    dataset = open_dataset(write(tmp_path, {"a.vtt": content}))
    transcript = parse_transcript(dataset.transcript("a").text)
    assert [transcript.words(turn) for turn in transcript.participant_turns()] == ["no"]
    assert OddityCode.SPEAKER_UNKNOWN in found(dataset)
    assert "Bingham" not in repr(dataset)


def test_words_that_belong_to_no_cue_are_told_by_line(tmp_path: Path) -> None:
    content = (
        cues("Patient: one") + "\n\nlost\n\nNOTE\nnot spoken\n\n00:08.000 --> 00:09.000\ntwo\n"
    )
    dataset = open_dataset(write(tmp_path, {"a.vtt": content}))
    (oddity,) = (odd for odd in dataset.oddities if odd.code is OddityCode.WORDS_WITHOUT_TIMES)
    assert (oddity.where, oddity.line, oddity.count) == ("a.vtt", 6, 1)
    assert dataset.transcript("a").text == "Participant: one\nParticipant: two"


def test_digest_covers_every_file(tmp_path: Path) -> None:
    one = open_dataset(write(tmp_path / "one", {"a.txt": TALK, "b.txt": TALK}))
    other = open_dataset(write(tmp_path / "two", {"a.txt": TALK, "b.txt": TALK + "!"}))
    assert one.digest != other.digest


def test_public_subtitles_are_all_accounted_for(public_data: Path) -> None:
    """Every malformed file is listed as refused or empty, or gives a text."""
    folder = public_data / "transcripts" / "subtitles"
    dataset = open_dataset(folder)
    files = [path for path in folder.iterdir() if path.suffix in {".vtt", ".srt", ".sbv"}]
    assert len(dataset.units) == len(files)
    lost = found(dataset)[OddityCode.SUBTITLES_REFUSED] + found(dataset)[OddityCode.NO_WORDS]
    assert len(lost) == len(dataset.unreadable) == 8
    for unit in dataset.units:
        if unit.unit_id not in dataset.unreadable:
            assert dataset.transcript(unit.unit_id).text.strip()


def test_what_is_no_file_in_a_folder_is_listed_and_never_waited_for(tmp_path: Path) -> None:
    folder = write(tmp_path / "texts", {"a.txt": TALK})
    (tmp_path / "secret.txt").write_text(TALK)
    os.mkfifo(folder / "labels.csv")
    os.mkfifo(folder / "b.txt")
    (folder / "c.txt").symlink_to("/dev/zero")
    (folder / "d.txt").symlink_to(tmp_path / "secret.txt")
    (folder / "e.txt").symlink_to("a.txt")
    with (folder / "f.txt").open("wb") as file:
        file.truncate(1 << 34)
    dataset = open_dataset(folder)
    assert found(dataset) == {
        OddityCode.NOT_TEXT: ["b.txt", "f.txt"],
        OddityCode.LINK_LEADS_OUT: ["c.txt", "d.txt"],
        OddityCode.NO_LABELS: ["."],
    }
    assert dataset.transcript("e").text == TALK
