from pathlib import Path

import pytest
from tests.unit.evaluation.datasets.corpora import (
    AVEC_2017,
    ITEMS,
    PLAIN,
    ZEROS,
    daic,
    found,
    session,
    write,
)

from ai_psychiatrist.domain.errors import InputError, TranscriptUnreadable
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.evaluation.datasets.dataset import Cost, DatasetKind, IssueCode, SpeakerFilter
from ai_psychiatrist.evaluation.datasets.open_dataset import open_dataset
from ai_psychiatrist.evaluation.datasets.options import LabelOptions
from ai_psychiatrist.services.transcripts.plain_text import parse_transcript

E_DAIC_HEADER = "Start_Time,End_Time,Text,Confidence"


@pytest.mark.parametrize(
    "name",
    [
        "300_P/300_TRANSCRIPT.csv",
        "transcripts/300_P/300_TRANSCRIPT.csv",
        "transcripts/300_TRANSCRIPT.csv",
        "300_P.tar/300_P/300_TRANSCRIPT.csv",
        "data/DAIC/transcripts/300_P/300_transcript.csv",
    ],
)
def test_transcripts_are_found_however_archives_were_unpacked(tmp_path: Path, name: str) -> None:
    dataset = open_dataset(write(tmp_path, {name: PLAIN}))
    assert dataset.kind is DatasetKind.DAIC_WOZ
    assert [unit.unit_id for unit in dataset.units] == ["300"]
    assert dataset.transcript("300").text == "Ellie: hello\nParticipant: hi"


@pytest.mark.parametrize("folder", ["", "labels/", "Labels/"])
def test_labels_lie_at_the_top_or_in_a_folder_of_their_own(tmp_path: Path, folder: str) -> None:
    labels = {f"{folder}dev_split_Depression_AVEC2017.csv": f"{AVEC_2017}\n300,{ZEROS}\n"}
    (unit,) = open_dataset(write(tmp_path, session(300) | labels)).units
    assert (unit.participant_id, unit.split) == (300, "dev")
    assert unit.labels is not None
    assert (unit.labels.total, unit.labels.binary, len(unit.labels.items)) == (0, False, 8)


def test_test_files_without_and_with_scores_are_joined(tmp_path: Path) -> None:
    files = {
        "test_split_Depression_AVEC2017.csv": "participant_ID,Gender\n300,1\n301,0\n",
        "full_test_split.csv": "Participant_ID,PHQ_Binary,PHQ_Score,Gender\n300,1,12,1\n",
    }
    dataset = open_dataset(write(tmp_path, files | session(300) | session(301)))
    first, second = dataset.units
    assert first.labels is not None
    assert (first.labels.items, first.labels.total, first.split) == ({}, 12, "test")
    assert (second.labels, second.split) == (None, "test")
    assert found(dataset) == {IssueCode.LABEL_WITHOUT_SCORES: ["301"]}


def test_units_are_all_rows_and_all_transcripts(tmp_path: Path) -> None:
    labels = {"train_split.csv": f"{AVEC_2017}\n302,{ZEROS}\n300,{ZEROS}\n"}
    dataset = open_dataset(write(tmp_path, session(300) | session(1000) | labels))
    assert [unit.unit_id for unit in dataset.units] == ["300", "302", "1000"]
    assert found(dataset) == {
        IssueCode.TRANSCRIPT_MISSING: ["302"],
        IssueCode.LABEL_MISSING: ["1000"],
        IssueCode.ID_OUTSIDE_CORPUS: ["1000"],
    }
    assert dataset.unreadable == {"302"}
    with pytest.raises(TranscriptUnreadable, match="'302' has no transcript"):
        dataset.transcript("302")


@pytest.mark.parametrize(
    ("files", "code", "cost"),
    [
        pytest.param(
            {"300_P/300_TRANSCRIPT.csv": b"\x00\x05\x16\x07\x00\x02"},
            IssueCode.APPLE_DOUBLE_AS_TRANSCRIPT,
            Cost.UNIT,
            id="stub_taken_for_a_transcript",
        ),
        pytest.param(
            session(300, b"\x00\x01\xff\xfe\x00"), IssueCode.NOT_TEXT, Cost.UNIT, id="not_text"
        ),
        pytest.param(session(300, "a,b\n"), IssueCode.UNKNOWN_FORM, Cost.UNIT, id="header"),
        pytest.param(
            session(300, PLAIN + "and then i cried\n"), IssueCode.BROKEN_ROW, Cost.UNIT, id="row"
        ),
        pytest.param(
            session(300, daic(("Ellie", "a"), ("Participant", "c"), ("Zoltan", "b"))),
            IssueCode.SPEAKER_UNKNOWN,
            Cost.NOTHING,
            id="unknown_speaker",
        ),
        pytest.param(
            session(300, daic(("Ellie", "a"))), IssueCode.SPEAKERS_UNKNOWN, Cost.UNIT, id="ellie"
        ),
        pytest.param(session(300, daic()), IssueCode.NO_WORDS, Cost.UNIT, id="no_words"),
        pytest.param(
            session(300) | {"300_TRANSCRIPT.csv": PLAIN + "9\t9\tEllie\tbye\n"},
            IssueCode.TRANSCRIPTS_DIFFER,
            Cost.UNIT,
            id="two_that_differ",
        ),
        pytest.param(
            session(300) | {"300_TRANSCRIPT.csv": PLAIN},
            IssueCode.TRANSCRIPT_REPEATED,
            Cost.NOTHING,
            id="two_that_agree",
        ),
        pytest.param(
            session(300) | {"__MACOSX/300_P/._300_TRANSCRIPT.csv": b"\x00\x05\x16\x07"},
            IssueCode.APPLE_DOUBLE,
            Cost.NOTHING,
            id="stub_beside",
        ),
        pytest.param(
            {"301_P/300_TRANSCRIPT.csv": PLAIN},
            IssueCode.FOLDER_NAME_DIFFERS,
            Cost.NOTHING,
            id="folder_of_another",
        ),
        pytest.param(session(342), IssueCode.ID_OUTSIDE_CORPUS, Cost.NOTHING, id="never_given"),
        pytest.param(
            session(300) | {"301_P.tar.gz": b""}, IssueCode.ARCHIVE, Cost.UNIT, id="archive"
        ),
        pytest.param(
            session(300) | {"300_P.zip": b"", "notes.csv": "a,b\n1,2\n"},
            IssueCode.NOT_A_LABEL_FILE,
            Cost.NOTHING,
            id="table_of_something_else",
        ),
    ],
)
def test_oddity_of_a_file_is_listed_with_its_cost(
    tmp_path: Path, files: dict[str, str | bytes], code: IssueCode, cost: Cost
) -> None:
    dataset = open_dataset(write(tmp_path, files))
    (oddity,) = (odd for odd in dataset.issues if odd.code is not IssueCode.NO_LABELS)
    assert (oddity.code, oddity.code.cost) == (code, cost)
    assert "cried" not in repr(dataset)
    is_lost = cost is Cost.UNIT and code is not IssueCode.ARCHIVE
    assert dataset.unreadable == ({"300"} if is_lost else set())
    if is_lost:
        with pytest.raises(TranscriptUnreadable) as caught:
            dataset.transcript("300")
        assert "cried" not in str(caught.value)


@pytest.mark.parametrize(
    ("rows", "code"),
    [
        pytest.param([f"300,{ZEROS}", ",1,1"], IssueCode.ROW_WITHOUT_ID, id="no_id"),
        pytest.param([f"300,{ZEROS}", "anna,1"], IssueCode.ROW_WITHOUT_ID, id="word_as_id"),
        pytest.param([f"300,{ZEROS}", f"300,{ZEROS}"], IssueCode.ROW_REPEATED, id="repeated"),
        pytest.param(
            [f"300,{ZEROS}", "300,0,1,1,1,0,0,0,0,0,0,0"], IssueCode.LABELS_DIFFER, id="differ"
        ),
        pytest.param([f"300,{ZEROS},9"], IssueCode.ROW_BROKEN, id="too_many_columns"),
        pytest.param(["300,0,4,0,4,0,0,0,0,0,0,0"], IssueCode.VALUE_OUT_OF_RANGE, id="four"),
        pytest.param(["300,0,1,0,0,0,,0,0,0,0,0"], IssueCode.ITEM_RECOVERED, id="recovered"),
        pytest.param(["300.0,0,9,0,0,0,0,0,0,0,0,0"], IssueCode.TOTAL_NOT_SUM, id="sum"),
    ],
)
def test_oddity_of_a_label_row_is_listed(tmp_path: Path, rows: list[str], code: IssueCode) -> None:
    labels = {"train_split.csv": "\n".join([AVEC_2017, *rows])}
    dataset = open_dataset(write(tmp_path, session(300) | labels))
    assert code in found(dataset)
    assert [unit.unit_id for unit in dataset.units] == ["300"]


def test_unit_in_two_splits_has_none(tmp_path: Path) -> None:
    row = f"{AVEC_2017}\n300,{ZEROS}\n"
    files = {"train_split.csv": row, "dev_split.csv": row, "train_dev_all.csv": row}
    dataset = open_dataset(write(tmp_path, session(300) | files))
    assert dataset.units[0].split is None
    assert dataset.units[0].labels is not None
    assert found(dataset) == {IssueCode.IN_TWO_SPLITS: ["300"]}


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le"])
def test_label_file_in_another_encoding_is_read(tmp_path: Path, encoding: str) -> None:
    content = f"{AVEC_2017}\n300,{ZEROS}\n".encode(encoding)
    dataset = open_dataset(write(tmp_path, session(300) | {"dev_split.csv": content}))
    assert dataset.units[0].labels is not None


def test_label_file_that_is_no_text_is_refused_by_name(tmp_path: Path) -> None:
    content = b"PK\x03\x04" + bytes(range(256))
    with pytest.raises(InputError, match=r"labels\.csv.*not text"):
        open_dataset(write(tmp_path, session(300) | {"labels.csv": content}))


def test_label_file_that_is_no_table_is_refused_by_name(tmp_path: Path) -> None:
    content = f"{AVEC_2017}\n300,{'9' * 200_000}\n"
    with pytest.raises(InputError, match=r"dev_split\.csv.*no table"):
        open_dataset(write(tmp_path, session(300) | {"dev_split.csv": content}))


@pytest.mark.parametrize(
    ("speakers", "text"),
    [
        (SpeakerFilter.BOTH, "Ellie: a\nEllie: b\nParticipant: c\nParticipant: d\nEllie: e"),
        (SpeakerFilter.PARTICIPANT_ONLY, "Participant: c\nParticipant: d"),
        (SpeakerFilter.QUESTION_CONTEXT, "Ellie: b\nParticipant: c\nParticipant: d"),
    ],
)
def test_speaker_filter_keeps_its_lines(tmp_path: Path, speakers: SpeakerFilter, text: str) -> None:
    rows = [("Ellie", "a"), ("Ellie", "b"), ("Participant", "c"), ("Participant", "d")]
    folder = write(tmp_path, session(300, daic(*rows, ("Ellie", "e"))))
    assert open_dataset(folder, speakers=speakers).transcript("300").text == text


def test_e_daic_is_the_participants_words_alone(tmp_path: Path) -> None:
    rows = '0.1,0.9,"well, i sleep badly",0.9\n1.1,1.9,and you,0.8\n'
    files = {
        "300_P.tar/300_P/300_Transcript.csv": f"{E_DAIC_HEADER}\n{rows}",
        "labels/train_split.csv": (
            "Participant_ID,Gender,PHQ_Binary,PHQ_Score,PCL-C (PTSD),PTSD Severity\n"
            "300,male,0,2,0,17\n"
        ),
        "labels/Detailed_PHQ8_Labels.csv": (
            f"Participant_ID ,{ITEMS.replace('PHQ8_', 'PHQ_8')},PHQ_8Total\n300,0,0,2,0,0,0,0,0,2\n"
        ),
    }
    dataset = open_dataset(write(tmp_path, files))
    assert dataset.kind is DatasetKind.E_DAIC
    assert (
        dataset.transcript("300").text == "Participant: well, i sleep badly\nParticipant: and you"
    )
    (unit,) = dataset.units
    assert unit.labels is not None
    assert (unit.labels.items[Item.SLEEP], unit.labels.total, unit.split) == (2, 2, "train")
    assert dataset.issues == ()


def test_kind_that_is_asked_for_refuses_files_of_the_other(tmp_path: Path) -> None:
    dataset = open_dataset(write(tmp_path, session(300)), kind="e-daic")
    assert IssueCode.WRONG_HEADER in found(dataset)


def test_file_that_changed_since_is_not_read(tmp_path: Path) -> None:
    dataset = open_dataset(write(tmp_path, session(300)))
    write(tmp_path, session(300, PLAIN + "9\t9\tEllie\tbye\n"))
    with pytest.raises(TranscriptUnreadable, match="has changed"):
        dataset.transcript("300")


def test_digest_tells_bytes_names_and_options_apart(tmp_path: Path) -> None:
    labels = {"train_split.csv": f"{AVEC_2017}\n300,{ZEROS}\n"}
    other_labels = {"train_split.csv": f"{AVEC_2017}\n300,{ZEROS}\n\n"}
    one = write(tmp_path / "one", session(300) | labels)
    same = write(tmp_path / "same", session(300) | labels)
    digests = [
        open_dataset(one).digest,
        open_dataset(one, speakers=SpeakerFilter.PARTICIPANT_ONLY).digest,
        open_dataset(write(tmp_path / "a", session(301) | labels)).digest,
        open_dataset(write(tmp_path / "b", session(300, PLAIN + "\n") | labels)).digest,
    ]
    assert open_dataset(same).digest == digests[0]
    assert len(set(digests)) == len(digests)
    relabelled = open_dataset(write(tmp_path / "c", session(300) | other_labels))
    assert relabelled.digest == digests[0]
    assert relabelled.labels_digest != open_dataset(one).labels_digest
    recoded = open_dataset(one, scores=LabelOptions.read(label_codes="0-3"))
    assert recoded.labels_digest != open_dataset(one).labels_digest


def test_rendered_text_reads_back_as_the_same_turns(tmp_path: Path) -> None:
    rows = [("Ellie", "Participant: i am not him"), ("Participant", "null"), ("Participant", '"')]
    dataset = open_dataset(write(tmp_path, session(300, daic(*rows))))
    transcript = parse_transcript(dataset.transcript("300").text)
    assert [transcript.words(turn).strip() for turn in transcript.turns] == [w for _, w in rows]


def test_unknown_unit_is_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no unit '999'"):
        open_dataset(write(tmp_path, session(300))).transcript("999")


@pytest.mark.parametrize(
    ("files", "kind", "says"),
    [
        pytest.param({"notes.md": ""}, None, "a dataset is", id="nothing_known"),
        pytest.param(session(300), "parquet", "known are daic-woz, e-daic", id="unknown_kind"),
        pytest.param({"a.txt": "hi"}, "daic-woz", "no transcripts or labels", id="wrong_kind"),
    ],
)
def test_path_that_is_no_dataset_is_refused(
    tmp_path: Path, files: dict[str, str | bytes], kind: str | None, says: str
) -> None:
    with pytest.raises(InputError, match=says):
        open_dataset(write(tmp_path, files), kind=kind)


def test_missing_path_is_refused_with_the_forms(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="DAIC-WOZ or E-DAIC folder"):
        open_dataset(tmp_path / "nowhere")
