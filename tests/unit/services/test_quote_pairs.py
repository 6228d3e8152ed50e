"""Quotes that hide an edit, and quotes that differ from what was said in nothing that matters."""

import sys
from collections.abc import Mapping, Sequence

import pytest
from tests.unit.services import quote_verdicts
from tests.unit.services.quote_pairs import CHANGED, FAITHFUL, WRITTEN_OTHERWISE

from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.domain.evidence import (
    Frequency,
    Match,
    Polarity,
    Quote,
    QuoteRejection,
    UnverifiedQuote,
)
from ai_psychiatrist.services.evidence_validation import validate_evidence_grounding
from ai_psychiatrist.services.evidence_validation.support import AssertionClassifier
from ai_psychiatrist.services.evidence_validation.transcript_index import (
    DEFAULT_FUZZY_THRESHOLD,
    GroundingMode,
    TranscriptIndex,
)
from ai_psychiatrist.services.transcripts.plain_text import parse_transcript

MODES: Sequence[GroundingMode] = ("substring", "fuzzy")
Pairs = Sequence[tuple[str, str]]
CHANGED_BY_KIND: Mapping[str, Pairs] = {"any": CHANGED, **quote_verdicts.CHANGED}
FAITHFUL_BY_KIND: Mapping[str, Pairs] = {"any": FAITHFUL, **quote_verdicts.FAITHFUL}


def ground(
    quote: str, said: str, *, mode: GroundingMode = "substring", threshold: float = 0.5
) -> Quote | UnverifiedQuote:
    text = f"Interviewer: Go on.\nParticipant: {said}\nInterviewer: Thank you."
    return ground_in(text, quote, mode=mode, threshold=threshold)


def grounds(
    pair: tuple[str, str], *, mode: GroundingMode = "substring", threshold: float = 0.5
) -> bool:
    """Return whether the second of a pair is accepted as a quote of the first."""
    said, quote = pair
    return isinstance(ground(quote, said, mode=mode, threshold=threshold), Quote)


def ground_in(
    text: str, quote: str, *, mode: GroundingMode = "substring", threshold: float = 0.5
) -> Quote | UnverifiedQuote:
    """Ground a quote in a transcript, and read what it says."""
    transcript = parse_transcript(text)
    found = TranscriptIndex(transcript).ground(quote, mode=mode, fuzzy_threshold=threshold)
    if isinstance(found, UnverifiedQuote):
        return found
    assert " ".join(text[part.start : part.end] for part in found.segments) == found.text
    return AssertionClassifier(transcript).for_narrative(found)


def accepted(quote: str, said: str, *, mode: GroundingMode = "substring") -> Quote:
    found = ground(quote, said, mode=mode)
    assert isinstance(found, Quote), found.reason
    return found


def reason(quote: str, said: str, *, mode: GroundingMode = "substring") -> QuoteRejection | None:
    found = ground(quote, said, mode=mode)
    assert isinstance(found, UnverifiedQuote)
    return found.reason


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", CHANGED_BY_KIND)
def test_a_quote_that_hides_an_edit_is_refused(kind: str, mode: GroundingMode) -> None:
    accepted = [pair for pair in CHANGED_BY_KIND[kind] if grounds(pair, mode=mode)]
    assert not accepted, "\n".join(map(repr, accepted))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", FAITHFUL_BY_KIND)
def test_a_faithful_quote_is_accepted(kind: str, mode: GroundingMode) -> None:
    refused = [pair for pair in FAITHFUL_BY_KIND[kind] if not grounds(pair, mode=mode)]
    assert not refused, "\n".join(map(repr, refused))


@pytest.mark.parametrize(("said", "quote"), WRITTEN_OTHERWISE)
def test_contractions_may_be_written_out_in_fuzzy_mode(said: str, quote: str) -> None:
    found = ground(quote, said, mode="fuzzy", threshold=0.7)
    assert isinstance(found, Quote), found.reason
    assert found.match is Match.TOLERANT
    assert not grounds((said, quote))


def test_one_contraction_written_out_passes_the_usual_threshold() -> None:
    pairs = quote_verdicts.WRITTEN_OTHERWISE
    usual = DEFAULT_FUZZY_THRESHOLD
    refused = [pair for pair in pairs if not grounds(pair, mode="fuzzy", threshold=usual)]
    assert not refused, "\n".join(map(repr, refused))
    accepted = [pair for pair in pairs if grounds(pair)]
    assert not accepted, "\n".join(map(repr, accepted))


@pytest.mark.parametrize("mode", MODES)
def test_a_cut_that_loses_what_denies_it_supports_nothing(mode: GroundingMode) -> None:
    found = {(said, quote): ground(quote, said, mode=mode) for said, quote in quote_verdicts.CUT}
    affirmed = [
        pair
        for pair, one in found.items()
        if isinstance(one, Quote) and one.polarity is Polarity.AFFIRMED
    ]
    assert not affirmed, "\n".join(map(repr, affirmed))


def test_a_cut_that_loses_how_often_keeps_the_frequency_of_its_clause() -> None:
    for said in ("I panic", "I feel low"):
        quote = accepted(f"{said} now", f"{said} now and then")
        assert quote.frequency is Frequency.SEVERAL_DAYS


@pytest.mark.parametrize(
    ("said", "quote", "passes", "fails"),
    [
        pytest.param("I can't sleep", "I can not sleep", 0.85, 0.95, id="one_contraction"),
        pytest.param(
            "And, um, it's, you know, it's, uh, exhausting", "and it is exhausting", 0.5, 0.85,
            id="much_left_out",
        ),
    ],
)  # fmt: skip
def test_threshold_bounds_what_a_fuzzy_match_may_leave_out_or_rewrite(
    said: str, quote: str, passes: float, fails: float
) -> None:
    assert isinstance(ground(quote, said, mode="fuzzy", threshold=passes), Quote)
    refused = ground(quote, said, mode="fuzzy", threshold=fails)
    assert isinstance(refused, UnverifiedQuote)
    assert refused.reason is QuoteRejection.NOT_SIMILAR


def test_fuzzy_mode_accepts_what_the_other_accepts_at_any_threshold() -> None:
    refused = [pair for pair in FAITHFUL if not grounds(pair, mode="fuzzy", threshold=1.0)]
    assert not refused, "\n".join(map(repr, refused))


@pytest.mark.parametrize("evidence", [{"PHQ8_Sleep": ["I feel tired"]}, {"PHQ8_Sleep": []}])
def test_fuzzy_mode_without_its_package_names_the_cure(
    monkeypatch: pytest.MonkeyPatch, evidence: dict[str, list[str]]
) -> None:
    monkeypatch.setitem(sys.modules, "rapidfuzz", None)
    with pytest.raises(ConfigurationError, match=r"pip install 'ai-psychiatrist\[fuzzy\]'"):
        validate_evidence_grounding(evidence, "I feel tired all day", mode="fuzzy")


@pytest.mark.parametrize(
    ("said", "quote", "polarity"),
    [
        pytest.param("No, I'm okay.", "I'm okay", Polarity.UNCLEAR, id="wellness"),
        pytest.param("I feel down.", "I feel down", Polarity.AFFIRMED, id="symptom"),
        pytest.param("I do.", "I do", Polarity.UNCLEAR, id="elliptical"),
        pytest.param("I can't.", "I can't", Polarity.UNCLEAR, id="elliptical_negation"),
        pytest.param("Yeah.", "Yeah.", Polarity.UNCLEAR, id="yes"),
        pytest.param("Not really.", "not really", Polarity.UNCLEAR, id="no_to_no_question"),
        pytest.param("Oh okay.", "oh okay", Polarity.UNCLEAR, id="acknowledgement"),
    ],
)
def test_a_short_utterance_supports_only_what_it_says_itself(
    said: str, quote: str, polarity: Polarity
) -> None:
    assert accepted(quote, said).polarity is polarity


@pytest.mark.parametrize(
    ("said", "quote"),
    [
        pytest.param("I'm okay with blood", "I'm okay", id="left_of_a_clause"),
        pytest.param("I think I can't get going today", "I can't get going", id="inside"),
        pytest.param("It is not really bad", "not really", id="part_of_a_statement"),
        pytest.param("I am sad", "I", id="letter"),
        pytest.param("I", "I", id="letter_alone"),
        pytest.param("The", "the", id="article_alone"),
        pytest.param("I am tired", "we were", id="not_said"),
    ],
)
@pytest.mark.parametrize("mode", MODES)
def test_common_words_that_are_no_whole_utterance_are_too_short(
    said: str, quote: str, mode: GroundingMode
) -> None:
    assert reason(quote, said, mode=mode) is QuoteRejection.TOO_SHORT


@pytest.mark.parametrize("answer", ["Yeah.", "Not really.", "I do."])
def test_a_bare_answer_that_was_given_twice_is_ambiguous(answer: str) -> None:
    said = f"{answer}\nInterviewer: Are you tired?\nParticipant: {answer}"
    assert reason(answer, said) is QuoteRejection.AMBIGUOUS


@pytest.mark.parametrize(
    ("question", "polarity"),
    [
        pytest.param("Any trouble sleeping?", Polarity.DENIED, id="symptom_asked"),
        pytest.param("Do you sleep well?", Polarity.UNCLEAR, id="wellness_asked"),
        pytest.param("What is your name?", Polarity.UNCLEAR, id="nothing_asked"),
    ],
)
def test_not_really_is_read_by_its_question(question: str, polarity: Polarity) -> None:
    text = f"Interviewer: {question}\nParticipant: Not really."
    found = ground_in(text, "Not really.")
    assert isinstance(found, Quote)
    assert (found.match, found.polarity) == (Match.EXACT, polarity)


@pytest.mark.parametrize(
    ("said", "quote"),
    [
        pytest.param("I feel\nso tired. Yes", "I feel\nso tired.", id="line_feed"),
        pytest.param("I feel\r\n  so tired", "I feel\r\n  so tired", id="windows"),
        pytest.param("I feel so tired, I feel\nso tired", "I feel\nso tired", id="second_place"),
        pytest.param("I feel\nso tired", "I feel so tired", id="one_line"),
        pytest.param("\n\nI feel\n\nso tired", "I feel so tired", id="blank_line"),
        pytest.param("İ feel so tired", "İ feel so tired", id="letter_of_two_lower_ones"),
    ],
)
def test_an_unchanged_quote_is_exact_across_line_breaks(said: str, quote: str) -> None:
    found = accepted(quote, said)
    assert found.match is Match.EXACT
    assert found.text in said


@pytest.mark.parametrize(
    ("said", "quote", "text"),
    [
        pytest.param("I [sigh] feel low", "I feel low", "I [sigh] feel low", id="tag_inside"),
        pytest.param("[sigh] I feel low", "[sigh] I feel low", "[sigh] I feel low", id="tag_first"),
        pytest.param("I do n't sleep", "I don't sleep", "I do n't sleep", id="split_contraction"),
    ],
)
def test_what_is_reported_is_what_was_transcribed(said: str, quote: str, text: str) -> None:
    assert accepted(quote, said).text == text
