"""Who speaks in a dataset: known, said for all files or for one, or refused with the labels."""

import json
from pathlib import Path

import pytest
from tests.unit.evaluation.datasets.corpora import daic, found, session, write

from ai_psychiatrist.domain.errors import InputError, TranscriptUnreadable
from ai_psychiatrist.domain.transcript import Speaker, Transcript
from ai_psychiatrist.evaluation.datasets.dataset import Dataset, IssueCode, SpeakerFilter
from ai_psychiatrist.evaluation.datasets.open_dataset import open_dataset
from ai_psychiatrist.services.transcripts.plain_text import parse_transcript
from ai_psychiatrist.services.transcripts.rendering import rendered_for_models
from ai_psychiatrist.services.transcripts.speaker_labels import SpeakerLabels

FIRST_NAMES = "Tom: how are you\nAnna: fine\nTom: good\nAnna: bye"
KNOWN = "Doctor: hi\nPatient: well\nAnna: she is sad\nAnna: she is"


def participant(dataset: Dataset, unit_id: str) -> list[str]:
    transcript = dataset.transcript(unit_id)
    return [transcript.words(turn).strip() for turn in transcript.participant_turns()]


def test_labels_that_nobody_knows_are_listed_and_the_unit_is_refused(tmp_path: Path) -> None:
    dataset = open_dataset(write(tmp_path, {"a.txt": FIRST_NAMES, "b.txt": KNOWN}))
    (oddity,) = (odd for odd in dataset.issues if odd.code is IssueCode.SPEAKERS_UNKNOWN)
    assert (oddity.where, oddity.labels) == ("a.txt", ("Tom", "Anna"))
    assert "--participant LABEL" in oddity.code.action
    assert "Anna" not in repr(dataset)
    assert dataset.unreadable == {"a"}
    with pytest.raises(TranscriptUnreadable) as caught:
        dataset.transcript("a")
    assert "Anna" not in str(caught.value)


def test_labels_for_all_files_need_not_be_in_each(tmp_path: Path) -> None:
    folder = write(tmp_path, {"a.txt": FIRST_NAMES, "b.txt": "Doctor: hi\nPatient: well"})
    plain = open_dataset(folder)
    dataset = open_dataset(
        folder, labels=SpeakerLabels(participant=("anna",), interviewer=("Tom",))
    )
    assert participant(dataset, "a") == ["fine", "bye"]
    assert participant(dataset, "b") == ["well"]
    assert dataset.transcript("a").turns[0].speaker is Speaker.INTERVIEWER
    assert dataset.digest != plain.digest


@pytest.mark.parametrize(
    "rows",
    [
        "a.txt,Anna,participant",
        "a,anna,Participant",
        "*,Anna,participant\n*,Zoe,participant",
        ",Anna,participant\na.txt,Tom,interviewer",
        "a.txt,Anna,participant\n*,Anna,interviewer",
    ],
    ids=["name", "stem", "every_file", "no_file", "one_before_all"],
)
def test_rows_of_speakers_say_who_is_who(tmp_path: Path, rows: str) -> None:
    files = {"a.txt": FIRST_NAMES, "speakers.csv": f"file,label,role\n{rows}\n"}
    dataset = open_dataset(write(tmp_path, files))
    assert [unit.unit_id for unit in dataset.units] == ["a"]
    assert participant(dataset, "a") == ["fine", "bye"]


def test_row_of_one_file_wins_over_known_labels_and_touches_no_other(tmp_path: Path) -> None:
    rows = "file,label,role\na.txt,Anna,participant\na.txt,Patient,other\n"
    files = {"a.txt": KNOWN, "b.txt": KNOWN, "speakers.csv": rows}
    dataset = open_dataset(write(tmp_path, files))
    assert participant(dataset, "a") == ["she is sad", "she is"]
    assert participant(dataset, "b") == ["well"]


def test_row_of_every_file_counts_where_its_label_is_beyond_those_that_are_told(
    tmp_path: Path,
) -> None:
    crowd = "\n".join(f"Guest{chr(65 + at)}: hm\nGuest{chr(65 + at)}: oh" for at in range(25))
    rows = "file,label,role\n*,Zoe,participant\n*,Nobody,interviewer\n"
    text = f"Patient: no\n{crowd}\nZoe: i am sad\nZoe: yes"
    dataset = open_dataset(write(tmp_path, {"a.txt": text, "speakers.csv": rows}))
    assert participant(dataset, "a") == ["i am sad", "yes"]


def test_row_whose_label_is_not_in_its_file_is_that_units_error(tmp_path: Path) -> None:
    files = {"a.txt": KNOWN, "b.txt": KNOWN, "speakers.csv": "file,label,role\na,Zoe,participant\n"}
    dataset = open_dataset(write(tmp_path, files))
    assert found(dataset)[IssueCode.SPEAKERS_UNKNOWN] == ["a.txt"]
    assert dataset.unreadable == {"a"}


def test_session_is_named_by_its_number_or_its_file(tmp_path: Path) -> None:
    talk = daic(("Anna", "i sleep"), ("Tom", "good"))
    for file in ("300", "300_P", "300_TRANSCRIPT.csv", "300_P/300_TRANSCRIPT.csv"):
        rows = f"file;label;role\n{file};Anna;participant\n"
        folder = write(tmp_path, session(300, talk) | {"speakers.csv": rows})
        assert participant(open_dataset(folder), "300") == ["i sleep"]


def test_all_words_can_be_given_to_one_person(tmp_path: Path) -> None:
    files = {
        "a.txt": "Note: i sleep\nWell: badly",
        "speakers.csv": "file,label,role\na,*,participant",
    }
    folder = write(tmp_path, files)
    for speakers in SpeakerFilter:
        transcript = open_dataset(folder, speakers=speakers).transcript("a")
        assert {turn.speaker for turn in transcript.turns} == {Speaker.PARTICIPANT}


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("name,role\n", "line 1.*file,label,role"),
        ("", "line 1.*file,label,role"),
        ("file,label,role\na.txt,Anna\n", "line 2.*columns"),
        ("file,label,role\n\na.txt,Anna,boss\n", "line 3.*participant, interviewer, other"),
        ("file,label,role\na.txt,,participant\n", "line 2.*1-60 characters"),
        ("file,label,role\nb.txt,Anna,participant\n", "line 2.*no transcript"),
        ("file,label,role\na,Anna,other\na.txt,ANNA,participant\n", "line 3.*line 2"),
        ('file,label,role\na,"Anna,other\n', "line 2"),
        (b"\x00\x01\xff\x00", "is not text"),
    ],
)
def test_broken_rows_of_speakers_are_refused_by_line(
    tmp_path: Path, content: str | bytes, says: str
) -> None:
    folder = write(tmp_path, {"a.txt": FIRST_NAMES, "speakers.csv": content})
    with pytest.raises(InputError, match=says) as caught:
        open_dataset(folder)
    assert "Anna" not in str(caught.value)


def test_line_of_an_interview_may_say_who_is_who(tmp_path: Path) -> None:
    turns = [{"speaker": "Tom", "text": "hi"}, {"speaker": "Anna", "text": "well"}]
    line = {"id": "a", "turns": turns, "speakers": {"Anna": "participant"}}
    (tmp_path / "talks.jsonl").write_text(json.dumps(line), encoding="utf-8")
    assert participant(open_dataset(tmp_path / "talks.jsonl"), "a") == ["well"]


def test_line_of_speakers_that_cannot_be_used_costs_the_unit(tmp_path: Path) -> None:
    text = f"speakers: Anna = boss\n{FIRST_NAMES}"
    dataset = open_dataset(write(tmp_path, {"a.txt": text, "b.txt": KNOWN}))
    assert found(dataset)[IssueCode.SPEAKERS_MISNAMED] == ["a.txt"]
    assert dataset.unreadable == {"a"}


@pytest.mark.parametrize("speakers", SpeakerFilter)
def test_filter_keeps_whose_words_are_whose(tmp_path: Path, speakers: SpeakerFilter) -> None:
    folder = write(tmp_path, {"a.txt": KNOWN})
    dataset = open_dataset(folder, speakers=speakers)
    assert participant(dataset, "a") == ["well"]
    others = [turn.speaker for turn in dataset.transcript("a").turns]
    assert (Speaker.OTHER in others) is (speakers is SpeakerFilter.BOTH)


@pytest.mark.parametrize("speakers", SpeakerFilter)
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.txt", FIRST_NAMES),
        ("a.txt", KNOWN.replace("Patient", "Tom").replace("Doctor", "Patient")),
        ("a.txt", f"a title\n{FIRST_NAMES}\nDoctor Who: is on"),
        ("a.csv", "speaker,text\nTom,how are you\nAnna,fine\nother speaker,she is sad\n,and i\n"),
        ("a.vtt", "WEBVTT\n\n00:01.000 --> 00:02.000\n<v Tom>hi</v>\nand i\n<v Anna>Tom: well"),
    ],
    ids=["names", "known_are_others", "a_title", "a_table", "voices"],
)
def test_text_that_is_kept_of_a_run_gives_the_same_speakers_without_the_options(
    tmp_path: Path, name: str, content: str, speakers: SpeakerFilter
) -> None:
    rows = "file,label,role\na,Anna,participant\n*,Tom,interviewer\n*,Patient,other\n"
    folder = write(tmp_path, {name: content, "speakers.csv": rows})
    transcript = open_dataset(folder, speakers=speakers).transcript("a")
    kept = parse_transcript(rendered_for_models(transcript))
    assert said(kept) == said(transcript)


def said(transcript: Transcript) -> dict[Speaker, str]:
    """Return whose words are whose, without line breaks; nobody's are not told from others'."""
    words: dict[Speaker, str] = {}
    for turn in transcript.turns:
        spoken = "".join(transcript.words(turn).split())
        speaker = Speaker.OTHER if turn.speaker is Speaker.UNKNOWN else turn.speaker
        if spoken:
            words[speaker] = words.get(speaker, "") + spoken
    return words


def test_transcript_of_assumed_speakers_is_not_filtered(tmp_path: Path) -> None:
    folder = write(tmp_path, {"a.txt": "i sleep badly.\nsince may."})
    dataset = open_dataset(folder, speakers=SpeakerFilter.PARTICIPANT_ONLY)
    assert dataset.transcript("a").text == "i sleep badly.\nsince may."
