import pytest

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.evaluation.datasets.labels import checked_labels, label_columns, merged
from ai_psychiatrist.evaluation.datasets.oddities import OddityCode


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
            [OddityCode.BINARY_NOT_TOTAL],
            id="binary_says_otherwise",
        ),
        pytest.param(
            raw("0,0,0,0,0,0,0,,".removesuffix(","), "0"),
            "00000000",
            0,
            False,
            [OddityCode.ITEM_RECOVERED],
            id="one_blank_recovered",
        ),
        pytest.param(
            raw("1,1,nan,1,1,1,1,1", "10"),
            "11311111",
            10,
            True,
            [OddityCode.ITEM_RECOVERED],
            id="one_blank_recovered_as_three",
        ),
        pytest.param(
            raw("1,1,,1,1,1,1,1", "11"),
            "11?11111",
            None,
            None,
            [OddityCode.ITEMS_BLANK, OddityCode.TOTAL_NOT_SUM],
            id="one_blank_would_be_four",
        ),
        pytest.param(
            raw("1,1,,1,1,1,1,1", "6"),
            "11?11111",
            None,
            None,
            [OddityCode.ITEMS_BLANK, OddityCode.TOTAL_NOT_SUM],
            id="one_blank_would_be_negative",
        ),
        pytest.param(
            raw("1,1,,1,1,1,1,1"),
            "11?11111",
            None,
            None,
            [OddityCode.ITEMS_BLANK],
            id="one_blank_without_total",
        ),
        pytest.param(
            raw("1,1,,1,1,1,1,", "10"),
            "11?1111?",
            10,
            True,
            [OddityCode.ITEMS_BLANK],
            id="two_blanks",
        ),
        pytest.param(
            raw("1,1,1,1,1,1,1,1", "9", "0"),
            "11111111",
            None,
            None,
            [OddityCode.TOTAL_NOT_SUM],
            id="total_is_not_the_sum",
        ),
    ],
)
def test_scores_are_checked_against_each_other(
    given: dict[str, object],
    items: str,
    total: int | None,
    binary: bool | None,
    oddities: list[OddityCode],
) -> None:
    labels, found = checked_labels(given)
    assert labels is not None
    assert "".join("?" if at is None else str(at) for at in labels.items.values()) == items
    assert (labels.total, labels.binary) == (total, binary)
    assert found == oddities
    assert labels.is_recovered is (OddityCode.ITEM_RECOVERED in oddities)


@pytest.mark.parametrize(
    ("given", "oddity"),
    [
        pytest.param(raw("4,0,0,0,0,0,0,0", "4"), OddityCode.VALUE_OUT_OF_RANGE, id="item_of_4"),
        pytest.param(raw("-1,0,0,0,0,0,0,0"), OddityCode.VALUE_OUT_OF_RANGE, id="negative"),
        pytest.param(raw("", "25"), OddityCode.VALUE_OUT_OF_RANGE, id="total_of_25"),
        pytest.param(raw("", "9", "2"), OddityCode.VALUE_OUT_OF_RANGE, id="binary_of_2"),
        pytest.param(raw("", "high"), OddityCode.VALUE_UNREADABLE, id="word"),
        pytest.param(raw("", "2.5"), OddityCode.VALUE_UNREADABLE, id="half"),
        pytest.param(raw("", "1_0"), OddityCode.VALUE_UNREADABLE, id="underscore"),
        pytest.param(raw("", "\u0663"), OddityCode.VALUE_UNREADABLE, id="other_digits"),
        pytest.param(raw("", True), OddityCode.VALUE_UNREADABLE, id="truth_value"),
        pytest.param(raw("", float("inf")), OddityCode.VALUE_UNREADABLE, id="infinite"),
        pytest.param(raw("", [3]), OddityCode.VALUE_UNREADABLE, id="list"),
        pytest.param(raw("", ""), OddityCode.LABEL_WITHOUT_SCORES, id="blank"),
        pytest.param(raw(), OddityCode.LABEL_WITHOUT_SCORES, id="nothing"),
    ],
)
def test_label_that_cannot_be_used_is_none_and_never_clamped(
    given: dict[str, object], oddity: OddityCode
) -> None:
    assert checked_labels(given) == (None, [oddity])


@pytest.mark.parametrize(
    "header",
    [
        pytest.param("Participant_ID,PHQ8_Sleep,PHQ8_Score,PHQ8_Binary", id="avec_2017"),
        pytest.param("participant_ID,PHQ_8Sleep,PHQ_8Total,PHQ_Binary", id="e_daic"),
        pytest.param("Participant_ID ,PHQ8_3_Sleep , PHQ_Score,PHQ_Binary", id="blanks"),
        pytest.param("Participant,PHQ8_3_Sleep,Depression_severity,Depression_label", id="words"),
        pytest.param("unit_id,sleep,total,binary", id="short"),
    ],
)
def test_columns_are_found_by_loose_names(header: str) -> None:
    columns = label_columns(header.split(","), where="labels.csv")
    assert columns == {"unit_id": 0, Item.SLEEP: 1, "total": 2, "binary": 3}


def test_columns_of_other_things_are_no_scores() -> None:
    header = ["Participant_ID", "Gender", "PCL-C (PTSD)", "PTSD Severity", "age"]
    assert label_columns(header, where="labels.csv") == {"unit_id": 0}


@pytest.mark.parametrize(
    ("header", "named"),
    [
        ("Participant_ID,participant_ID ,PHQ8_Score", "'participant_ID '"),
        ("Participant_ID,PHQ8_Score,PHQ_8Total", "'PHQ_8Total'"),
        ("Participant_ID,PHQ8_Sleep,PHQ8_3_Sleep", "'PHQ8_3_Sleep'"),
    ],
)
def test_two_columns_of_one_meaning_are_refused_by_name(header: str, named: str) -> None:
    with pytest.raises(InputError, match="mean the same") as caught:
        label_columns(header.split(","), where="dev.csv")
    assert named in str(caught.value)
    assert "dev.csv" in str(caught.value)


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
