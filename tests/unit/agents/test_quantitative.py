import asyncio
import json

import pytest
from tests.fakes.captured_events import captured_events
from tests.fakes.replies import ITEMS, evidence_text, scoring_answer, scoring_text
from tests.fakes.scripted import ScriptedChat, ScriptedModel, route

from ai_psychiatrist.agents.context import AssessmentContext, assessment_context
from ai_psychiatrist.agents.quantitative import QuantitativeAssessmentAgent
from ai_psychiatrist.domain.errors import AgentFailed
from ai_psychiatrist.domain.evidence import Grounding, Polarity, Relevance
from ai_psychiatrist.domain.failures import (
    FailureCategory,
    FailureCode,
    FailureRecord,
    FailureSeverity,
    RejectionCode,
    UnreadPart,
)
from ai_psychiatrist.domain.items import ItemAssessment, PHQ8Assessment, QuoteGrounding
from ai_psychiatrist.domain.phq8 import Item, UnknownReason
from ai_psychiatrist.infrastructure.logging import collect_failures
from ai_psychiatrist.llm.settings import PydanticAISettings
from ai_psychiatrist.services.evidence_validation import (
    EvidenceGroundingError,
    EvidenceSchemaError,
)
from ai_psychiatrist.services.evidence_validation.settings import QuantitativeSettings
from ai_psychiatrist.services.risk.detector import detect_risk
from ai_psychiatrist.services.transcripts.plain_text import parse_transcript

INTERVIEW = """\
Interviewer: How have you been sleeping?
Participant: I wake up at four every night.
Interviewer: Do you feel hopeless?
Participant: No, I don't feel hopeless.
Participant: I feel tired all the time.
"""
SLEEP = "I wake up at four every night."
TIRED = "I feel tired all the time."
DENIAL = "I don't feel hopeless."
INVENTED = "I have been counting copper lanterns."
ASKED = "How have you been sleeping?"


def agent(
    *replies: str, plain: str | None = None, retries: int = 0, **settings: bool | str | float
) -> tuple[QuantitativeAssessmentAgent, ScriptedModel]:
    model = ScriptedModel(replies)
    chain = (route(model, None if plain is None else ScriptedChat([plain])),)
    built = QuantitativeAssessmentAgent(
        chain,
        pydantic_ai_settings=PydanticAISettings(retries=retries),
        settings=QuantitativeSettings.model_validate(
            {f"evidence_quote_{name}": value for name, value in settings.items()}
        ),
    )
    return built, model


def evidence(**quotes: list[str] | str) -> str:
    return evidence_text({f"PHQ8_{name}": found for name, found in quotes.items()})


def scores(**items: dict[str, object]) -> str:
    answer = scoring_answer([])
    for name, fields in items.items():
        answer[f"PHQ8_{name}"] |= fields
    return scoring_text(answer)


def extract(
    built: QuantitativeAssessmentAgent, participant_id: int | None = 300
) -> dict[str, list[str]]:
    return asyncio.run(built._extract_evidence(INTERVIEW, participant_id=participant_id))


def case() -> AssessmentContext:
    return assessment_context(parse_transcript(INTERVIEW), participant_id=300)


def assess(
    built: QuantitativeAssessmentAgent, opened: AssessmentContext | None = None
) -> PHQ8Assessment:
    result = asyncio.run(built.assess(opened or case()))
    assert result is not None
    return result


def item(assessment: PHQ8Assessment, name: str) -> ItemAssessment:
    return assessment.items[Item(f"PHQ8_{name}")]


def counts(assessment: PHQ8Assessment) -> QuoteGrounding:
    assert assessment.grounding is not None
    return assessment.grounding


class TestEvidence:
    def test_ungrounded_quotes_are_dropped(self) -> None:
        built, _ = agent(evidence(Sleep=[SLEEP, INVENTED], Tired=[ASKED], Depressed=[DENIAL]))
        assert extract(built) == {key: [] for key in ITEMS} | {
            "PHQ8_Sleep": [SLEEP],
            "PHQ8_Depressed": [DENIAL],
        }

    def test_quotes_are_given_back_in_the_words_that_were_said(self) -> None:
        built, _ = agent(evidence(Sleep=["i wake up AT four"]))
        assert extract(built)["PHQ8_Sleep"] == ["I wake up at four"]

    def test_fuzzy_mode_is_used_when_it_is_set(self) -> None:
        quote = "I do not feel hopeless"
        strict, _ = agent(evidence(Depressed=[quote]))
        fuzzy, _ = agent(evidence(Depressed=[quote]), validation_mode="fuzzy")
        assert extract(strict)["PHQ8_Depressed"] == []
        assert extract(fuzzy)["PHQ8_Depressed"] == ["I don't feel hopeless"]

    def test_wrong_shape_is_asked_again(self) -> None:
        built, model = agent(evidence(Sleep=SLEEP), evidence(Sleep=[SLEEP]), retries=1)
        assert extract(built)["PHQ8_Sleep"] == [SLEEP]
        assert "PHQ8_Sleep: Expected list, got str" in model.feedback[1]

    def test_wrong_shape_after_spent_retries_is_an_error_and_no_empty_list(self) -> None:
        built, model = agent(evidence(Sleep=SLEEP), plain=evidence(Sleep=SLEEP), retries=1)
        with collect_failures() as failures, pytest.raises(EvidenceSchemaError) as caught:
            extract(built)
        assert caught.value.violations == {"PHQ8_Sleep": "Expected list, got str"}
        assert len(model.sent) == 2
        assert [(one.category, one.stage, one.context) for one in failures] == [
            (FailureCategory.AGENT_FAILED, "evidence", {}),
            (FailureCategory.EVIDENCE_SCHEMA, "evidence_extraction", {"count": 1}),
        ]
        assert "four" not in f"{caught.value!r}{failures}"

    def test_reply_that_is_no_json_fails_the_agent(self) -> None:
        built, _ = agent("prose")
        with pytest.raises(AgentFailed, match="'evidence' has no output: output_rejected"):
            extract(built)

    def test_all_rejected_is_recorded_and_leaves_empty_lists(self) -> None:
        built, _ = agent(evidence(Sleep=[INVENTED], Tired=[ASKED, INVENTED]))
        with collect_failures() as failures:
            assert extract(built) == {key: [] for key in ITEMS}
        assert failures == [
            FailureRecord(
                category=FailureCategory.EVIDENCE_HALLUCINATION,
                severity=FailureSeverity.ERROR,
                message=failures[0].message,
                stage="evidence_extraction",
                code=FailureCode.UNGROUNDED_EVIDENCE,
                context={
                    "mode": "zero_shot",
                    "extracted_count": 3,
                    "validation_mode": "substring",
                },
            )
        ]
        assert "lanterns" not in str(failures)

    def test_failure_says_for_which_reasons_all_quotes_were_refused(self) -> None:
        built, _ = agent(evidence(Sleep=["and the", INVENTED], Tired=["of it"]))
        with collect_failures() as failures:
            extract(built)
        assert failures[0].message.endswith("none was accepted: 2 too_short, 1 not_found.")

    def test_no_quotes_at_all_is_no_hallucination(self) -> None:
        with collect_failures() as failures:
            assert extract(agent(evidence())[0]) == {key: [] for key in ITEMS}
        assert failures == []

    def test_strict_mode_fails_when_all_is_rejected(self) -> None:
        built, _ = agent(evidence(Sleep=[INVENTED]), fail_on_all_rejected=True)
        with collect_failures() as failures, pytest.raises(EvidenceGroundingError) as caught:
            extract(built)
        assert "lanterns" not in str(caught.value)
        assert [failure.category for failure in failures] == [
            FailureCategory.EVIDENCE_HALLUCINATION
        ]

    def test_refusals_are_logged_once_in_digests(self) -> None:
        built, _ = agent(evidence(Sleep=[SLEEP, INVENTED]))
        with captured_events() as events:
            extract(built)
        names = [event["event"] for event in events]
        assert names == [
            "attempt_finished",
            "evidence_quote_rejected",
            "evidence_grounding_complete",
        ]
        assert "lanterns" not in str(events)

    def test_logging_of_refusals_can_be_switched_off(self) -> None:
        built, _ = agent(evidence(Sleep=[SLEEP, INVENTED]), log_rejections=False)
        with captured_events() as events:
            extract(built)
        assert [event["event"] for event in events] == ["attempt_finished"]


class TestScores:
    def test_score_stands_on_grounded_quotes_of_both_stages(self) -> None:
        built, _ = agent(
            evidence(Sleep=[SLEEP, INVENTED], Tired=[TIRED]),
            scores(
                Sleep={"score": 3, "evidence": [SLEEP], "reason": "each night", "confidence": 5},
                Tired={"score": "2", "evidence": [ASKED]},
            ),
        )
        result = assess(built)
        sleep, tired = item(result, "Sleep"), item(result, "Tired")
        assert (sleep.score, sleep.unknown_reason, sleep.confidence) == (3, None, 5)
        assert [quote.text for quote in sleep.evidence] == [SLEEP]
        assert [quote.text for quote in sleep.unverified_quotes] == [INVENTED]
        assert (
            sleep.llm_evidence_count,
            sleep.llm_evidence_extracted_count,
            sleep.llm_evidence_rejected_count,
        ) == (1, 2, 1)
        assert tired.score == 2
        assert [quote.text for quote in tired.unverified_quotes] == [ASKED]
        found = counts(result)
        assert (found.extracted_count, found.validated_count, found.rejected_count) == (3, 2, 1)
        assert found.grounding is Grounding.CHECKED

    def test_score_whose_only_quote_was_never_said_is_unknown(self) -> None:
        built, _ = agent(evidence(), scores(Failure={"score": 3, "evidence": [INVENTED]}))
        failure = item(assess(built), "Failure")
        assert (failure.score, failure.proposed_score) == (None, 3)
        assert failure.unknown_reason is UnknownReason.NO_GROUNDED_EVIDENCE
        assert [quote.text for quote in failure.unverified_quotes] == [INVENTED]

    def test_denied_quote_carries_a_zero_and_no_other_score(self) -> None:
        zero = item(
            assess(agent(evidence(Depressed=[DENIAL]), scores(Depressed={"score": 0}))[0]),
            "Depressed",
        )
        two = item(
            assess(agent(evidence(Depressed=[DENIAL]), scores(Depressed={"score": 2}))[0]),
            "Depressed",
        )
        assert zero.evidence[0].polarity is Polarity.DENIED
        assert (zero.score, zero.unknown_reason) == (0, None)
        assert (two.score, two.unknown_reason) == (None, UnknownReason.ONLY_DENIED_OR_PAST)

    def test_score_that_its_quotes_contradict_is_sent_back_once(self) -> None:
        built, model = agent(
            evidence(Depressed=[DENIAL], Sleep=[SLEEP]),
            scores(Depressed={"score": 3}, Sleep={"score": 3}),
            scores(Depressed={"score": 0}, Sleep={"score": 3}),
            retries=1,
        )
        opened = case()
        result = assess(built, opened)
        assert item(result, "Depressed").score == 0
        assert item(result, "Sleep").score == 3
        assert [one.code for one in opened.calls.attempts] == [
            None,
            RejectionCode.RULE_BROKEN,
            None,
        ]
        assert "PHQ8_Depressed" in model.feedback[-1]
        assert DENIAL not in model.feedback[-1]
        assert "PHQ8_Sleep" not in model.feedback[-1]

    def test_model_that_insists_on_a_contradicted_score_is_not_asked_a_third_time(self) -> None:
        opened = case()
        insisting = scores(Depressed={"score": 3})
        built, model = agent(evidence(Depressed=[DENIAL]), insisting, insisting, retries=3)
        depressed = item(assess(built, opened), "Depressed")
        assert (depressed.score, depressed.proposed_score) == (None, 3)
        assert depressed.unknown_reason is UnknownReason.ONLY_DENIED_OR_PAST
        assert len(opened.calls.attempts) == len(model.sent) == 3

    def test_total_is_a_range_while_items_are_unknown(self) -> None:
        built, _ = agent(evidence(Sleep=[SLEEP]), scores(Sleep={"score": 3}))
        result = assess(built)
        assert (result.total_score_min, result.total_score_max, result.na_count) == (3, 24, 7)
        assert result.total_score is None
        reasons = {one.unknown_reason for one in result.items.values() if one.unread_answer is None}
        assert reasons == {None, UnknownReason.NO_MENTION}

    def test_what_was_asked_for_and_has_no_evidence_is_unclear(self) -> None:
        built, _ = agent(evidence(Sleep=[SLEEP]), scores(Sleep={"score": 3}))
        asked = [one for one in assess(built).items.values() if one.unread_answer is not None]
        assert asked
        for one in asked:
            assert (one.score, one.unknown_reason) == (None, UnknownReason.UNCLEAR)
            assert one.unread_answer is not None
            assert one.unread_answer.answer_turn == one.unread_answer.question_turn + 1

    def test_items_come_in_the_order_of_the_instrument_whatever_the_reply(self) -> None:
        answer = dict(reversed(scoring_answer([]).items()))
        result = assess(agent(evidence(), scoring_text(answer))[0])
        assert [one.item.value for one in result.items.values()] == list(ITEMS)

    def test_unknown_keys_are_counted(self) -> None:
        built, _ = agent(evidence(Mood=[SLEEP], Sleep=[SLEEP]), scores())
        assert counts(assess(built)).unknown_keys == 1

    def test_scoring_is_shown_the_grounded_quotes_alone(self) -> None:
        built, model = agent(evidence(Sleep=[SLEEP, INVENTED]), scores())
        assess(built)
        prompt = model.prompts[1]
        block = prompt[prompt.index("<evidence-") :]
        shown = json.loads(block[block.index("{") : block.index("</evidence-")])
        assert shown == {key: [] for key in ITEMS} | {"PHQ8_Sleep": [SLEEP]}

    def test_prompts_of_both_stages_begin_with_the_same_bytes(self) -> None:
        opened = case()
        built, model = agent(evidence(), scores())
        assess(built, opened)
        assert len(model.prompts) == 2
        assert all(prompt.startswith(opened.transcript_block) for prompt in model.prompts)

    def test_wrong_shape_means_no_scores(self) -> None:
        built, model = agent(evidence(Sleep=SLEEP))
        assert asyncio.run(built.assess(case())) is None
        assert len(model.sent) == 1

    def test_strict_mode_means_no_scores_when_all_is_rejected(self) -> None:
        built, model = agent(evidence(Sleep=[INVENTED]), scores(), fail_on_all_rejected=True)
        assert asyncio.run(built.assess(case())) is None
        assert len(model.sent) == 1

    def test_failed_scoring_keeps_the_evidence_and_gives_no_scores(self) -> None:
        built, _ = agent(evidence(Sleep=[SLEEP]), "prose")
        with collect_failures() as failures:
            result = asyncio.run(built.assess(case()))
        assert [failure.stage for failure in failures] == ["quantitative"]
        assert result is not None
        assert not result.has_answers
        assert not result.accepted
        assert {item.unknown_reason for item in result.items.values()} == {
            UnknownReason.SCORING_FAILED
        }
        assert [quote.text for item in result.items.values() for quote in item.evidence] == [SLEEP]

    def test_scores_that_were_only_sent_back_are_not_accepted_ones(self) -> None:
        built, _ = agent(
            evidence(Sleep=[SLEEP]),
            scores(Sleep={"score": 2, "evidence": [INVENTED]}),
            "prose",
            retries=1,
        )
        result = asyncio.run(built.assess(case()))
        assert result is not None
        assert result.has_answers
        assert not result.accepted


class TestWithoutValidation:
    def test_quotes_are_unverified_and_no_score_stands(self) -> None:
        built, _ = agent(
            evidence(Sleep=[SLEEP, INVENTED]),
            scores(Sleep={"score": 3, "evidence": [SLEEP]}),
            validation_enabled=False,
        )
        with captured_events() as events, collect_failures() as failures:
            result = assess(built)
        sleep = item(result, "Sleep")
        assert counts(result).grounding is Grounding.DISABLED
        assert (sleep.score, sleep.proposed_score, sleep.evidence) == (None, 3, ())
        assert sleep.unknown_reason is UnknownReason.NO_GROUNDED_EVIDENCE
        assert [(quote.text, quote.reason) for quote in sleep.unverified_quotes] == [
            (SLEEP, None),
            (INVENTED, None),
        ]
        assert failures == []
        assert {event["event"] for event in events} == {"attempt_finished"}

    def test_what_was_not_checked_is_not_counted_as_rejected(self) -> None:
        built, _ = agent(evidence(Sleep=[SLEEP, INVENTED]), scores(), validation_enabled=False)
        result = assess(built)
        found = counts(result)
        assert (found.extracted_count, found.validated_count, found.rejected_count) == (2, 0, 0)
        assert item(result, "Sleep").llm_evidence_extracted_count == 2
        assert item(result, "Sleep").llm_evidence_rejected_count == 0


WHOLE = {"score": 3, "evidence": [SLEEP], "reason": "each night", "confidence": 5}


def in_part(
    reply: str, *later: str, plain: str | None = None
) -> tuple[PHQ8Assessment, list[FailureRecord]]:
    found = evidence(Sleep=[SLEEP], Tired=[TIRED])
    built, _ = agent(found, reply, *later, plain=plain, retries=max(len(later), 1))
    with collect_failures() as failures:
        return assess(built), failures


def scored(name: str = "Tired", **fields: object) -> str:
    """Write a scoring reply whose sleep is whole, and another item has these fields."""
    given: dict[str, object] = {"score": 2, "evidence": [TIRED], "reason": "said", "confidence": 4}
    return scores(**{"Sleep": WHOLE, name: given | fields})


TIRED_TWICE = scored().replace('"PHQ8_Tired": {', '"PHQ8_Tired": {"score": 1}, "PHQ8_Tired": {')


@pytest.mark.parametrize(
    ("reply", "unread"),
    [
        pytest.param(scored(score=7), UnreadPart.SCORE, id="out_of_range"),
        pytest.param(scored(score=-1), UnreadPart.SCORE, id="negative"),
        pytest.param(scored(score=2.5), UnreadPart.SCORE, id="a_half"),
        pytest.param(scored(score=True), UnreadPart.SCORE, id="true"),
        pytest.param(scored(score="often"), UnreadPart.SCORE, id="a_word"),
        pytest.param(scored(score=[2]), UnreadPart.SCORE, id="a_list"),
        pytest.param(scored(score=float("nan")), UnreadPart.SCORE, id="nan"),
        pytest.param(scored(score=1e999), UnreadPart.SCORE, id="infinity"),
        pytest.param(scored(evidence=TIRED), UnreadPart.EVIDENCE, id="evidence_as_a_text"),
        pytest.param(scored(evidence=[TIRED, 1]), UnreadPart.EVIDENCE, id="a_number_in_it"),
        pytest.param(scored(evidence={"quote": TIRED}), UnreadPart.EVIDENCE, id="an_object"),
        pytest.param(scored(evidence=["\ud800"]), UnreadPart.EVIDENCE, id="half_a_character"),
        pytest.param(scored(evidence=[TIRED] * 101), UnreadPart.EVIDENCE, id="too_many_quotes"),
        pytest.param(TIRED_TWICE, UnreadPart.ITEM, id="twice"),
        pytest.param(
            scored().replace('"PHQ8_Tired"', '"PHQ8_Fatigue"'), UnreadPart.ITEM, id="missing"
        ),
        pytest.param(
            scored().replace('"PHQ8_Failure": {', '"phq8 tired": {'), UnreadPart.ITEM, id="renamed"
        ),
        pytest.param(json.dumps({"result": {"PHQ8_Sleep": WHOLE}}), UnreadPart.ITEM, id="wrapped"),
    ],
)
def test_item_that_cannot_be_read_costs_itself_alone(reply: str, unread: UnreadPart) -> None:
    result, failures = in_part(reply)
    sleep, tired = item(result, "Sleep"), item(result, "Tired")
    assert (sleep.score, sleep.confidence, sleep.warnings) == (3, 5, ())
    assert (tired.score, tired.proposed_score) == (None, None)
    assert (tired.unknown_reason, tired.warnings) == (UnknownReason.SCORING_FAILED, (unread,))
    assert [quote.text for quote in tired.evidence] == [TIRED]
    assert result.has_answers
    assert not result.accepted
    (failure,) = failures
    assert (failure.category, failure.severity, failure.stage, failure.code) == (
        FailureCategory.PARTIAL_REPLY,
        FailureSeverity.WARNING,
        "quantitative",
        FailureCode.OUTPUT_REJECTED,
    )
    assert failure.context["lost_count"] == sum(
        one.unknown_reason is UnknownReason.SCORING_FAILED for one in result.items.values()
    )


@pytest.mark.parametrize(
    ("fields", "unread"),
    [
        *(({"confidence": said}, UnreadPart.CONFIDENCE) for said in ("high", 90, 0, True, 4.5)),
        ({"confidence": float("inf")}, UnreadPart.CONFIDENCE),
        ({"reason": "bad \ud800 sleep"}, UnreadPart.REASON),
    ],
)
def test_field_that_cannot_be_read_costs_itself_alone(
    fields: dict[str, object], unread: UnreadPart
) -> None:
    result, failures = in_part(scored("Tired", **fields))
    tired = item(result, "Tired")
    assert (tired.score, tired.unknown_reason, tired.warnings) == (2, None, (unread,))
    assert (tired.confidence is None) == (unread is UnreadPart.CONFIDENCE)
    assert (tired.reason == "") == (unread is UnreadPart.REASON)
    assert item(result, "Sleep").score == 3
    assert result.accepted
    assert [one.category for one in failures] == [FailureCategory.PARTIAL_REPLY]
    assert (failures[0].context["unread_count"], failures[0].context["lost_count"]) == (1, 0)


def test_raw_half_of_a_character_costs_its_field_as_an_escaped_one_does() -> None:
    raw = json.dumps(json.loads(scored(reason="\ud800")[9:-10]), ensure_ascii=False)
    assert "\ud800" in raw
    tired = item(in_part(raw)[0], "Tired")
    assert (tired.score, tired.reason, tired.warnings) == (2, "", (UnreadPart.REASON,))


def test_part_is_kept_only_where_no_later_reply_is_whole() -> None:
    result, failures = in_part(scored(score=7), scored())
    assert item(result, "Tired").score == 2
    assert (result.accepted, failures) == (True, [])
    result, failures = in_part(scored(score=7), "prose", plain=scored(score=1))
    assert item(result, "Tired").score == 1
    assert (result.accepted, failures) == (True, [])


def test_reply_that_lost_least_stands_and_the_later_one_of_equals() -> None:
    worse = scores(Sleep=WHOLE, Tired={"score": 9}, Moving={"score": 9})
    result, _ = in_part(scored(score=7), worse, "prose")
    assert item(result, "Moving").unknown_reason is UnknownReason.NO_MENTION
    result, _ = in_part(worse, scored("Moving", score=9, evidence=[]), "prose")
    assert item(result, "Tired").unknown_reason is UnknownReason.SCORE_NA_WITH_EVIDENCE


def test_cut_off_reply_and_draft_stay_refused() -> None:
    for reply in (scored()[:-40], f"<think>{scored(score=7)}", f"{scored(score=7)}\nCorrection: 2"):
        result, failures = in_part(reply)
        assert not result.has_answers
        assert [one.category for one in failures] == [FailureCategory.AGENT_FAILED]


def test_whole_answer_of_the_next_model_beats_a_part_of_the_first() -> None:
    first = ScriptedModel([evidence(Tired=[TIRED]), scored(score=7)])
    second = ScriptedModel([scored(score=1)])
    chain = (route(first, name="first"), route(second, name="second"))
    built = QuantitativeAssessmentAgent(chain, pydantic_ai_settings=PydanticAISettings(retries=1))
    result = assess(built)
    assert item(result, "Tired").score == 1
    assert result.accepted
    assert (len(first.sent), len(second.sent)) == (3, 1)


def test_part_of_the_first_model_stands_where_the_next_gives_nothing() -> None:
    first = ScriptedModel([evidence(Tired=[TIRED], Sleep=[SLEEP]), scored(score=7)])
    chain = (route(first, name="first"), route(ScriptedModel(["no"]), name="second"))
    built = QuantitativeAssessmentAgent(chain, pydantic_ai_settings=PydanticAISettings(retries=0))
    with collect_failures() as failures:
        result = assess(built)
    assert item(result, "Sleep").score == 3
    assert [one.context["model"] for one in failures] == ["first"]


SPANISH = "Duermo muy mal desde hace tres semanas, casi todos los días."


def test_scores_stand_on_quotes_in_a_language_that_is_not_read() -> None:
    transcript = parse_transcript(f"Interviewer: Do you sleep badly?\nParticipant: {SPANISH}\n")
    opened = assessment_context(transcript, unread=detect_risk(transcript).examined.wholly_unread)
    built, _ = agent(
        evidence(Sleep=[SPANISH]), scores(Sleep={"score": 3, "evidence": [SPANISH], "reason": "?"})
    )

    assessment = assess(built, opened)

    sleep = item(assessment, "Sleep")
    assert (sleep.score, [quote.relevance for quote in sleep.evidence]) == (3, [Relevance.UNREAD])
    assert item(assessment, "Tired").unknown_reason is UnknownReason.NO_MENTION
