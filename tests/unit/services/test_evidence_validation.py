import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fakes.captured_events import captured_events

from ai_psychiatrist.domain.errors import AssessmentServiceError
from ai_psychiatrist.domain.normal_form import nfkc
from ai_psychiatrist.domain.phq8 import PHQ8_DOMAIN_KEYS
from ai_psychiatrist.infrastructure.digests import keyed_digest
from ai_psychiatrist.services.evidence_validation import (
    EvidenceGroundingError,
    EvidenceGroundingStats,
    EvidenceSchemaError,
    normalize_for_quote_match,
    validate_evidence_grounding,
    validate_evidence_schema,
)
from ai_psychiatrist.services.evidence_validation.transcript_index import GroundingMode

SENTINEL = "copper lanterns of Valparaiso"

TRANSCRIPT = """\
Ellie: how have you been sleeping lately
Participant: I can't sleep at night. I wake up at 4 nearly every night.
Ellie: do you feel hopeless about things
Participant: No, I don't feel hopeless. I feel tired all the time.
Participant: My appetite is gone, I've lost 12 pounds.
Ellie: that sounds exhausting
Participant: Yeah. <laughter> I've been feeling okay lately though.
Participant: She never eats breakfast and I rarely do.
"""


def check(
    quote: str,
    transcript: str = TRANSCRIPT,
    *,
    mode: GroundingMode = "substring",
    fuzzy_threshold: float = 0.85,
) -> bool:
    validated, _ = validate_evidence_grounding(
        {"PHQ8_Sleep": [quote]}, transcript, mode=mode, fuzzy_threshold=fuzzy_threshold
    )
    return validated["PHQ8_Sleep"] == [quote]


def violations_of(reply: object) -> dict[str, str]:
    with pytest.raises(EvidenceSchemaError) as caught:
        validate_evidence_schema(reply)
    return caught.value.violations


def test_quotes_of_all_items_pass_in_order() -> None:
    reply: dict[str, list[str]] = {
        key: [f"first {key}", f"second {key}"] for key in PHQ8_DOMAIN_KEYS
    }
    assert validate_evidence_schema(reply) == reply


def test_missing_and_null_keys_are_empty_lists() -> None:
    evidence = validate_evidence_schema({"PHQ8_NoInterest": ["quote"], "PHQ8_Appetite": None})
    assert evidence == {key: [] for key in PHQ8_DOMAIN_KEYS} | {"PHQ8_NoInterest": ["quote"]}


def test_blank_and_repeated_quotes_are_left_out() -> None:
    reply = {"PHQ8_Failure": [" valid ", "   ", "", "also valid", "valid"]}
    assert validate_evidence_schema(reply)["PHQ8_Failure"] == ["valid", "also valid"]


def test_keys_that_name_no_item_are_ignored() -> None:
    evidence = validate_evidence_schema({"PHQ8_Mood": "a string", "PHQ8_Sleep": ["quote"]})
    assert set(evidence) == set(PHQ8_DOMAIN_KEYS)
    assert evidence["PHQ8_Sleep"] == ["quote"]


@pytest.mark.parametrize(
    ("value", "violation"),
    [
        pytest.param(SENTINEL, "Expected list, got str", id="string"),
        pytest.param({"quote": SENTINEL}, "Expected list, got dict", id="object"),
        pytest.param(42, "Expected list, got int", id="number"),
        pytest.param(0, "Expected list, got int", id="zero"),
        pytest.param(False, "Expected list, got bool", id="false"),
        pytest.param("", "Expected list, got str", id="empty_string"),
        pytest.param(
            ["valid", 123, True], "Expected list[str] but element 1 was int", id="number_in_list"
        ),
        pytest.param([[SENTINEL]], "Expected list[str] but element 0 was list", id="list_in_list"),
        pytest.param(
            ["valid", None], "Expected list[str] but element 1 was NoneType", id="null_in_list"
        ),
    ],
)
def test_wrong_types_are_violations_that_name_the_type_and_nothing_else(
    value: object, violation: str
) -> None:
    assert violations_of({"PHQ8_Sleep": value, "PHQ8_Tired": ["x"]}) == {"PHQ8_Sleep": violation}


def test_all_violations_are_collected() -> None:
    reply = {"PHQ8_NoInterest": "one", "PHQ8_Depressed": 2, "PHQ8_Sleep": []}
    assert violations_of(reply) == {
        "PHQ8_NoInterest": "Expected list, got str",
        "PHQ8_Depressed": "Expected list, got int",
    }


@pytest.mark.parametrize(
    ("reply", "name"),
    [
        pytest.param([SENTINEL], "list", id="list"),
        pytest.param(SENTINEL, "str", id="string"),
        pytest.param(None, "NoneType", id="null"),
    ],
)
def test_top_level_has_to_be_an_object(reply: object, name: str) -> None:
    assert violations_of(reply) == {"__root__": f"Expected object, got {name}"}


def test_schema_error_says_how_many_fields_and_no_value() -> None:
    with pytest.raises(
        EvidenceSchemaError, match="Evidence schema violations in 2 fields"
    ) as caught:
        validate_evidence_schema({"PHQ8_Sleep": SENTINEL, "PHQ8_Tired": [SENTINEL, 1]})
    assert SENTINEL not in f"{caught.value!r} {caught.value.violations}"


@pytest.mark.parametrize(
    "error", [EvidenceSchemaError("m", violations={}), EvidenceGroundingError()]
)
def test_evidence_errors_are_value_errors_of_our_tree(error: Exception) -> None:
    assert isinstance(error, ValueError)
    assert isinstance(error, AssessmentServiceError)


@pytest.mark.parametrize(
    ("quote", "transcript"),
    [
        pytest.param(
            "I can't sleep at night",
            "Patient said: I can't sleep at night. Very tired.",
            id="exact_without_labels",
        ),
        pytest.param("I feel  tired", "I feel tired all the time", id="white_space"),
        pytest.param("I feel tired", "I feel\n\ttired all the time", id="line_break_in_turn"),
        pytest.param("I CAN'T SLEEP", "i can't sleep at all", id="case"),
        pytest.param("I can’t sleep at night", TRANSCRIPT, id="curly_apostrophe_in_quote"),
        pytest.param(
            "I can't sleep", "Patient: I can’t sleep", id="curly_apostrophe_in_transcript"
        ),
        pytest.param("“I feel tired all the time”", TRANSCRIPT, id="curly_quotation_marks"),
        pytest.param("I feel tired", TRANSCRIPT.replace(" ", "\u00a0"), id="no_break_spaces"),
        pytest.param("wake\u200b up at 4", TRANSCRIPT, id="zero_width_in_quote"),
        pytest.param("I wake up", "I wa\u200bke u\ufeffp", id="zero_width_in_transcript"),
        pytest.param("I wa\u00adke up at 4", TRANSCRIPT, id="soft_hyphen"),
        pytest.param("ｆｅｅｌ ｔｉｒｅｄ", TRANSCRIPT, id="full_width_letters"),
        pytest.param("Yeah. I've been feeling okay", TRANSCRIPT, id="non_verbal_tag_left_out"),
        pytest.param("I <sigh> feel tired", TRANSCRIPT, id="non_verbal_tag_put_in"),
        pytest.param("I feel tired all the time!", TRANSCRIPT, id="closing_punctuation"),
        pytest.param("No, I don't feel hopeless.", TRANSCRIPT, id="denial"),
        pytest.param("feel hopeless", TRANSCRIPT, id="cut_out_of_a_denial"),
        pytest.param(
            "I feel tired all the time. My appetite is gone", TRANSCRIPT, id="two_turns_in_a_row"
        ),
        pytest.param("I've lost 12 pounds", TRANSCRIPT, id="number"),
        pytest.param(
            "slept 4.5 hours", "P: I slept 4.5 hours at the café", id="decimal_beside_other_letters"
        ),
        pytest.param("about ~ 4 hours", "P: Müde. About ~ 4 hours", id="symbol_beside_umlaut"),
    ],
)
@pytest.mark.parametrize("mode", ["substring", "fuzzy"])
def test_words_of_the_participant_are_accepted(
    quote: str, transcript: str, mode: GroundingMode
) -> None:
    assert check(quote, transcript, mode=mode)


@pytest.mark.parametrize(
    ("quoted", "spoken"),
    [
        pytest.param("NFC", "NFD", id="composed_quote"),
        pytest.param("NFD", "NFC", id="decomposed_quote"),
    ],
)
@pytest.mark.parametrize("words", ["Me siento más cansado así", "나는 매일 피곤해요"])
def test_canonically_equal_encodings_are_the_same_words(
    quoted: str, spoken: str, words: str
) -> None:
    assert check(
        unicodedata.normalize(quoted, words),  # type: ignore[arg-type]
        "Participant: " + unicodedata.normalize(spoken, words),  # type: ignore[arg-type]
    )


@pytest.mark.parametrize(
    "quote",
    [
        pytest.param("I feel hopeless and worthless every day", id="invented"),
        pytest.param("how have you been sleeping lately", id="interviewer"),
        pytest.param("that sounds exhausting", id="interviewer_between_turns"),
        pytest.param(
            "nearly every night. do you feel hopeless", id="from_participant_to_interviewer"
        ),
        pytest.param("lost 12 pounds. that sounds exhausting. Yeah", id="around_an_interviewer"),
        pytest.param("I", id="single_letter"),
        pytest.param("e", id="letter_inside_a_word"),
        pytest.param("the", id="stop_word"),
        pytest.param("all the", id="stop_words"),
        pytest.param("4", id="bare_number"),
        pytest.param("", id="empty"),
        pytest.param("<laughter>", id="tag_alone"),
        pytest.param("…", id="punctuation_alone"),
        pytest.param("eel tired all the tim", id="cut_inside_words"),
        pytest.param("I fеel tired", id="cyrillic_homoglyph"),
        pytest.param("I feeI tired", id="capital_i_for_l"),
        pytest.param("I can sleep at night", id="negation_left_out"),
        pytest.param("I do feel hopeless", id="negation_turned"),
        pytest.param("I don't feel tired all the time", id="negation_put_in"),
        pytest.param("I never feel tired all the time", id="never_put_in"),
        pytest.param("I wake up at 5 nearly every night", id="number_changed"),
        pytest.param("I've lost 120 pounds", id="number_lengthened"),
        pytest.param("I've lost pounds", id="number_left_out"),
        pytest.param("I wake up at 4 every night", id="frequency_left_out"),
        pytest.param("I wake up at 4 nearly every week", id="frequency_changed"),
        pytest.param("I feel tired most of the time", id="frequency_weakened"),
        pytest.param("I often feel tired all the time", id="frequency_put_in"),
        pytest.param("She rarely eats breakfast", id="frequency_of_another"),
        pytest.param("He feels tired all the time", id="person_changed"),
        pytest.param("you feel tired all the time", id="person_turned_round"),
        pytest.param("I never eat breakfast", id="person_of_another"),
        pytest.param("Ellie: I feel tired", id="label_of_another"),
        pytest.param("I feel ... hopeless", id="negation_under_an_ellipsis"),
        pytest.param("appetite is gone. I feel tired", id="order_changed"),
        pytest.param("I feel tired ... pounds", id="pieces_joined"),
    ],
)
@pytest.mark.parametrize("mode", ["substring", "fuzzy"])
def test_what_the_participant_did_not_say_is_refused(quote: str, mode: GroundingMode) -> None:
    assert not check(quote, mode=mode, fuzzy_threshold=0.5)


@pytest.mark.parametrize("mode", ["substring", "fuzzy"])
def test_another_transcript_grounds_nothing(mode: GroundingMode) -> None:
    other = "Participant: work is going well, thanks.\nEllie: I can't sleep at night"
    assert not check("I can't sleep at night", other, mode=mode)


@pytest.mark.parametrize(
    ("quote", "transcript"),
    [
        pytest.param("I feel tired of it all", "P: I um feel tired uh of it all", id="fillers"),
        pytest.param("when I feel tired", "P: when I I feel tired", id="repeated_start"),
    ],
)
def test_fuzzy_mode_tolerates_disfluency(quote: str, transcript: str) -> None:
    assert check(quote, transcript, mode="fuzzy", fuzzy_threshold=0.8)


@pytest.mark.parametrize(
    ("quote", "transcript"),
    [
        pytest.param("I can not sleep", "Participant: I can't sleep", id="contraction"),
        pytest.param("I cannot sleep", "Participant: I can not sleep", id="split_compound"),
    ],
)
def test_fuzzy_mode_tolerates_spellings_that_substring_mode_refuses(
    quote: str, transcript: str
) -> None:
    assert check(quote, transcript, mode="fuzzy")
    assert not check(quote, transcript, mode="substring")


@pytest.mark.parametrize(
    ("quote", "transcript"),
    [
        pytest.param("I feel hopeless", "P: I do not not feel hopeless", id="negation_repeated"),
        pytest.param("I do not feel low", "P: I do not not feel low", id="double_negation"),
        pytest.param("ill for two years", "P: ill for two two years", id="number_repeated"),
        pytest.param("I'll be fine", "P: ill be fine", id="apostrophe_left_out"),
        pytest.param("ill be fine", "P: I'll be fine", id="apostrophe_put_in"),
    ],
)
def test_fuzzy_mode_keeps_words_that_carry_meaning(quote: str, transcript: str) -> None:
    assert not check(quote, transcript, mode="fuzzy", fuzzy_threshold=0.5)


def test_fuzzy_threshold_bounds_the_drift() -> None:
    transcript = "P: I can't sleep"
    assert check("I can not sleep", transcript, mode="fuzzy", fuzzy_threshold=0.8) is True
    assert check("I can not sleep", transcript, mode="fuzzy", fuzzy_threshold=0.95) is False


def test_statistics_count_quotes_and_refusals_by_domain() -> None:
    evidence = {
        "PHQ8_Sleep": ["I can't sleep at night", SENTINEL],
        "PHQ8_Depressed": [SENTINEL, "do you feel hopeless about things"],
        "PHQ8_Tired": ["I feel tired all the time"],
        "PHQ8_Moving": [],
    }
    validated, stats = validate_evidence_grounding(evidence, TRANSCRIPT)
    assert validated == {
        "PHQ8_Sleep": ["I can't sleep at night"],
        "PHQ8_Depressed": [],
        "PHQ8_Tired": ["I feel tired all the time"],
        "PHQ8_Moving": [],
    }
    assert stats == EvidenceGroundingStats(
        extracted_count=5,
        validated_count=2,
        rejected_count=3,
        rejected_by_domain={
            "PHQ8_Sleep": 1,
            "PHQ8_Depressed": 2,
            "PHQ8_Tired": 0,
            "PHQ8_Moving": 0,
        },
    )


def test_accepted_quotes_are_returned_as_the_model_wrote_them() -> None:
    validated, _ = validate_evidence_grounding({"PHQ8_Tired": ["i  FEEL tired"]}, TRANSCRIPT)
    assert validated == {"PHQ8_Tired": ["i  FEEL tired"]}


@pytest.mark.parametrize(
    "transcript", ["", "  \n", "Ellie: I can't sleep at night", "\ud800 I can't sleep at night"]
)
def test_transcript_without_a_participant_grounds_nothing(transcript: str) -> None:
    _, stats = validate_evidence_grounding({"PHQ8_Sleep": ["I can't sleep"]}, transcript)
    assert (stats.validated_count, stats.rejected_count) == (0, 1)


def test_each_refusal_is_logged_in_digests_and_lengths() -> None:
    quote = f"I saw the {SENTINEL}"
    with captured_events() as events:
        validate_evidence_grounding(
            {"PHQ8_Sleep": ["I can't sleep at night"], "PHQ8_Tired": [quote]}, TRANSCRIPT
        )
    rejected, complete = events
    assert rejected == {
        "event": "evidence_quote_rejected",
        "log_level": "warning",
        "domain": "PHQ8_Tired",
        "quote_hash": keyed_digest(quote),
        "quote_len": len(quote),
        "reason": "not_found",
        "transcript_hash": keyed_digest(TRANSCRIPT),
        "transcript_len": len(TRANSCRIPT),
        "mode": "substring",
    }
    assert complete == {
        "event": "evidence_grounding_complete",
        "log_level": "info",
        "extracted_count": 2,
        "validated_count": 1,
        "rejected_count": 1,
        "rejected_by_domain": {"PHQ8_Sleep": 0, "PHQ8_Tired": 1},
        "transcript_hash": keyed_digest(TRANSCRIPT),
    }
    assert len(str(rejected["quote_hash"])) == 12


def test_nothing_is_logged_when_every_quote_is_grounded() -> None:
    with captured_events() as events:
        validate_evidence_grounding({"PHQ8_Sleep": ["I can't sleep at night"]}, TRANSCRIPT)
    assert events == []


def test_logging_of_refusals_can_be_switched_off() -> None:
    with captured_events() as events:
        validate_evidence_grounding({"PHQ8_Sleep": [SENTINEL]}, TRANSCRIPT, log_rejections=False)
    assert events == []


@pytest.mark.parametrize(
    ("text", "normalised"),
    [
        pytest.param("  I  CAN’T\n sleep ", "i can't sleep", id="space_case_apostrophe"),
        pytest.param("a <laughter> b </ma> c", "a b c", id="tags"),
        pytest.param("“tired”\u00a0now", '"tired" now', id="quotes_and_no_break_space"),
        pytest.param("slee\u200bp\ufeff", "sleep", id="zero_width"),
        pytest.param("ﬁne ½", "fine 1⁄2", id="compatibility_forms"),
        pytest.param(
            "sleep < 4 hours, pulse > 90", "sleep < 4 hours, pulse > 90", id="comparisons"
        ),
        pytest.param("I am <not> well", "i am <not> well", id="tag_that_carries_meaning"),
        pytest.param("<" + "a" * 21 + ">", "<" + "a" * 21 + ">", id="too_long_for_a_tag"),
    ],
)
def test_normal_form_of_text(text: str, normalised: str) -> None:
    assert normalize_for_quote_match(text) == normalised


def test_comparisons_are_words_of_a_quote() -> None:
    transcript = "P: I sleep < 4 hours and my pulse is > 90 at night"
    assert check("I sleep < 4 hours", transcript) is True
    assert check("I sleep at night", transcript) is False
    assert check("I sleep > 4 hours", transcript) is False


HOSTILE = [
    pytest.param("<" * 80_000, id="opening"),
    pytest.param("<a" * 40_000, id="opening_with_letter"),
    pytest.param("</" * 40_000, id="closing"),
    pytest.param("[laugh" * 13_000, id="sounds"),
    pytest.param("'" * 80_000, id="apostrophes"),
    pytest.param("1." * 40_000, id="numbers"),
    pytest.param("e" + "\u0301" * 80_000, id="combining_marks"),
    pytest.param("e" + "\u0301" * 40_000 + "\u0316" * 40_000, id="marks_out_of_order"),
]


@pytest.mark.parametrize("hostile", HOSTILE)
def test_text_of_marks_is_normalised(hostile: str) -> None:
    """A pattern that is not linear in time would keep this for minutes."""
    assert normalize_for_quote_match(hostile) == nfkc(hostile)


@pytest.mark.parametrize("hostile", HOSTILE)
def test_quote_beside_a_text_of_marks_is_found(hostile: str) -> None:
    """As above, for cutting the text into words."""
    assert check("so tired", f"P: {hostile} so tired")


WORDS = st.lists(
    st.sampled_from(
        "I sleep badly every night since the divorce my appetite don't can't 4 12 hours never "
        "tired, exhausted. hopeless! café naïve 4.5 2-3 10% mother's <laughter> müde 疲れ".split()
    ),
    min_size=1,
    max_size=30,
)


@given(spoken=WORDS, start=st.integers(0, 29), length=st.integers(1, 30))
def test_contiguous_cut_of_a_turn_that_holds_content_is_accepted(
    spoken: list[str], start: int, length: int
) -> None:
    quote = " ".join([*spoken[start : start + length], "exhausted"])
    transcript = "Ellie: how are you\nP: " + " ".join(spoken[:start]) + f" {quote} since May"
    assert check(quote, transcript)


@pytest.mark.parametrize("log_rejections", [True, False])
def test_a_transcript_of_unknown_speakers_is_warned_of_without_its_words(
    *, log_rejections: bool
) -> None:
    text = "Vera: How do you sleep?\nTom: I cannot sleep at all.\n"
    with captured_events() as events:
        validated, stats = validate_evidence_grounding(
            {"PHQ8_Sleep": ["I cannot sleep at all"]}, text, log_rejections=log_rejections
        )
    assert (validated, stats.rejected_count) == ({"PHQ8_Sleep": []}, 1)
    (warning,) = (one for one in events if one["event"] == "evidence_transcript_unreadable")
    assert warning["log_level"] == "warning"
    assert (warning["code"], warning["count"]) == ("speakers_unknown", 2)
    assert warning["extracted_count"] == 1
    assert not {"Vera", "Tom", "sleep"} & set(str(warning).split())
