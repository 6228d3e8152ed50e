from collections.abc import Sequence
from itertools import groupby

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
from ai_psychiatrist.domain.transcript import Speaker
from ai_psychiatrist.services.evidence_validation.tokens import tokenise
from ai_psychiatrist.services.evidence_validation.transcript_index import (
    GroundingMode,
    TranscriptIndex,
)
from ai_psychiatrist.services.evidence_validation.word_stream import WordRange, WordStream
from ai_psychiatrist.services.transcripts.plain_text import parse_transcript
from ai_psychiatrist.services.transcripts.speaker_labels import SpeakerLabels

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


COPIED = """\
Interviewer: Do you feel hopeless? Do you sleep?
Participant: I don't sleep well, I wake up at four every night.
Interviewer: And then?
Participant: Then I lie there and think about work.
Participant: I cant get up. Im tired all day, because I have no energy.
Interviewer: I see.
Participant: not in my case
"""
HEADS = (
    *("Participant: {}", "P: {}", "[Participant] {}", "12. Patient: {}", "12 Participant: {}"),
    *("Participant (00:13): {}", "[00:13] Participant: {}", "0:13 - Participant: {}"),
    *("**Participant:** {}", "- Participant: {}", "“Participant: {}”", "Participant:\n{}"),
    *("3. {}", "[3] {}", "(3) {}", "#3: {}", "Turn 3: {}", "[line 3] {}", "[00:01:02] {}"),
    *("({})", "[{}]", "“{}”"),
)


@pytest.mark.parametrize("head", HEADS)
def test_what_is_copied_at_the_head_of_a_quote_is_no_part_of_it(head: str) -> None:
    for said in ("I don't sleep well", "Then I lie there and think about work."):
        (segment,) = accepted(head.format(said), COPIED).segments
        assert COPIED[segment.start : segment.end].rstrip(".") == said.rstrip(".")


@pytest.mark.parametrize(
    ("quote", "reason"),
    [
        ("Interviewer: Do you feel hopeless?", QuoteRejection.INTERVIEWER_WORDS),
        ("Interviewer: I wake up at four", QuoteRejection.INTERVIEWER_WORDS),
        ("Participant: Do you feel hopeless?", QuoteRejection.INTERVIEWER_WORDS),
        ("4. every night", QuoteRejection.NOT_FOUND),
        ("4 every night", QuoteRejection.NOT_FOUND),
        ("0:13 every night", QuoteRejection.NOT_FOUND),
        ("Participant: I sleep well", QuoteRejection.NOT_FOUND),
        (
            "Participant: I wake up at four every night.\nInterviewer: And then?",
            QuoteRejection.CROSSES_SPEAKERS,
        ),
        (
            "Participant: I wake up at four every night.\nParticipant: Then I lie there",
            QuoteRejection.NOT_FOUND,
        ),
        ("I … sleep well", QuoteRejection.TOO_SHORT),
        ("I feel low … I lie there", QuoteRejection.NOT_FOUND),
        ("Then I lie there … I wake up at four", QuoteRejection.NOT_FOUND),
        ("Then I lie there … no energy", QuoteRejection.MEANING_CHANGED),
        ("Do you feel hopeless … I wake up at four", QuoteRejection.INTERVIEWER_WORDS),
    ],
)
def test_heads_and_ellipses_hide_no_edit(quote: str, reason: QuoteRejection) -> None:
    assert refused(quote, COPIED) is reason


def test_copied_lines_of_one_speaker_are_one_quote() -> None:
    lines = (
        "Participant: Then I lie there and think about work.\n"
        "Participant: I cant get up. Im tired all day"
    )
    assert [part.turn for part in accepted(lines, COPIED).segments] == [3, 4]


@pytest.mark.parametrize("ellipsis", ["…", "...", " [...] ", " … ", "… Participant: ", "(…)"])
def test_a_quote_with_an_ellipsis_is_found_in_parts(ellipsis: str) -> None:
    quote = accepted(f"Participant: I don't sleep well{ellipsis}I lie there and think", COPIED)
    assert quote.match is Match.TOLERANT
    assert [COPIED[part.start : part.end] for part in quote.segments] == [
        "I don't sleep well",
        "I lie there and think",
    ]
    assert quote.text == "I don't sleep well I lie there and think"


def test_three_parts_are_found_in_their_order() -> None:
    quote = accepted("I wake up at four … lie there and think … Im tired all day", COPIED)
    assert [part.turn for part in quote.segments] == [1, 3, 4]


@pytest.mark.parametrize(
    ("said", "quote"),
    [
        ("I did it ... maybe to hurt my own self", "I did it ... to hurt my own self"),
        ("I think of it, never of ending my life", "I think of it … of ending my life"),
        ("I said aloud that you want to die soon", "I said aloud … want to die soon"),
    ],
)
def test_an_ellipsis_within_a_sentence_hides_no_edit(said: str, quote: str) -> None:
    assert refused(quote, f"P: {said}") is QuoteRejection.MEANING_CHANGED


LABELS_OF_A_NAMED_PARTICIPANT = ("Speaker 2 (00:13): {}", "speaker 2: {}", "Participant: {}")


@pytest.mark.parametrize("head", LABELS_OF_A_NAMED_PARTICIPANT)
def test_the_label_of_a_named_participant_is_taken_off(head: str) -> None:
    labels = SpeakerLabels(given=(("Speaker 2", Speaker.PARTICIPANT),))
    text = "Speaker 1: How are you?\nSpeaker 2: I feel low."
    index = TranscriptIndex(parse_transcript(text, labels))
    assert isinstance(index.ground(head.format("I feel low")), Quote)
    assert not isinstance(index.ground("Speaker 1: I feel low"), Quote)


@pytest.mark.parametrize(
    ("said", "quote"),
    [
        ("I dont cry but I cant sleep", "I don't cry but I can't sleep"),
        ("Im tired, Ive slept, it doesn't help", "I'm tired, I've slept, it doesnt help"),
        ("it isnt so, they werent there", "it isn’t so, they weren’t there"),
    ],
)
def test_words_without_their_apostrophe_are_the_same(said: str, quote: str) -> None:
    assert accepted(quote, f"P: {said}").text == said


@pytest.mark.parametrize(
    ("said", "quote"),
    [
        ("I'll sleep", "ill sleep"),
        ("we'll see him sink", "well see him sink"),
        ("we're tired", "were tired"),
        ("he won't rest", "he wont rest"),
        ("I'd rest at home", "id rest at home"),
        ("she'll rest at home", "shell rest at home"),
    ],
)
def test_other_words_without_their_apostrophe_are_not_the_same(said: str, quote: str) -> None:
    assert refused(quote, f"P: {said}") is not None
    assert refused(said, f"P: {quote}") is not None


@pytest.mark.parametrize("mark", ["\u200e", "\u202a", "\u2066", "\ufeff", "\u200b"])
def test_invisible_marks_within_words_change_nothing(mark: str) -> None:
    assert accepted("I feel tired", f"P: {mark}I fe{mark}el tired{mark} now").match is not None


@pytest.mark.parametrize(
    "mark", ["\n00:01:13\n", " [00:01:13] ", " 0:01:13.5 ", "\x00 ", " (1:13) "]
)
def test_the_time_marks_of_a_tool_and_control_characters_are_no_words(mark: str) -> None:
    said = f"P: I slept badly{mark}because of the pain"
    assert accepted("I slept badly because of the pain", said).segments


def test_a_spoken_time_is_a_word() -> None:
    assert refused("I wake up and cry", "P: I wake up 3:30 and cry") is QuoteRejection.NOT_FOUND


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
    assert without_repeats(tokenise(sliced).words) == without_repeats(tokenise(cut).words)


def without_repeats(words: Sequence[str]) -> list[str]:
    """Return words of which each differs from the one before: a stammer may be quoted shorter."""
    return [word for word, _ in groupby(words)]


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
