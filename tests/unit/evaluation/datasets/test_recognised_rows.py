import pytest

from ai_psychiatrist.evaluation.datasets.e_daic import is_e_daic, read_recognised
from ai_psychiatrist.evaluation.datasets.oddities import OddityCode
from ai_psychiatrist.services.daic_woz import RowsUnreadable

HEADER = "Start_Time,End_Time,Text,Confidence"


def words(content: str) -> list[str]:
    return [line.words for line in read_recognised(content).lines]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        pytest.param(f"{HEADER}\n0.1,0.9,hello there,0.9", ["hello there"], id="plain"),
        pytest.param("Start_Time,End_Time,Text\n0.1,0.9,hello", ["hello"], id="no_confidence"),
        pytest.param(
            "start_time\tend_time\ttext\tconfidence\n0.1\t0.9\thi, you\t0.9", ["hi, you"], id="tabs"
        ),
        pytest.param("Start_Time;End_Time;Text\n1;2;hi", ["hi"], id="semicolons"),
        pytest.param(f'{HEADER}\n1,2,"yes, ""fine""",0.9', ['yes, "fine"'], id="quoted"),
        pytest.param(f'{HEADER}\n1,2,",0.9\n3,4,bye,0.8', ['"', "bye"], id="lone_quote_mark"),
        pytest.param(f'{HEADER}\n1,2,"""",0.9', ['"'], id="lone_quote_mark_quoted"),
        pytest.param(f'{HEADER}\n1,2,"one\ntwo",0.9\n3,4,x,1', ["one two", "x"], id="two_lines"),
        pytest.param(f"{HEADER}\n1,2,hi,\n3,4,12,1.0E-05", ["hi", "12"], id="blank_confidence"),
        pytest.param(f"{HEADER}\n1,2,nan,0.5\n3,4,null,0.5", ["nan", "null"], id="like_blanks"),
        pytest.param(f"{HEADER}\r\n1,2,hi,0.9\r\n\r\n", ["hi"], id="windows_line_ends"),
    ],
)
def test_rows_are_read_by_their_times(content: str, said: list[str]) -> None:
    assert is_e_daic(content)
    assert words(content) == said


def test_separators_outside_quotes_stay_words_and_are_noted() -> None:
    speech = read_recognised(f"{HEADER}\n1,2,well, i think so,0.9\n3,4,,0.9")
    assert [line.words for line in speech.lines] == ["well, i think so"]
    assert speech.found == ((OddityCode.UNQUOTED_SEPARATOR, 2), (OddityCode.BLANK_WORDS, 3))


def test_removed_details_are_never_words() -> None:
    speech = read_recognised(f"{HEADER}\n1,2,scrubbed_entry,0.9\n3,4,in scrubbed_entry now,0.9")
    assert [line.words for line in speech.lines] == ["in <scrubbed> now"]
    assert speech.found == ((OddityCode.SCRUBBED, 2), (OddityCode.SCRUBBED, 3))


@pytest.mark.parametrize(
    ("content", "fault", "line"),
    [
        pytest.param("start_time\tstop_time\tspeaker\tvalue", "wrong_header", 1, id="daic_woz"),
        pytest.param("", "wrong_header", 1, id="empty"),
        pytest.param(f"{HEADER}\n", "no_words", None, id="no_rows"),
        pytest.param(f"{HEADER}\nhi there", "broken_row", 2, id="no_times"),
        pytest.param(f"{HEADER}\n1,2,hi", "broken_row", 2, id="no_confidence"),
    ],
)
def test_file_that_would_lose_words_is_refused(content: str, fault: str, line: int | None) -> None:
    with pytest.raises(RowsUnreadable) as caught:
        read_recognised(content)
    assert (caught.value.fault, caught.value.line) == (fault, line)
    assert "there" not in str(caught.value)
