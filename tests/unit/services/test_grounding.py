import pytest
from benchmarks.lies import only_leaves_out_repetitions
from hypothesis import given, reject
from hypothesis import strategies as st

from ai_psychiatrist.domain.errors import SpeakersUnknown
from ai_psychiatrist.domain.evidence import (
    Match,
    Quote,
    QuoteRejection,
    Segment,
    UnverifiedQuote,
)
from ai_psychiatrist.services.evidence_validation.tokens import tokenise
from ai_psychiatrist.services.evidence_validation.transcript_index import (
    GroundingMode,
    TranscriptIndex,
)
from ai_psychiatrist.services.evidence_validation.word_stream import WordRange, WordStream
from ai_psychiatrist.services.transcripts.plain_text import parse_transcript

INTERVIEW = """\
Recorded in the clinic.
Ellie: Do you feel hopeless? Do you sleep?
Participant: No.
Ellie: Tired?
Participant: I feel tired, all the time.
Participant: My appetite is gone!
Ellie: Do you cry?
Participant: I don't cry. Never really.
Ellie: <laughter>
Participant: No.
"""


def ground(
    quote: str,
    transcript: str = INTERVIEW,
    *,
    mode: GroundingMode = "substring",
    fuzzy_threshold: float = 0.85,
) -> Quote | UnverifiedQuote:
    index = TranscriptIndex(parse_transcript(transcript))
    return index.ground(quote, mode=mode, fuzzy_threshold=fuzzy_threshold)


def accepted(
    quote: str, transcript: str = INTERVIEW, *, mode: GroundingMode = "substring"
) -> Quote:
    found = ground(quote, transcript, mode=mode, fuzzy_threshold=0.5)
    assert isinstance(found, Quote), found.reason
    return found


def refused(
    quote: str, transcript: str = INTERVIEW, *, mode: GroundingMode = "substring"
) -> object:
    found = ground(quote, transcript, mode=mode)
    assert isinstance(found, UnverifiedQuote), found.segments
    assert found.text == quote
    return found.reason


def test_exact_quote_keeps_its_punctuation_and_slices_back() -> None:
    quote = accepted("I feel tired, all the time.")
    (segment,) = quote.segments
    assert quote.match is Match.EXACT
    assert quote.text == "I feel tired, all the time."
    assert INTERVIEW[segment.start : segment.end] == quote.text
    assert segment.turn == 4


def test_other_case_and_punctuation_is_reported_in_the_words_that_were_said() -> None:
    quote = accepted("i FEEL tired all the time")
    assert (quote.match, quote.text) == (Match.NORMALISED, "I feel tired, all the time")


def test_quote_over_two_turns_has_a_segment_in_each() -> None:
    quote = accepted("all the time. My appetite is gone!")
    assert [INTERVIEW[part.start : part.end] for part in quote.segments] == [
        "all the time",
        "My appetite is gone",
    ]
    assert [part.turn for part in quote.segments] == [4, 5]
    assert quote.text == "all the time My appetite is gone"
    assert quote.match is Match.NORMALISED


def test_tolerant_match_reports_the_fillers_that_were_said() -> None:
    quote = accepted("I feel tired of this", "P: I um feel tired of this", mode="fuzzy")
    assert (quote.match, quote.text) == (Match.TOLERANT, "I um feel tired of this")


def test_first_of_several_occurrences_is_taken() -> None:
    quote = accepted("so tired", "P: so tired\nI: oh\nP: so tired")
    assert quote.segments == (Segment(turn=0, start=3, end=11),)


def test_participant_is_found_behind_the_same_words_of_the_interviewer() -> None:
    quote = accepted("feel hopeless", "I: you feel hopeless\nP: I feel hopeless")
    assert quote.segments[0].turn == 1


@pytest.mark.parametrize(
    ("quote", "reason"),
    [
        pytest.param("I saw copper lanterns", QuoteRejection.NOT_FOUND, id="invented"),
        pytest.param("feel hopeless", QuoteRejection.INTERVIEWER_WORDS, id="interviewer"),
        pytest.param("Recorded in the clinic", QuoteRejection.INTERVIEWER_WORDS, id="preamble"),
        pytest.param("Tired? I feel", QuoteRejection.CROSSES_SPEAKERS, id="crosses"),
        pytest.param(
            "I don't cry. Never really. No",
            QuoteRejection.CROSSES_SPEAKERS,
            id="over_a_silent_turn",
        ),
        pytest.param("all the", QuoteRejection.TOO_SHORT, id="stop_words"),
        pytest.param("  ", QuoteRejection.TOO_SHORT, id="blank"),
        pytest.param("No", QuoteRejection.AMBIGUOUS, id="bare_answer_given_twice"),
        pytest.param("No.", QuoteRejection.AMBIGUOUS, id="bare_answer_with_its_full_stop"),
    ],
)
def test_refusals_say_why(quote: str, reason: QuoteRejection) -> None:
    assert refused(quote) is reason


def test_bare_answer_that_was_given_once_is_accepted() -> None:
    assert accepted("Nope", "I: Do you cry?\nP: Nope.\nI: Do you eat?\nP: Yes").text == "Nope"


def test_answer_word_inside_a_longer_turn_is_too_short() -> None:
    assert refused("no", "P: no trouble with that") is QuoteRejection.TOO_SHORT


@pytest.mark.parametrize(
    "quote",
    [
        pytest.param("I do feel tired, some of the time.", id="frequency"),
        pytest.param("She feels tired, all the time.", id="person"),
        pytest.param("I never feel tired, all the time.", id="negation"),
    ],
)
def test_fuzzy_mode_tells_a_changed_meaning_from_an_invention(quote: str) -> None:
    found = ground(quote, mode="fuzzy", fuzzy_threshold=0.5)
    assert isinstance(found, UnverifiedQuote)
    assert found.reason is QuoteRejection.MEANING_CHANGED


def test_fuzzy_mode_keeps_the_reason_of_words_of_the_interviewer() -> None:
    assert refused("feel hopeless", mode="fuzzy") is QuoteRejection.INTERVIEWER_WORDS


@pytest.mark.parametrize(
    ("said", "quote"),
    [
        pytest.param("Casi nunca duermo bien, así estoy.", "casi nunca duermo bien", id="spanish"),
        pytest.param("Ich schlafe schlecht, weiß nicht.", "ICH SCHLAFE SCHLECHT", id="german"),
        pytest.param("我每天都觉得很累。", "每天都觉得很累", id="chinese"),
        pytest.param("毎日とても疲れています。", "とても疲れて", id="japanese"),
        pytest.param("Я плохо сплю каждую ночь", "плохо сплю", id="russian"),
    ],
)
def test_quotes_in_other_languages_slice_back(said: str, quote: str) -> None:
    transcript = f"Ellie: ¿?\nParticipant: {said}"
    found = accepted(quote, transcript)
    assert found.text.casefold() == quote.casefold()
    assert transcript[found.segments[0].start : found.segments[0].end] == found.text


@pytest.mark.parametrize(
    ("said", "quote"),
    [
        pytest.param("No duermo bien", "Duermo bien nunca", id="spanish"),
        pytest.param("Ich schlafe nicht gut", "Ich schlafe gut", id="german"),
        pytest.param("我不觉得累", "我觉得累", id="chinese"),
    ],
)
def test_negation_left_out_in_another_language_is_refused(said: str, quote: str) -> None:
    assert refused(quote, f"Participant: {said}", mode="fuzzy") is not None


def test_single_ideograph_is_too_short() -> None:
    assert refused("累", "Participant: 我每天都觉得很累。") is QuoteRejection.TOO_SHORT


def test_labels_are_no_words() -> None:
    assert (
        refused("Participant", "Participant: fine\nParticipant: and tired")
        is QuoteRejection.NOT_FOUND
    )


def test_text_of_quotes_is_kept_out_of_their_representation() -> None:
    shown = f"{ground('I feel tired')!r} {ground('copper lanterns')!r}"
    assert "tired" not in shown
    assert "lanterns" not in shown


SPOKEN = (
    "I feel Tired, all day. It's 4.5 hours café; I can't eat “well” since 12 May <sigh> maybe"
).split()


@given(
    turns=st.lists(
        st.lists(st.sampled_from(SPOKEN), min_size=1, max_size=12), min_size=1, max_size=5
    ),
    data=st.data(),
)
def test_cut_of_a_participant_turn_slices_back(turns: list[list[str]], data: st.DataObject) -> None:
    """Each cut between words that holds content is found, and its segments give its words back."""
    # A first line such as "P: I" would be a legend.
    transcript = "\n".join(["I: hello", *(f"P: {' '.join(words)}\nI: go on" for words in turns)])
    words = data.draw(st.sampled_from(turns))
    start = data.draw(st.integers(0, len(words) - 1))
    cut = " ".join(words[start : data.draw(st.integers(start + 1, len(words)))])
    try:
        quote = ground(cut, transcript)
    except SpeakersUnknown:
        # Lines of a time or a mark alone can look like a head.
        reject()
    if isinstance(quote, UnverifiedQuote):
        assert quote.reason in {QuoteRejection.TOO_SHORT, QuoteRejection.AMBIGUOUS}
        return
    sliced = " ".join(transcript[part.start : part.end] for part in quote.segments)
    assert sliced == quote.text
    assert tokenise(sliced).words == tokenise(cut).words


@pytest.mark.parametrize("mode", ["substring", "fuzzy"])
@pytest.mark.parametrize("quote", ["I feel tired " * 400, " " * 4_000 + "tired"])
def test_a_quote_that_is_too_long_is_not_looked_for(quote: str, mode: GroundingMode) -> None:
    assert refused(quote, f"P: {quote} today", mode=mode) is QuoteRejection.TOO_LONG


@pytest.mark.parametrize("mode", ["substring", "fuzzy"])
@pytest.mark.parametrize(
    ("quote", "said"),
    [
        pytest.param("tired " * 300 + "today", ("tired " * 20 + "today ") * 400, id="word"),
        pytest.param(
            "one fine big red dog walks " * 100 + "fine",
            "one fine big red dog walks " * 1_000,
            id="sentence",
        ),
    ],
)
def test_a_search_without_end_is_given_up(quote: str, said: str, mode: GroundingMode) -> None:
    """A quote that nearly stands there in many places is neither accepted nor called absent."""
    assert refused(quote, f"P: {said}", mode=mode) is QuoteRejection.TOO_COSTLY


@pytest.mark.parametrize(
    ("quote", "transcript"),
    [
        pytest.param("tired " * 600, "I: go on\nP: " + "tired " * 20_000, id="word"),
        pytest.param(
            "tired " * 600 + "today", "P: " + "tired " * 20_000 + "today", id="word_at_the_end"
        ),
        pytest.param(
            "I felt so very low " * 100, "P: " + "I felt so very low " * 4_000, id="sentence"
        ),
    ],
)
def test_a_quote_of_repetitive_text_is_found(quote: str, transcript: str) -> None:
    found = accepted(quote, transcript)

    (segment,) = found.segments
    assert transcript[segment.start : segment.end].split() == quote.split()


@given(
    spoken=st.lists(st.sampled_from("ab"), max_size=60),
    words=st.lists(st.sampled_from("ab"), min_size=1, max_size=12),
)
def test_repetitive_words_are_found_wherever_said(spoken: list[str], words: list[str]) -> None:
    stream = WordStream(words=spoken, starts=[], ends=[], first_words=[0])

    length = len(words)
    assert list(stream.occurrences(words)) == [
        WordRange(at, at + length)
        for at in range(len(spoken) - length + 1)
        if spoken[at : at + length] == words
    ]


@pytest.mark.parametrize(
    ("quote", "is_faithful"),
    [
        ("it's not it's not it's", True),
        ("it's not", True),
        ("it's it's not pain", True),
        ("it's pain", False),
        ("not it's it's it's not", False),
        ("it's not not pain", False),
        ("", False),
    ],
)
def test_a_changed_quote_is_no_lie_where_it_only_leaves_out_a_repetition(
    quote: str, *, is_faithful: bool
) -> None:
    said = "but it's not it's it's not it's not pain".split()

    assert only_leaves_out_repetitions(quote.split(), said) is is_faithful
