import pytest

from ai_psychiatrist.evaluation.datasets.oddities import Cost, Oddity, OddityCode, tallied
from ai_psychiatrist.services.transcripts.utterances import FileFault, ReadingNote


@pytest.mark.parametrize("code", OddityCode)
def test_every_oddity_says_what_was_done_and_what_is_lost(code: OddityCode) -> None:
    assert code.action
    assert code.cost in Cost


@pytest.mark.parametrize("found", [*ReadingNote, *FileFault])
def test_every_finding_of_the_readers_is_an_oddity(found: ReadingNote | FileFault) -> None:
    assert OddityCode(found.value).value == found.value


def test_findings_of_one_code_are_one_oddity_with_the_first_line() -> None:
    found = [
        (OddityCode.SYNC_MARK, 4),
        (OddityCode.NO_INTERVIEWER, None),
        (OddityCode.SYNC_MARK, 9),
    ]
    assert list(tallied("a.csv", found)) == [
        Oddity(where="a.csv", code=OddityCode.SYNC_MARK, line=4, count=2),
        Oddity(where="a.csv", code=OddityCode.NO_INTERVIEWER),
    ]
