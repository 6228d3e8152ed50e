"""A folder of whatever files: each is read, or named as not read, and counted."""

from pathlib import Path

import pytest
from tests.unit.evaluation.datasets.corpora import AVEC_2017, PLAIN, ZEROS, found, session, write

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.domain.transcript import Speaker
from ai_psychiatrist.evaluation.datasets.dataset import Cost, DatasetKind, IssueCode
from ai_psychiatrist.evaluation.datasets.open_dataset import open_dataset

TALK = "Therapist: how are you\nClient: fine"
CUES = "WEBVTT\n\n00:01.000 --> 00:02.000\n<v Doctor>hi\n\n00:02.000 --> 00:03.000\n<v Patient>well"
TURNS = '{"speaker": "Doctor", "text": "hi"}\n{"speaker": "Patient", "text": "well"}\n'
TABLE = "start,end,speaker,text\n0,1,Doctor,hi\n1,2,Patient,well\n"


def units(path: Path) -> list[str]:
    return [unit.unit_id for unit in open_dataset(path).units]


def test_texts_beside_a_session_are_units_as_well(tmp_path: Path) -> None:
    texts = {f"t{at:02}.txt": TALK for at in range(30)}
    dataset = open_dataset(write(tmp_path, session(300) | texts))
    assert dataset.kind is DatasetKind.MIXED
    assert [unit.unit_id for unit in dataset.units] == ["300", *(name[:-4] for name in texts)]
    assert [unit.participant_id for unit in dataset.units[:2]] == [300, None]
    assert dataset.transcript("t00").text == TALK
    assert dataset.not_read == {}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.txt", TALK),
        ("a.text", TALK),
        ("a.csv", TABLE),
        ("a.tsv", TABLE.replace(",", "\t")),
        ("a.vtt", CUES),
        ("a.json", f'{{"turns": [{TURNS.strip().replace(chr(10), ",")}]}}'),
        ("a.jsonl", TURNS),
        ("a.ndjson", TURNS),
        ("300.csv", PLAIN),
    ],
)
def test_file_of_every_form_is_a_unit_in_a_folder_and_by_itself(
    tmp_path: Path, name: str, content: str
) -> None:
    folder = write(tmp_path, {name: content, "README.txt": "all are made up"})
    stem = name.partition(".")[0]
    together, alone = open_dataset(folder), open_dataset(folder / name)
    assert [unit.unit_id for unit in together.units] == [unit.unit_id for unit in alone.units]
    transcript = together.transcript(stem)
    assert transcript == alone.transcript(stem)
    speakers = [turn.speaker for turn in transcript.turns]
    assert speakers == [Speaker.INTERVIEWER, Speaker.PARTICIPANT]
    assert together.not_read == {}


def test_session_given_by_itself_has_its_number(tmp_path: Path) -> None:
    dataset = open_dataset(write(tmp_path, session(373)) / "373_P/373_TRANSCRIPT.csv")
    assert (dataset.kind, dataset.units[0].participant_id) == (DatasetKind.DAIC_WOZ, 373)


def test_file_of_several_interviews_in_a_folder_is_a_unit_without_a_text(tmp_path: Path) -> None:
    lines = '{"id": "a", "text": "P: hi"}\n{"id": "b", "text": "P: hi"}\n'
    dataset = open_dataset(write(tmp_path, {"a.txt": TALK, "b.jsonl": lines}))
    assert dataset.unreadable == {"b"}
    assert found(dataset)[IssueCode.SEVERAL_INTERVIEWS] == ["b.jsonl"]
    assert len(open_dataset(tmp_path / "b.jsonl").units) == 2


@pytest.mark.parametrize(
    "name",
    "a.pdf a.doc a.rtf a.odt a.html a.xml a.eaf a.xlsx a.zip a script.py".split(),
)
def test_document_in_another_form_is_named_and_counted(tmp_path: Path, name: str) -> None:
    dataset = open_dataset(write(tmp_path, {"b.txt": TALK, name: "x"}))
    assert [unit.unit_id for unit in dataset.units] == ["b"]
    assert found(dataset)[IssueCode.OTHER_FORM] == [name]
    assert dataset.not_read == {IssueCode.OTHER_FORM: 1}


@pytest.mark.parametrize(
    "name",
    [
        *"README.txt LICENSE notes.md .hidden a.wav a.mp4 a.png 300_COVAREP.csv".split(),
        *"300_CLNF_features.txt x_CLNF.txt DAICWOZ_Documentation.pdf util.zip Thumbs.db".split(),
    ],
)
def test_file_that_is_no_interview_by_its_name_is_named_at_no_cost(
    tmp_path: Path, name: str
) -> None:
    dataset = open_dataset(write(tmp_path, {"b.txt": TALK, name: "a sentence of four words"}))
    (oddity,) = (odd for odd in dataset.issues if odd.code is not IssueCode.NO_LABELS)
    assert (oddity.where, oddity.code, oddity.code.cost) == (
        name,
        IssueCode.OTHER_FILE,
        Cost.NOTHING,
    )
    assert [unit.unit_id for unit in dataset.units] == ["b"]


@pytest.mark.parametrize(
    ("files", "where", "count"),
    [
        ({"more/a.txt": TALK, "more/b.txt": TALK}, "more", 2),
        ({"labels/a.txt": TALK}, "labels", 1),
        ({"labels/a.csv": TABLE}, "labels/a.csv", 1),
        ({"a/b/c/d/e/f.txt": TALK}, "a/b/c/d/e", 1),
    ],
    ids=["folder", "text_beside_labels", "transcript_beside_labels", "too_deep"],
)
def test_files_in_a_folder_of_no_session_are_counted_as_not_read(
    tmp_path: Path, files: dict[str, str | bytes], where: str, count: int
) -> None:
    dataset = open_dataset(write(tmp_path, session(300) | files))
    assert found(dataset)[IssueCode.SUBFOLDER] == [where]
    assert dataset.not_read == {IssueCode.SUBFOLDER: count}


@pytest.mark.parametrize("folder", ["300_P", "300_P/features", ".git", "__MACOSX"])
def test_what_lies_beside_a_transcript_costs_nothing(tmp_path: Path, folder: str) -> None:
    beside = {f"{folder}/notes.txt": "x", f"{folder}/300_GAZE.txt": "x"}
    dataset = open_dataset(write(tmp_path, session(300) | beside))
    assert found(dataset)[IssueCode.OTHER_FILE] == [folder]
    assert dataset.not_read == {}


@pytest.mark.parametrize(
    ("names", "identifiers"),
    [
        (["300.txt"], ["300", "300.txt"]),
        (["a.txt", "a.vtt"], ["300", "a.txt", "a.vtt"]),
        (["a.txt", "a.vtt", "a.txt.srt"], ["300", "a.txt", "a.txt.srt", "a.vtt"]),
    ],
    ids=["a_session", "each_other", "a_whole_name"],
)
def test_files_keep_their_endings_where_stems_are_the_same(
    tmp_path: Path, names: list[str], identifiers: list[str]
) -> None:
    files: dict[str, str | bytes] = dict.fromkeys(names, TALK)
    assert units(write(tmp_path, session(300) | files)) == identifiers


def test_labels_are_joined_with_sessions_and_files(tmp_path: Path) -> None:
    labels = {"scores.csv": f"{AVEC_2017}\n300_P,{ZEROS}\na.txt,{ZEROS}\nb,{ZEROS}\nz,{ZEROS}\n"}
    files = session(300) | {"a.txt": TALK, "b.csv": TABLE} | labels
    dataset = open_dataset(write(tmp_path, files))
    assert {unit.unit_id: unit.labels is not None for unit in dataset.units} == dict.fromkeys(
        ["300", "a", "b", "z"], True
    )
    assert dataset.unreadable == {"z"}
    assert found(dataset) == {IssueCode.TRANSCRIPT_MISSING: ["z"]}


@pytest.mark.parametrize(
    ("content", "unreadable"),
    [
        ("frame,x\n1,2\n3,4\n", set()),
        ("Doctor,how are you today\nPatient,i am well\n", {"b"}),
        ("", {"b"}),
    ],
    ids=["numbers", "sentences", "empty"],
)
def test_table_without_a_known_column_is_lost_only_where_it_may_hold_speech(
    tmp_path: Path, content: str, unreadable: set[str]
) -> None:
    dataset = open_dataset(write(tmp_path, {"a.txt": TALK, "b.csv": content}))
    assert dataset.unreadable == unreadable
    assert (IssueCode.NOT_A_LABEL_FILE in found(dataset)) is not bool(unreadable)


def test_table_with_identifiers_and_words_is_never_taken_for_labels(tmp_path: Path) -> None:
    rows = "id,speaker,text,total\n1,Doctor,hi,3\n2,Patient,well,3\n"
    dataset = open_dataset(write(tmp_path, {"a.txt": TALK, "b.csv": rows}))
    assert [unit.unit_id for unit in dataset.units] == ["a", "b"]
    assert {unit.labels for unit in dataset.units} == {None}


def test_kind_that_is_asked_for_leaves_out_what_is_named(tmp_path: Path) -> None:
    folder = write(tmp_path, session(300) | {"a.txt": TALK})
    corpus, texts = open_dataset(folder, kind="daic-woz"), open_dataset(folder, kind="text")
    assert (corpus.kind, corpus.not_read) == (DatasetKind.DAIC_WOZ, {IssueCode.NOT_OF_KIND: 1})
    assert (texts.kind, texts.not_read) == (DatasetKind.TEXT, {IssueCode.SUBFOLDER: 1})
    assert [unit.unit_id for unit in texts.units] == ["a"]


@pytest.mark.parametrize("name", ["a.pdf", "sub/a.txt", "README.txt"])
def test_folder_without_anything_that_is_read_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="a dataset is"):
        open_dataset(write(tmp_path, {name: TALK}))
