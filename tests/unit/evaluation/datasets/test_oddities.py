import pytest

from ai_psychiatrist.evaluation.datasets.issues import Cost, IssueCode
from ai_psychiatrist.services.transcripts.utterances import FileFault, ReadingNote


@pytest.mark.parametrize("code", IssueCode)
def test_every_oddity_says_what_was_done_and_what_is_lost(code: IssueCode) -> None:
    assert code.action
    assert code.cost in Cost


@pytest.mark.parametrize("found", [*ReadingNote, *FileFault])
def test_every_finding_of_the_readers_is_an_oddity(found: ReadingNote | FileFault) -> None:
    assert IssueCode(found.value).value == found.value
