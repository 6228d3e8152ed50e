import os
from pathlib import Path

import pytest
from tests.unit.evaluation.datasets.corpora import found, write

from ai_psychiatrist.domain.errors import TranscriptUnreadable
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.domain.transcript import Speaker
from ai_psychiatrist.evaluation.datasets.dataset import DatasetKind, IssueCode, SpeakerFilter
from ai_psychiatrist.evaluation.datasets.open_dataset import open_dataset

TALK = "Therapist: how are you\r\nClient: fine\nreally fine\nTherapist: good"


def cues(*lines: str) -> str:
    """Return a WebVTT file with a cue for each text."""
    timed = [f"00:0{at}.000 --> 00:0{at}.900\n{line}" for at, line in enumerate(lines)]
    return "\n\n".join(["WEBVTT", *timed])


def said_in(folder: Path, name: str, content: str) -> list[tuple[Speaker, str]]:
    dataset = open_dataset(write(folder, {name: content}))
    (unit,) = dataset.units
    transcript = dataset.transcript(unit.unit_id)
    return [(turn.speaker, transcript.words(turn).strip()) for turn in transcript.turns]


def test_plain_text_stays_exactly_as_it_is(tmp_path: Path) -> None:
    dataset = open_dataset(write(tmp_path, {"b.txt": TALK, "a.TXT": "hi"}))
    assert dataset.kind is DatasetKind.TEXT
    assert [unit.unit_id for unit in dataset.units] == ["a", "b"]
    assert dataset.transcript("b").text == TALK
    assert found(dataset) == {
        IssueCode.SPEAKERS_ASSUMED: ["a.TXT"],
        IssueCode.NO_LABELS: ["."],
    }


@pytest.mark.parametrize(
    ("speakers", "text"),
    [
        (SpeakerFilter.PARTICIPANT_ONLY, "Client: fine really fine"),
        (SpeakerFilter.QUESTION_CONTEXT, "Therapist: how are you\nClient: fine really fine"),
    ],
)
def test_filtered_text_is_written_line_by_line(
    tmp_path: Path, speakers: SpeakerFilter, text: str
) -> None:
    dataset = open_dataset(write(tmp_path, {"a.txt": TALK}), speakers=speakers)
    assert dataset.transcript("a").text == text


@pytest.mark.parametrize("unit_id", ["a", "a.txt"])
def test_labels_are_joined_by_name(tmp_path: Path, unit_id: str) -> None:
    header = ",".join(["unit_id", *(item.value for item in Item)])
    labels = {"labels.csv": f"{header}\n{unit_id},0,1,2,0,0,0,0,0\nz,0,0,0,0,0,0,0,0\n"}
    dataset = open_dataset(write(tmp_path, labels | {"a.txt": TALK, "b.txt": TALK}))
    first = dataset.units[0]
    assert first.labels is not None
    assert (first.unit_id, first.labels.total, first.participant_id) == ("a", 3, None)
    assert found(dataset) == {
        IssueCode.LABEL_MISSING: ["b"],
        IssueCode.TRANSCRIPT_MISSING: ["z"],
    }


def test_sessions_of_one_participant_are_told_by_a_column_beside_their_names(
    tmp_path: Path,
) -> None:
    rows = "unit_id,Participant_ID,total\na,anna,3\nb,anna,4\nc,,5\n"
    texts = {f"{name}.txt": TALK for name in "abc"}
    dataset = open_dataset(write(tmp_path, {"labels.csv": rows} | texts))
    assert [(unit.unit_id, unit.participant_id) for unit in dataset.units] == [
        ("a", "anna"),
        ("b", "anna"),
        ("c", None),
    ]
    assert all(unit.labels is not None for unit in dataset.units)


def test_a_second_rater_has_columns_of_the_items_with_that_ending(tmp_path: Path) -> None:
    header = ",".join(["unit_id", *(item.value for item in Item)])
    first = f"{header}\na,0,1,2,0,0,0,0,0\n"
    second = "unit_id,PHQ8_Sleep_rater2\na,3\n"
    files = {"labels.csv": first, "second.csv": second, "a.txt": TALK}
    (unit,) = open_dataset(write(tmp_path, files)).units
    assert unit.labels is not None
    assert unit.labels.total == 3
    assert {item: score for item, score in unit.labels.second_items.items() if score} == {
        Item.SLEEP: 3
    }


def test_labels_without_a_column_of_units_are_named_and_not_used(tmp_path: Path) -> None:
    dataset = open_dataset(write(tmp_path, {"a.txt": TALK, "labels.csv": "name,total\na,3\n"}))
    assert IssueCode.IDENTIFIER_MISSING in found(dataset)
    assert (dataset.is_whole, dataset.labelled) == (False, [])


def test_files_of_one_stem_keep_their_endings(tmp_path: Path) -> None:
    dataset = open_dataset(
        write(tmp_path, {"a.txt": TALK, "a.srt": "1\n00:00:01,0 --> 00:00:02,0\nhi"})
    )
    assert [unit.unit_id for unit in dataset.units] == ["a.srt", "a.txt"]


@pytest.mark.parametrize(
    ("files", "code"),
    [
        ({"sub/b.txt": TALK}, IssueCode.SUBFOLDER),
        ({"notes.pdf": b"%PDF"}, IssueCode.OTHER_FORM),
        ({"._a.txt": b"\x00\x05\x16\x07"}, IssueCode.APPLE_DOUBLE),
        ({"b.txt": b"\x00\x01\xff"}, IssueCode.NOT_TEXT),
        ({"b.txt": " \n"}, IssueCode.NO_WORDS),
        ({"b.txt": "Doctor: hm"}, IssueCode.SPEAKERS_UNKNOWN),
        ({"b.vtt": "no subtitles"}, IssueCode.SUBTITLES_REFUSED),
        ({"b.vtt": cues()}, IssueCode.NO_WORDS),
    ],
)
def test_odd_file_is_listed(tmp_path: Path, files: dict[str, str | bytes], code: IssueCode) -> None:
    dataset = open_dataset(write(tmp_path, {"a.txt": TALK} | files))
    assert list(found(dataset)) == [code, IssueCode.NO_LABELS]
    assert found(dataset)[code] == [next(iter(files)).split("/")[0]]
    for unit_id in dataset.unreadable:
        with pytest.raises(TranscriptUnreadable):
            dataset.transcript(unit_id)


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        pytest.param(
            ["<v Doctor>how are you</v>", "<v.loud Patient>fine</v>"],
            [(Speaker.INTERVIEWER, "how are you"), (Speaker.PARTICIPANT, "fine")],
            id="voices",
        ),
        pytest.param(
            ["<v Patient>fine", "thanks", "<v Patient>bye"],
            [
                (Speaker.PARTICIPANT, "fine"),
                (Speaker.UNKNOWN, "thanks"),
                (Speaker.PARTICIPANT, "bye"),
            ],
            id="cue_without_a_voice_is_nobodys",
        ),
        pytest.param(
            ["<v Patient>well <00:00.500><c.red>you</c> see"],
            [(Speaker.PARTICIPANT, "well you see")],
            id="tags_in_a_voice",
        ),
    ],
)
def test_speakers_of_subtitles_are_read(
    tmp_path: Path, lines: list[str], said: list[tuple[Speaker, str]]
) -> None:
    assert said_in(tmp_path, "a.vtt", cues(*lines)) == said


def test_unknown_voice_is_not_the_participant_and_is_not_named(tmp_path: Path) -> None:
    content = cues("<v Roger Bingham>i am tired", "<v Patient>no")
    dataset = open_dataset(write(tmp_path, {"a.vtt": content}))
    transcript = dataset.transcript("a")
    assert [transcript.words(turn) for turn in transcript.participant_turns()] == ["no"]
    assert found(dataset)[IssueCode.INTERVIEWER_ASSUMED] == ["a.vtt"]
    assert "Bingham" not in repr(dataset)


def test_words_that_belong_to_no_cue_are_told_by_line(tmp_path: Path) -> None:
    content = (
        cues("Patient: one") + "\n\nlost\n\nNOTE\nnot spoken\n\n00:08.000 --> 00:09.000\ntwo\n"
    )
    dataset = open_dataset(write(tmp_path, {"a.vtt": content}))
    (oddity,) = (odd for odd in dataset.issues if odd.code is IssueCode.WORDS_WITHOUT_TIMES)
    assert (oddity.where, oddity.line, oddity.count) == ("a.vtt", 6, 1)
    text = dataset.transcript("a").text
    assert "one" in text
    assert "lost" not in text


def test_digest_covers_every_file(tmp_path: Path) -> None:
    one = open_dataset(write(tmp_path / "one", {"a.txt": TALK, "b.txt": TALK}))
    other = open_dataset(write(tmp_path / "two", {"a.txt": TALK, "b.txt": TALK + "!"}))
    assert one.digest != other.digest


def test_public_subtitles_are_all_accounted_for(public_data: Path) -> None:
    """Every file is listed as refused or empty, as one that names nobody is, or gives a text."""
    folder = public_data / "transcripts" / "subtitles"
    dataset = open_dataset(folder)
    files = [path for path in folder.iterdir() if path.suffix in {".vtt", ".srt", ".sbv"}]
    assert len(dataset.units) == len(files)
    codes = (IssueCode.SUBTITLES_REFUSED, IssueCode.NO_WORDS, IssueCode.SPEAKERS_UNKNOWN)
    lost = [name for code in codes for name in found(dataset)[code]]
    assert len(lost) == len(dataset.unreadable) == 33
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
        IssueCode.NOT_TEXT: ["b.txt", "f.txt"],
        IssueCode.LINK_LEADS_OUT: ["c.txt", "d.txt"],
        IssueCode.NOT_A_LABEL_FILE: ["labels.csv"],
        IssueCode.NO_LABELS: ["."],
    }
    assert dataset.transcript("e").text == TALK
