from pathlib import Path

import pytest

import ai_psychiatrist as ap
from ai_psychiatrist.domain.evidence import Match, QuoteRejection
from ai_psychiatrist.services.evidence_validation import validate_evidence_grounding

INTERVIEW = (
    "Interviewer: Do you sleep at all?\n"
    "Participant: I don't, um, sleep well.\n"
    "Interviewer: And your appetite?\n"
    "Participant: I eat nothing on most days.\n"
)
UNKNOWN_LABELS = "Anna: How are you?\nTom: I am tired every day.\n"
CUES = (
    b"WEBVTT\n\n00:01.000 --> 00:02.000\n<v Anna>How are you?\n\n"
    b"00:03.000 --> 00:04.000\n<v Tom>I am tired every day.\n"
)


def test_each_quote_has_its_place_or_the_reason_why_it_has_none() -> None:
    report = ap.ground(
        ["I eat nothing", "i don't sleep well", "Do you sleep at all?", "I sleep well", "I eat"],
        INTERVIEW,
    )
    found = [(quote.verified, quote.match, quote.reason) for quote in report.quotes]
    assert found[:4] == [
        (True, Match.EXACT, None),
        (True, Match.TOLERANT, None),
        (False, None, QuoteRejection.INTERVIEWER_WORDS),
        (False, None, QuoteRejection.NOT_FOUND),
    ]
    assert (report.verified_count, report.rejected_count) == (
        sum(one.verified for one in report.quotes),
        sum(not one.verified for one in report.quotes),
    )
    for quote in report.quotes:
        words = [INTERVIEW[part.start : part.end] for part in quote.segments]
        assert quote.text == (" ".join(words) if quote.verified else None)
    assert report.quotes[0].quote == "I eat nothing"


def test_it_is_the_check_that_assessments_do(example_interview: str) -> None:
    quotes = [line.partition(": ")[2] for line in example_interview.splitlines() if line]
    validated, _ = validate_evidence_grounding({"item": quotes}, example_interview)
    report = ap.ground(quotes, example_interview)
    assert [one.quote for one in report.quotes if one.verified] == validated["item"]


def test_whose_words_count_can_be_said() -> None:
    with pytest.raises(ap.SpeakersUnknown) as raised:
        ap.ground(["I am tired"], UNKNOWN_LABELS)
    assert raised.value.labels == ("Anna", "Tom")
    assert "participant=LABEL in Python" in str(raised.value)
    assert ap.ground(["I am tired"], UNKNOWN_LABELS, participant="Tom").verified_count == 1
    assert ap.ground(["I am tired"], UNKNOWN_LABELS, participant="Anna").verified_count == 0


def test_a_file_is_read_by_its_content_and_its_text_comes_back(tmp_path: Path) -> None:
    path = tmp_path / "call.vtt"
    path.write_bytes(CUES)
    for given in (CUES, path):
        report = ap.ground(["I am tired"], given, participant="Tom", interviewer=["Anna"])
        (quote,) = report.quotes
        (part,) = quote.segments
        assert report.transcript_text is not None
        assert report.transcript_text[part.start : part.end] == "I am tired"


def test_a_path_that_is_given_as_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "interview.txt"
    path.write_text(INTERVIEW, encoding="utf-8")
    with pytest.raises(ap.InputError, match=r"pathlib\.Path"):
        ap.ground(["I eat nothing"], str(path))


@pytest.mark.parametrize("content", ["", " \n", "Interviewer: Hello?\n"])
def test_an_interview_without_words_of_a_participant_is_an_error(content: str) -> None:
    with pytest.raises(ap.TranscriptUnreadable):
        ap.ground(["I eat nothing"], content)


def test_a_label_that_can_be_none_is_named_by_its_keyword() -> None:
    with pytest.raises(ap.InputError) as raised:
        ap.ground([], INTERVIEW, participant="x" * 61)
    assert raised.value.field == "participant"


def test_what_is_shown_of_a_report_has_no_words() -> None:
    report = ap.ground(["I eat nothing", "nobody said this"], INTERVIEW)
    for shown in (repr(report), str(report), repr(report.quotes), f"{report.quotes[1]}"):
        assert "GroundedQuote" in shown
        assert "nothing" not in shown
        assert "nobody" not in shown
