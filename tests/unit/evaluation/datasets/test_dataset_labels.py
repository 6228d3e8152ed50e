from typing import Any

import pytest

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.evaluation.datasets.dataset import IssueCode
from ai_psychiatrist.evaluation.datasets.label_columns import (
    KNOWN,
    PERSON_ID,
    column_meanings,
    column_places,
)
from ai_psychiatrist.evaluation.datasets.labels import checked_labels, merged
from ai_psychiatrist.evaluation.datasets.options import LabelOptions


def raw(items: str = "", total: object = None, binary: object = None) -> dict[str, object]:
    """Take items as `0,1,,2…`, eight of them or none."""
    scores = dict(zip(map(str, Item), items.split(","), strict=True)) if items else {}
    return {**scores, "total": total, "binary": binary}


@pytest.mark.parametrize(
    ("given", "items", "total", "binary", "oddities"),
    [
        pytest.param(raw("1,1,1,1,1,1,1,3", "10", "1"), "11111113", 10, True, [], id="whole"),
        pytest.param(raw("1,1,1,1,1,1,1,3"), "11111113", 10, True, [], id="total_is_the_sum"),
        pytest.param(raw("1.0,0,0,0,0,0,0,0", 1.0, 0.0), "10000000", 1, False, [], id="floats"),
        pytest.param(raw("", "9"), "", 9, False, [], id="total_alone"),
        pytest.param(raw("", None, "1"), "", None, True, [], id="binary_alone"),
        pytest.param(raw("", 12, True), "", 12, True, [], id="binary_as_truth_value"),
        pytest.param(raw(",,,,,,,", "12"), "", 12, True, [], id="all_items_blank"),
        pytest.param(
            raw("1,1,1,1,1,1,1,3", "10", "0"),
            "11111113",
            10,
            True,
            [IssueCode.BINARY_NOT_TOTAL],
            id="binary_says_otherwise",
        ),
        pytest.param(
            raw("0,0,0,0,0,0,0,,".removesuffix(","), "0"),
            "00000000",
            0,
            False,
            [IssueCode.ITEM_RECOVERED],
            id="one_blank_recovered",
        ),
        pytest.param(
            raw("1,1,nan,1,1,1,1,1", "10"),
            "11311111",
            10,
            True,
            [IssueCode.ITEM_RECOVERED],
            id="one_blank_recovered_as_three",
        ),
        pytest.param(
            raw("1,1,,1,1,1,1,1", "11"),
            "11?11111",
            None,
            None,
            [IssueCode.ITEMS_BLANK, IssueCode.TOTAL_NOT_SUM],
            id="one_blank_would_be_four",
        ),
        pytest.param(
            raw("1,1,,1,1,1,1,1", "6"),
            "11?11111",
            None,
            None,
            [IssueCode.ITEMS_BLANK, IssueCode.TOTAL_NOT_SUM],
            id="one_blank_would_be_negative",
        ),
        pytest.param(
            raw("1,1,,1,1,1,1,1"),
            "11?11111",
            None,
            None,
            [IssueCode.ITEMS_BLANK],
            id="one_blank_without_total",
        ),
        pytest.param(
            raw("1,1,,1,1,1,1,", "10"),
            "11?1111?",
            10,
            True,
            [IssueCode.ITEMS_BLANK],
            id="two_blanks",
        ),
        pytest.param(
            raw("1,1,1,1,1,1,1,1", "9", "0"),
            "11111111",
            None,
            None,
            [IssueCode.TOTAL_NOT_SUM],
            id="total_is_not_the_sum",
        ),
    ],
)
def test_scores_are_checked_against_each_other(
    given: dict[str, object],
    items: str,
    total: int | None,
    binary: bool | None,
    oddities: list[IssueCode],
) -> None:
    labels, found = checked_labels(given)
    assert labels is not None
    assert "".join("?" if at is None else str(at) for at in labels.items.values()) == items
    assert (labels.total, labels.binary) == (total, binary)
    assert found == oddities
    assert labels.is_recovered is (IssueCode.ITEM_RECOVERED in oddities)


@pytest.mark.parametrize(
    ("given", "oddity"),
    [
        pytest.param(raw("4,0,0,0,0,0,0,0", "4"), IssueCode.VALUE_OUT_OF_RANGE, id="item_of_4"),
        pytest.param(raw("-1,0,0,0,0,0,0,0"), IssueCode.VALUE_OUT_OF_RANGE, id="negative"),
        pytest.param(raw("", "25"), IssueCode.VALUE_OUT_OF_RANGE, id="total_of_25"),
        pytest.param(raw("", "9", "2"), IssueCode.VALUE_OUT_OF_RANGE, id="binary_of_2"),
        pytest.param(raw("", "high"), IssueCode.VALUE_UNREADABLE, id="word"),
        pytest.param(raw("", "2.5"), IssueCode.VALUE_UNREADABLE, id="half"),
        pytest.param(raw("", "1_0"), IssueCode.VALUE_UNREADABLE, id="underscore"),
        pytest.param(raw("", "\u0663"), IssueCode.VALUE_UNREADABLE, id="other_digits"),
        pytest.param(raw("", True), IssueCode.VALUE_UNREADABLE, id="truth_value"),
        pytest.param(raw("", float("inf")), IssueCode.VALUE_UNREADABLE, id="infinite"),
        pytest.param(raw("", [3]), IssueCode.VALUE_UNREADABLE, id="list"),
        pytest.param(raw("", ""), IssueCode.LABEL_WITHOUT_SCORES, id="blank"),
        pytest.param(raw(), IssueCode.LABEL_WITHOUT_SCORES, id="nothing"),
    ],
)
def test_label_that_cannot_be_used_is_none_and_never_clamped(
    given: dict[str, object], oddity: IssueCode
) -> None:
    assert checked_labels(given) == (None, [oddity])


@pytest.mark.parametrize(
    "header",
    [
        pytest.param("Participant_ID,PHQ8_Sleep,PHQ8_Score,PHQ8_Binary", id="avec_2017"),
        pytest.param("participant_ID,PHQ_8Sleep,PHQ_8Total,PHQ_Binary", id="e_daic"),
        pytest.param("Participant_ID ,PHQ8_3_Sleep , PHQ_Score,PHQ_Binary", id="blanks"),
        pytest.param("Participant,PHQ8_3_Sleep,Depression_severity,Depression_label", id="words"),
        pytest.param("record_id,phq8_3,phq8_total,phq8_binary", id="redcap"),
        pytest.param("Study ID,PHQ-8 Item 3,PHQ-8,PHQ8 binary", id="single_total"),
        pytest.param("subject_id,phq9_3,PHQ_8,PHQ8_Bin", id="items_of_the_phq9"),
        pytest.param(
            "ResponseId,Trouble falling or staying asleep,PHQ8 Summe,binary", id="wording"
        ),
    ],
)
def test_columns_are_found_by_loose_names(header: str) -> None:
    first, *others = column_meanings(header.split(","))
    assert first in {PERSON_ID, KNOWN}
    assert others == [Item.SLEEP, "total", "binary"]


@pytest.mark.parametrize(
    "header",
    [
        pytest.param([f"phq{number}" for number in range(1, 9)], id="series"),
        pytest.param([f"PHQ9.{number}" for number in range(1, 9)], id="phq9"),
        pytest.param([f"phq8_q0{number}" for number in range(1, 9)], id="zeros"),
        pytest.param([f"PHQ8[SQ00{number}]" for number in range(1, 9)], id="limesurvey"),
        pytest.param([item.value for item in Item], id="names"),
        pytest.param([item.value.removeprefix("PHQ8_") for item in Item], id="bare_names"),
    ],
)
def test_eight_items_are_found_by_number_or_name(header: list[str]) -> None:
    assert column_meanings(header) == [*Item]


@pytest.mark.parametrize(
    ("header", "meanings"),
    [
        ("PHQ2,PHQ8", ["", "total"]),
        ("phq8_1,PHQ8", [Item.NO_INTEREST, "total"]),
        ("phq9_total,phq_total,phq8_total", ["known", "known", "total"]),
        ("phq9_9,total", ["known", "known"]),
        ("Gender,sex,age,site,Alter", ["trait"] * 5),
        ("PCL-C (PTSD),PTSD Severity,redcap_event_name", ["known", "known", "occasion"]),
        ("notes,score_a", ["", ""]),
    ],
)
def test_columns_of_other_things_are_no_scores(header: str, meanings: list[str]) -> None:
    assert column_meanings(header.split(",")) == meanings


@pytest.mark.parametrize(
    ("header", "named"),
    [
        ("Participant_ID,PHQ8_Score,PHQ_8Total", "'PHQ_8Total'"),
        ("Participant_ID,PHQ8_Sleep,PHQ8_3_Sleep", "'PHQ8_3_Sleep'"),
        ("Participant_ID,phq8_3,phq9_3", "'phq9_3'"),
    ],
)
def test_two_columns_of_one_meaning_are_refused_by_name(header: str, named: str) -> None:
    names = header.split(",")
    with pytest.raises(InputError, match="mean the same") as caught:
        column_places(names, column_meanings(names), where="dev.csv")
    assert named in str(caught.value)
    assert "dev.csv" in str(caught.value)


@pytest.mark.parametrize(
    ("value", "score"),
    [
        ("Not at all", 0),
        ("several days", 1),
        ("2 - More than half the days", 2),
        ("Nearly every day (3)", 3),
        ("4 - Nearly every day", 3),
        ("An einzelnen Tagen", 1),
        ("Más de la mitad de los días", 2),
        ("1,0", 1),
        ("3.00", 3),
        ('="2"', 2),
        ("'1", 1),
    ],
)
def test_answer_is_read_as_people_write_it(value: str, score: int) -> None:
    labels, _ = checked_labels(raw("0,0,0,0,0,0,0,0") | {Item.SLEEP: value})
    assert labels is not None
    assert labels.items[Item.SLEEP] == score


@pytest.mark.parametrize(
    "value", [".", "-", "UNK", "NA", "#NULL!", "missing", "refused", "NaN", "-99", "9", "99.0"]
)
def test_missing_code_costs_its_item_alone(value: str) -> None:
    options = LabelOptions.read(missing="-99,9,99")
    labels, codes = checked_labels(raw("1,1,1,1,1,1,1,1") | {Item.SLEEP: value}, options)
    assert labels is not None
    assert [labels.items[item] for item in (Item.SLEEP, Item.MOVING)] == [None, 1]
    assert codes == [IssueCode.ITEMS_BLANK]


def test_number_that_is_a_score_is_never_missing() -> None:
    labels, _ = checked_labels(raw("", "9"), LabelOptions.read(missing="9"))
    assert labels is not None
    assert labels.total == 9


@pytest.mark.parametrize(("total", "expected"), [("", 10), ("10", 10), ("18", 10), ("11", None)])
def test_codes_from_1_are_scores_from_0(total: str, expected: int | None) -> None:
    options = LabelOptions.read(label_codes="1-4")
    labels, _ = checked_labels(raw("1,4,4,4,2,1,1,1", total), options)
    assert labels is not None
    assert [*labels.items.values()] == [0, 3, 3, 3, 1, 0, 0, 0]
    assert labels.total == expected


@pytest.mark.parametrize(
    ("given", "option"),
    [
        ({"missing": "x"}, "--missing"),
        ({"missing": "3"}, "--missing"),
        ({"label_codes": "1-5"}, "--label-codes"),
        ({"label_row": ["visit"]}, "--label-row"),
        ({"label_row": ["visit=1", "visit=2"]}, "--label-row"),
        ({"match_ids": "near"}, "--match-ids"),
    ],
)
def test_option_that_cannot_be_used_is_refused_by_name(given: dict[str, Any], option: str) -> None:
    with pytest.raises(InputError) as caught:
        LabelOptions.read(**given)
    assert caught.value.field == option


def test_files_complete_each_other() -> None:
    joined = merged([raw("", "3", "0"), raw("1,0,0,0,0,0,0,2"), raw("", "", "")])
    assert joined is not None
    labels, _ = checked_labels(joined)
    assert labels is not None
    assert (labels.total, labels.items[Item.MOVING]) == (3, 2)


def test_spellings_of_one_number_agree() -> None:
    assert merged([raw("", "3"), raw("", "3.0"), raw("", 3)]) == raw("", "3")


def test_files_that_contradict_give_nothing() -> None:
    assert merged([raw("", "3"), raw("", "4")]) is None
