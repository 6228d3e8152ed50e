from ai_psychiatrist.evaluation.datasets.dataset import Cost, IssueCode
from ai_psychiatrist.services.transcripts.utterances import FileFault, ReadingNote


def test_every_oddity_says_what_was_done_and_what_is_lost() -> None:
    assert [code for code in IssueCode if not code.action or code.cost not in Cost] == []


def test_every_finding_of_the_readers_is_an_oddity() -> None:
    found = {one.value for kind in (ReadingNote, FileFault) for one in kind}
    assert found <= {code.value for code in IssueCode}
