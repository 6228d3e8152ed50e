"""Label files as REDCap, Qualtrics, SPSS and spreadsheets of several languages write them."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.unit.evaluation.datasets.corpora import found, write

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.evaluation.datasets.dataset import Cost, Dataset, DatasetKind, IssueCode
from ai_psychiatrist.evaluation.datasets.open_dataset import open_dataset
from ai_psychiatrist.evaluation.datasets.options import LabelOptions

TALK = "Doctor: hi\nPatient: i sleep badly\n"
SERIES = ",".join(f"phq8_{number}" for number in range(1, 9))
ITEMS = {"1": "01230123", "2": "00000000", "3": "33333333"}
"""Unit → its true items, in every file here."""


def rows(*names: str, separator: str = ",") -> str:
    """Return rows of the true items under these identifiers."""
    return "".join(
        f"{separator.join([name, *items])}\n"
        for name, items in zip(names, ITEMS.values(), strict=True)
    )


def opened(folder: Path, labels: str | bytes, name: str = "labels.csv", **given: Any) -> Dataset:
    texts: dict[str, str | bytes] = {f"{unit}.txt": TALK for unit in ITEMS}
    write(folder, {**texts, name: labels})
    return open_dataset(folder, scores=LabelOptions.read(**given))


def items_of(dataset: Dataset) -> dict[str, str]:
    return {
        unit.unit_id: "".join(
            "?" if one is None else str(one) for one in unit.labels.items.values()
        )
        for unit in dataset.units
        if unit.labels is not None
    }


GERMAN = ("Überhaupt nicht", "An einzelnen Tagen", "An mehr als der Hälfte der Tage")
QUESTIONS = (
    "Little interest or pleasure in doing things",
    "Feeling down, depressed, or hopeless",
    "Trouble falling or staying asleep",
    "Feeling tired or having little energy",
    "Poor appetite or overeating",
    "Feeling bad about yourself",
    "Trouble concentrating on things",
    "Moving or speaking so slowly",
)
ASKED = ",".join(f'"Over the last 2 weeks - {question}"' for question in QUESTIONS)
IDS = ",".join(f'"{{""ImportId"":""QID5_{at}""}}"' for at in range(1, 9))
NAMED_BY_ASKING = ",".join(f"Q5_{at}" for at in range(1, 9))


@pytest.mark.parametrize(
    ("name", "labels"),
    [
        pytest.param("redcap.csv", f"record_id,{SERIES}\n{rows('1', '2', '3')}", id="redcap"),
        pytest.param("x.csv", f"Subject ID,{SERIES}\n{rows('1', '2', '3')}", id="subject"),
        pytest.param("x.csv", f"patient_id,{SERIES}\n{rows('1', '2', '3')}", id="patient"),
        pytest.param("x.csv", f"study_id,{SERIES}\n{rows('1', '2', '3')}", id="study"),
        pytest.param("x.csv", f"filename,{SERIES}\n{rows('1.txt', '2.txt', '3.txt')}", id="file"),
        pytest.param(
            "spss.dat", f"ID\t{SERIES}\n{rows('1', '2', '3')}".replace(",", "\t"), id="spss"
        ),
        pytest.param(
            "excel.csv",
            f"sep=;\nrecord_id,{SERIES}\n{rows('1', '2', '3')}".replace(",", ";"),
            id="excel",
        ),
        pytest.param(
            "locale.csv",
            f"record_id;{SERIES.replace(',', ';')}\n"
            + "".join(f"{unit};{';'.join(f'{one},0' for one in ITEMS[unit])}\n" for unit in ITEMS),
            id="decimal_commas",
        ),
        pytest.param(
            "utf16.csv",
            f"record_id,{SERIES}\n{rows('1', '2', '3')}".replace(",", "\t").encode("utf-16"),
            id="utf16",
        ),
        pytest.param(
            "cp1252.csv",
            f"record_id;Größe;{SERIES.replace(',', ';')}\n".encode("cp1252")
            + b"".join(f"{unit};groß;{';'.join(ITEMS[unit])}\n".encode("cp1252") for unit in ITEMS),
            id="cp1252",
        ),
        pytest.param(
            "qualtrics.csv",
            f"participant_id,{NAMED_BY_ASKING}\nCode,{ASKED}\n"
            f'"{{""ImportId"":""QID1""}}",{IDS}\n{rows("1", "2", "3")}',
            id="qualtrics",
        ),
        pytest.param(
            "qualtrics.csv",
            f"participant_id,{SERIES}\nCode,{ASKED}\n{rows('1', '2', '3')}",
            id="qualtrics_without_import_row",
        ),
        pytest.param(
            "words.csv",
            f"record_id,{SERIES}\n"
            + "".join(
                ",".join([unit, *(_words for _words in map(str, items))]) + "\n"
                for unit, items in (
                    (
                        unit,
                        [
                            (
                                "0 - Not at all",
                                "Several days",
                                "2 = More than half the days",
                                "Nearly every day (3)",
                            )[int(one)]
                            for one in ITEMS[unit]
                        ],
                    )
                    for unit in ITEMS
                )
            ),
            id="answers_in_words",
        ),
        pytest.param(
            "title.csv",
            f"\nExport of 2024,,,,,,,,\n\nPatient ID,{SERIES}\n{rows('1', '2', '3')}",
            id="title_above",
        ),
        pytest.param(
            "below.csv",
            f"ID,{SERIES}\n{rows('1', '2', '3')}Mean{',1.5' * 8}\nStd. Dev.{',1.1' * 8}\n"
            f"25%{',1' * 8}\nn{',3' * 8}\n",
            id="figures_below",
        ),
        pytest.param("notes.txt", f"record_id,{SERIES}\n{rows('1', '2', '3')}", id="txt"),
        pytest.param(
            "two_ids.csv",
            f"record_id,study_id,{SERIES}\n"
            + "".join(
                f"{9 + at},{unit},{','.join(ITEMS[unit])}\n" for at, unit in enumerate(ITEMS)
            ),
            id="the_identifier_that_names_transcripts",
        ),
    ],
)
def test_file_is_used_as_meant(tmp_path: Path, name: str, labels: str | bytes) -> None:
    dataset = opened(tmp_path, labels, name)
    assert items_of(dataset) == ITEMS
    assert dataset.is_whole
    assert [unit.unit_id for unit in dataset.units] == [*ITEMS]


@pytest.mark.parametrize(
    ("labels", "code", "says"),
    [
        pytest.param(
            f"name_of_person,{SERIES}\n{rows('1', '2', '3')}",
            IssueCode.IDENTIFIER_MISSING,
            "'name_of_person'",
            id="no_identifier",
        ),
        pytest.param(
            "record_id,mood_a,mood_b\n1,2,3\n2,2,3\n",
            IssueCode.SCORES_UNKNOWN,
            "'mood_a'",
            id="no_scores",
        ),
        pytest.param(
            f"record_id,depr,{SERIES}\n1,1,{','.join(ITEMS['1'])}\n",
            IssueCode.COLUMNS_UNKNOWN,
            "'depr'",
            id="unknown_column",
        ),
        pytest.param(
            f"record_id,{SERIES}\n1,0,1,2,3,0,1,2\n",
            IssueCode.ROW_BROKEN,
            None,
            id="a_field_too_few",
        ),
        pytest.param(
            f"record_id,{SERIES}\n1,-99,1,2,3,0,1,2,9\n",
            IssueCode.VALUE_OUT_OF_RANGE,
            "--missing=-99,9",
            id="missing_codes",
        ),
        pytest.param(
            f"record_id,{SERIES}\n1,5,1,2,3,0,1,2,1\n",
            IssueCode.VALUE_OUT_OF_RANGE,
            None,
            id="a_slip_of_the_pen_is_no_missing_code",
        ),
        pytest.param(
            "record_id,phq8_total\n1,-99\n",
            IssueCode.VALUE_OUT_OF_RANGE,
            "--missing=-99",
            id="missing_total",
        ),
        pytest.param(
            "record_id,phq9_total\n1,9\n",
            IssueCode.SCORES_UNKNOWN,
            "'phq9_total'",
            id="total_of_the_phq9",
        ),
        pytest.param(
            f"record_id,redcap_event_name,{SERIES}\n1,base,{','.join(ITEMS['1'])}\n"
            f"1,later,{','.join(ITEMS['1'])}\n2,base,{','.join(ITEMS['2'])}\n",
            IssueCode.OCCASIONS,
            "--label-row 'redcap_event_name=VALUE' with one of base, later",
            id="occasions_that_are_equal",
        ),
        pytest.param(
            f"record_id,{SERIES}\n{rows('001', '2.0', '3')}",
            IssueCode.IDS_NEARLY_MATCH,
            "--match-ids loose joins 2",
            id="leading_zeros",
        ),
        pytest.param(
            f"record_id,{SERIES}\n{rows('1', '2', '3')}Mean{',1.5' * 8}\nTotal{',3' * 8}\n",
            IssueCode.SUMMARY_ROWS,
            "'Mean', 'Total'",
            id="figures_below",
        ),
        pytest.param(
            f"record_id,{SERIES}\n1{',Several days' * 7},None\n",
            IssueCode.NONE_AMONG_WORDS,
            "`Not at all`",
            id="none_among_words",
        ),
        pytest.param(
            f"record_id,transcript,{SERIES}\n1,x,{','.join(ITEMS['1'])}\n",
            IssueCode.TEXTS_IN_TABLE,
            "--text-column 'transcript'",
            id="texts",
        ),
    ],
)
def test_what_is_not_used_is_named_with_what_helps(
    tmp_path: Path, labels: str, code: IssueCode, says: str | None
) -> None:
    dataset = opened(tmp_path, labels)
    (issue,) = dataset.issues_by_code[code][:1]
    assert (says or "") in (issue.hint or "")


CODED_FROM_1 = "".join(
    f"{unit},{','.join(str(int(one) + 1) for one in ITEMS[unit])}\n" for unit in ITEMS
)
NO_ZERO = "".join(f"{unit},1,1,2,3,1,1,2,3\n" for unit in "12345")


@pytest.mark.parametrize("body", [CODED_FROM_1 + "4,1,1,1,1,1,1,1,1\n5,1,1,1,1,1,1,1,1\n", NO_ZERO])
def test_file_that_may_be_coded_from_1_is_not_used_until_that_is_said(
    tmp_path: Path, body: str
) -> None:
    labels = f"record_id,{SERIES}\n{body}"
    dataset = opened(tmp_path, labels)
    assert (dataset.labelled, dataset.is_whole) == ([], False)
    assert IssueCode.CODES_UNCLEAR in found(dataset)
    told = opened(tmp_path, labels, label_codes="1-4")
    assert len(told.labelled) == 5
    assert IssueCode.CODES_UNCLEAR not in found(told)


@pytest.mark.parametrize("letters", ["", "A", "AO0"])
def test_labels_coded_from_1_are_those_from_0(tmp_path: Path, letters: str) -> None:
    coded = re.sub(r",(\d)", rf",{letters}\1", CODED_FROM_1)
    dataset = opened(tmp_path, f"record_id,{SERIES}\n{coded}", label_codes="1-4")
    assert items_of(dataset) == ITEMS


def test_few_people_without_a_zero_are_taken_as_they_are(tmp_path: Path) -> None:
    dataset = opened(tmp_path, f"record_id,{SERIES}\n1,1,1,2,3,1,1,2,3\n")
    assert items_of(dataset) == {"1": "11231123"}


def test_rows_of_one_occasion_are_chosen(tmp_path: Path) -> None:
    labels = (
        f"record_id,visit,{SERIES}\n1,a,{','.join(ITEMS['1'])}\n1,b,{','.join(ITEMS['3'])}\n"
        f"2,a,{','.join(ITEMS['2'])}\n"
    )
    assert items_of(opened(tmp_path, labels)) == {}
    assert items_of(opened(tmp_path, labels, label_row=["Visit=b"])) == {"1": ITEMS["3"]}


@pytest.mark.parametrize(("row", "says"), [("wave=1", "no label file"), ("visit=3", "1, 2")])
def test_occasion_that_no_file_has_is_refused(tmp_path: Path, row: str, says: str) -> None:
    labels = f"record_id,visit,{SERIES}\n1,1,{','.join(ITEMS['1'])}\n1,2,{','.join(ITEMS['1'])}\n"
    with pytest.raises(InputError, match=says):
        opened(tmp_path, labels, label_row=[row])


def test_rows_that_differ_do_not_agree_as_well(tmp_path: Path) -> None:
    dataset = opened(
        tmp_path, f"record_id,{SERIES}\n1,{','.join(ITEMS['1'])}\n1,{','.join(ITEMS['3'])}\n"
    )
    assert IssueCode.LABELS_DIFFER in found(dataset)
    assert IssueCode.ROW_REPEATED not in found(dataset)


def test_identifiers_that_nearly_match_are_joined_where_that_is_asked_for(tmp_path: Path) -> None:
    labels = f"record_id,{SERIES}\n{rows('001', '2.0', '3.TXT')}"
    dataset = opened(tmp_path, labels, match_ids="loose")
    assert items_of(dataset) == ITEMS
    assert dataset.is_whole


def test_identifiers_of_two_people_are_never_joined(tmp_path: Path) -> None:
    labels = f"record_id,{SERIES}\n{rows('01', '001', '3')}"
    dataset = opened(tmp_path, labels, match_ids="loose")
    assert items_of(dataset) == {"01": ITEMS["1"], "001": ITEMS["2"], "3": ITEMS["3"]}


def test_missing_code_that_is_named_costs_its_item(tmp_path: Path) -> None:
    labels = f"record_id,{SERIES}\n1,-99,1,2,3,0,1,2,9\n"
    assert items_of(opened(tmp_path, labels, missing="-99,9")) == {"1": "?123012?"}


def test_columns_about_people_are_kept_with_their_labels(tmp_path: Path) -> None:
    labels = (
        f"record_id,Gender,age,site,note,{SERIES}\n"
        f"1,f,31,Bern,he came late,{','.join(ITEMS['1'])}\n"
        f"2,m,40,Basel,,{','.join(ITEMS['2'])}\n3,m,52,Bern,{'x' * 60},{','.join(ITEMS['3'])}\n"
    )
    first, *_ = opened(tmp_path, labels).labelled
    assert first.columns == {"Gender": "f", "age": "31", "site": "Bern"}


def test_table_with_an_interview_in_each_row_is_a_dataset(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text(
        f"record_id,transcript,gender,{SERIES}\n"
        + "".join(f'{unit},"{TALK}",f,{",".join(ITEMS[unit])}\n' for unit in ITEMS)
        + "4,Patient: hi\n",
        encoding="utf-8",
    )
    with pytest.raises(InputError, match="--text-column"):
        open_dataset(path)
    for place in (path, tmp_path):
        dataset = open_dataset(place, scores=LabelOptions.read(text_column="Transcript"))
        assert (dataset.kind, items_of(dataset)) == (DatasetKind.TABLE, ITEMS)
        assert dataset.unreadable == {"4"}
        assert "sleep badly" in dataset.transcript("2").text
    with pytest.raises(InputError, match="--text-column"):
        open_dataset(path, scores=LabelOptions.read(text_column="words"))


def test_lines_of_json_have_columns_of_labels_as_well(tmp_path: Path) -> None:
    path = tmp_path / "talks.jsonl"
    lines = [
        {"id": unit, "text": TALK, "age": 30, **dict(zip(SERIES.split(","), items, strict=True))}
        for unit, items in ITEMS.items()
    ]
    lines[2]["phq8_8"] = float("nan")
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    dataset = open_dataset(path)
    assert items_of(dataset) == ITEMS | {"3": "3333333?"}
    assert dataset.labelled[0].columns == {"age": "30"}
    assert "sleep badly" in dataset.transcript("3").text


def test_hint_of_a_file_without_a_header_shows_none_of_its_values(tmp_path: Path) -> None:
    dataset = opened(tmp_path, "1,0,1,2,3,0,1,2,3\n2,0,0,0,0,0,0,0,0\n")
    hints = " ".join(issue.hint or "" for issue in dataset.issues)
    assert "(no name)" in hints
    assert "0" not in hints.partition("wanted")[0]


FROM_1 = "12342341", "22222222", "11111111"


def table(header: str, *items: Sequence[str], separator: str = ",") -> str:
    """Return a table of the three units with these cells."""
    lines = [separator.join((unit, *cells)) for unit, cells in zip("123", items, strict=True)]
    return f"{header}\n" + "".join(f"{line}\n" for line in lines)


@pytest.mark.parametrize(
    ("header", "first"),
    [
        pytest.param("id," + ",".join(f"phq9_{at}" for at in range(9)), "phq9_0", id="phq9"),
        pytest.param("id," + ",".join(f"PHQ8 {at}" for at in range(8)), "PHQ8 0", id="phq8"),
        pytest.param("id,phq5,phq6,phq7,phq8", "phq8", id="half_a_series"),
        pytest.param("id,phq1,phq2,phq3,phq5,phq6,phq7,phq8", "phq8", id="one_left_out"),
    ],
)
def test_columns_of_which_nobody_can_tell_the_items_are_refused(
    tmp_path: Path, header: str, first: str
) -> None:
    width = header.count(",")
    labels = table(header, *(["0"] * width for _ in "123"))
    with pytest.raises(InputError, match=f"'{first}'"):
        opened(tmp_path, labels)


@pytest.mark.parametrize(
    ("labels", "hint"),
    [
        pytest.param(table(f"id,{SERIES}", *FROM_1), "--label-codes 1-4", id="a_4_of_few"),
        pytest.param(
            table(f"id,{SERIES}", ["Not at all", "2", "3", "Nearly every day"] * 2, *"??"),
            "--label-codes 1-4",
            id="words_at_the_ends",
        ),
        pytest.param(
            table(f"id,{SERIES}", *([f"A{at}"] * 8 for at in "123")),
            "--label-codes 1-4",
            id="letters",
        ),
        pytest.param(table("id,phq8_binary", "2", "1", "1"), "0, no, or 1, yes", id="binary_of_2"),
    ],
)
def test_codes_that_may_mean_two_things_are_used_once_they_are_told(
    tmp_path: Path, labels: str, hint: str
) -> None:
    dataset = opened(tmp_path, labels)
    assert items_of(dataset) == {}
    (told,) = (one for one in dataset.issues if one.code is IssueCode.CODES_UNCLEAR)
    assert hint in str(told.hint)


def test_few_people_in_each_of_two_files_are_judged_together(tmp_path: Path) -> None:
    halves = [
        f"id,{SERIES}\n" + "".join(f"{unit},{'2,' * 7}1\n" for unit in half)
        for half in ("123", "45")
    ]
    write(tmp_path, {"one.csv": halves[0], "two.csv": halves[1]})
    dataset = open_dataset(tmp_path)
    assert found(dataset)[IssueCode.CODES_UNCLEAR] == ["one.csv", "two.csv"]


def test_totals_that_may_be_sums_of_codes_from_1_are_not_used(tmp_path: Path) -> None:
    unclear = opened(tmp_path, table("id,phq8_total", ["20"], ["8"], ["16"]), label_codes="1-4")
    assert IssueCode.CODES_UNCLEAR in found(unclear)
    clear = opened(tmp_path, table("id,phq8_total", ["20"], ["3"], ["16"]), label_codes="1-4")
    assert [unit.labels and unit.labels.total for unit in clear.units] == [20, 3, 16]


def test_a_total_of_codes_from_1_tells_a_blank_item(tmp_path: Path) -> None:
    cells = [*"1234123", "", "20"], [*"1111111", "", "8"], [*"44444444", "32"]
    dataset = opened(tmp_path, table(f"id,{SERIES},phq8_total", *cells), label_codes="1-4")
    assert items_of(dataset) == {"1": "01230123", "2": "00000000", "3": "33333333"}


@pytest.mark.parametrize(
    ("header", "unused"),
    [
        pytest.param("id,depressed,phq8_total", "'depressed'", id="a_diagnosis"),
        pytest.param(f"id,{SERIES},depressed,sleep", "'depressed', 'sleep'", id="beside_items"),
        pytest.param("id,site,sleep,phq8_total", "'sleep'", id="hours"),
    ],
)
def test_a_word_alone_is_no_item(tmp_path: Path, header: str, unused: str) -> None:
    width = header.count(",")
    dataset = opened(tmp_path, table(header, *(["0"] * width for _ in "123")))
    assert all(unit.labels and unit.labels.total == 0 for unit in dataset.units)
    (told,) = (one for one in dataset.issues if one.code is IssueCode.COLUMNS_UNKNOWN)
    assert f"not used as scores: {unused};" in str(told.hint)


@pytest.mark.parametrize(
    ("labels", "code"),
    [
        pytest.param(
            f"Name,{SERIES}\n{rows('1', '2', '3')}", IssueCode.IDENTIFIER_MISSING, id="name"
        ),
        pytest.param(rows("1", "2", "3"), IssueCode.SCORES_UNKNOWN, id="no_header"),
        pytest.param(rows("1", "2", "3", separator=" "), IssueCode.SCORES_UNKNOWN, id="blanks"),
        pytest.param("item,1,2,3\nsleep,0,0,3\ntired,1,0,3\n", IssueCode.SCORES_UNKNOWN, id="side"),
    ],
)
def test_scores_that_cannot_be_used_cost_labels_whatever_their_file_is_called(
    tmp_path: Path, labels: str, code: IssueCode
) -> None:
    dataset = opened(tmp_path, labels, "scores.csv")
    (told,) = (one for one in dataset.issues if one.where == "scores.csv")
    assert (told.code, told.code.cost) == (code, Cost.LABEL)
    assert "phq8_1" in str(told.hint)


@pytest.mark.parametrize(
    "cell", ["9 - refused", "n.a.", ".a", "not asked", "#DIV/0!", "-99 (Missing)"]
)
def test_what_stands_for_no_answer_costs_that_item_alone(tmp_path: Path, cell: str) -> None:
    cells = [*"0123012", cell], [*"00000000"], [*"33333333"]
    assert items_of(opened(tmp_path, table(f"id,{SERIES}", *cells)))["1"] == "0123012?"


def test_a_word_that_is_not_known_is_named_by_its_column(tmp_path: Path) -> None:
    cells = [*"0123012", "Over half"], [*"00000000"], [*"33333333"]
    dataset = opened(tmp_path, table(f"id,{SERIES}", *cells))
    (told,) = (one for one in dataset.issues if one.code is IssueCode.VALUE_UNREADABLE)
    assert "'phq8_8'" in str(told.hint)
    assert "Over half" not in str(dataset.issues)


def test_groups_are_told_apart_by_neither_case_nor_missing_codes(tmp_path: Path) -> None:
    first = table("id,sex,age,phq8_total", ["F", "30", "1"], ["f", "-99", "2"], ["M", "40", "0"])
    write(tmp_path, {"more.csv": table("id,Sex,Age", ["F", "30"], ["F", "-99"], ["F", "40"])})
    dataset = opened(tmp_path, first, missing="-99")
    columns = [unit.labels.columns if unit.labels else {} for unit in dataset.units]
    assert columns == [{"sex": "F", "age": "30"}, {"sex": "F"}, {"age": "40"}]
    assert found(dataset)[IssueCode.TRAITS_DIFFER] == ["3"]


def test_what_a_person_is_may_stand_on_a_row_that_does_not_count(tmp_path: Path) -> None:
    header = "record_id,redcap_event_name,sex,phq8_total"
    lines = [f"{unit},{event}" for unit in "123" for event in ("base,f,", "later,,7")]
    labels = f"{header}\n" + "".join(f"{line}\n" for line in lines)
    dataset = opened(tmp_path, labels, label_row=["redcap_event_name=later"])
    assert [unit.labels and unit.labels.total for unit in dataset.units] == [7, 7, 7]
    assert {unit.labels.columns["sex"] for unit in dataset.units if unit.labels} == {"f"}


@pytest.mark.parametrize("column", ["wave", "visitnum", "Time", "event", "month"])
def test_occasions_in_files_of_their_own_are_named(tmp_path: Path, column: str) -> None:
    write(tmp_path, {"w2.csv": table(f"id,{column},phq8_total", *(["T2", "9"] for _ in "123"))})
    dataset = opened(tmp_path, table(f"id,{column},phq8_total", *(["T1", "5"] for _ in "123")))
    told = [one.hint for one in dataset.issues if one.code is IssueCode.OCCASIONS]
    assert len(told) == 2
    assert all(f"--label-row '{column}=VALUE' with one of T1, T2" in str(one) for one in told)


@pytest.mark.parametrize("written", ["data/{}.txt", "C:\\data\\{}.txt", "'{}", '"=""{}"""'])
def test_identifiers_are_read_through_paths_and_quotes(tmp_path: Path, written: str) -> None:
    labels = "id,phq8_total\n" + "".join(f"{written.format(unit)},7\n" for unit in "123")
    assert all(unit.labels for unit in opened(tmp_path, labels).units)


def test_names_of_recordings_are_nearly_those_of_transcripts(tmp_path: Path) -> None:
    labels = "id,phq8_total\n" + "".join(f"{unit}.wav,7\n" for unit in "123")
    assert IssueCode.IDS_NEARLY_MATCH in found(opened(tmp_path, labels))
    loose = opened(tmp_path, labels, match_ids="loose")
    assert all(unit.labels for unit in loose.units)
