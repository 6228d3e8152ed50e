import asyncio

import pytest
from tests.fakes.captured_events import captured_events
from tests.fakes.model_server import FAULTS, ModelServer
from tests.fakes.replies import qualitative_text
from tests.fakes.scripted import ScriptedChat, ScriptedModel, response, route, served_chain

from ai_psychiatrist.agents.context import AssessmentContext, assessment_context
from ai_psychiatrist.agents.prompts.shared import DELIMITED
from ai_psychiatrist.agents.qualitative import QualitativeAssessmentAgent
from ai_psychiatrist.agents.settings import QualitativeSettings
from ai_psychiatrist.domain.evidence import QuoteRejection
from ai_psychiatrist.domain.failures import CallPath, FailureCode, RejectionCode
from ai_psychiatrist.domain.narrative import (
    Metric,
    MetricScore,
    NarrativeQuote,
    QualitativeAssessment,
)
from ai_psychiatrist.infrastructure.logging import collect_failures
from ai_psychiatrist.llm.settings import PydanticAISettings
from ai_psychiatrist.services.transcripts.plain_text import parse_transcript

INTERVIEW = """\
Interviewer: How have you been sleeping these days?
Participant: Badly. I wake up at four every night.
Interviewer: And your energy in the daytime?
Participant: I feel tired all the time.
"""
SAID = "I wake up at four every night."
ASKED = "How have you been sleeping these days?"
INVENTED = "I have been counting copper lanterns."
GOOD = qualitative_text([SAID])
MISSING_TAG = GOOD.replace("<risk_factors>", "").replace("</risk_factors>", "")

FINDINGS = QualitativeAssessment(
    overall="Draft of an assessment.",
    phq8_symptoms="Sleep.",
    social_factors="Lives alone.",
    biological_factors="not assessed in interview",
    risk_factors="Isolation.",
)


def case() -> AssessmentContext:
    return assessment_context(parse_transcript(INTERVIEW))


def agent(
    *replies: str,
    plain: tuple[str, ...] = (),
    pydantic_ai: PydanticAISettings | None = None,
    **settings: bool | int,
) -> tuple[QualitativeAssessmentAgent, ScriptedModel]:
    model = ScriptedModel(replies)
    chain = (route(model, ScriptedChat(plain) if plain else None),)
    built = QualitativeAssessmentAgent(
        chain,
        pydantic_ai_settings=pydantic_ai or PydanticAISettings(retries=1),
        settings=QualitativeSettings.model_validate(settings),
    )
    return built, model


def assess(
    built: QualitativeAssessmentAgent, opened: AssessmentContext | None = None
) -> QualitativeAssessment:
    findings = asyncio.run(built.assess(opened or case()))
    assert findings is not None
    return findings


def codes(opened: AssessmentContext) -> list[object]:
    return [one.code for one in opened.calls.attempts]


def quotes(findings: QualitativeAssessment) -> list[str]:
    return [quote.text for quote in findings.supporting_quotes]


def test_reply_becomes_findings_with_grounded_quotes() -> None:
    findings = assess(agent(GOOD)[0])
    assert findings.overall == "The participant is tired."
    (quote,) = findings.supporting_quotes
    assert quote.verified
    segment = quote.segments[0]
    assert INTERVIEW[segment.start : segment.end] == quote.text == SAID


def test_quotes_nobody_said_are_kept_and_marked_unverified() -> None:
    findings = assess(agent(qualitative_text([SAID, INVENTED, ASKED]))[0])
    assert findings.supporting_quotes[1:] == (
        NarrativeQuote(text=INVENTED, verified=False, reason=QuoteRejection.NOT_FOUND),
        NarrativeQuote(text=ASKED, verified=False, reason=QuoteRejection.INTERVIEWER_WORDS),
    )
    assert findings.dropped_quotes == 0


def test_missing_tag_is_asked_again() -> None:
    built, model = agent(MISSING_TAG, GOOD)
    opened = case()
    assert quotes(assess(built, opened)) == [SAID]
    assert codes(opened) == [RejectionCode.MISSING_TAG, None]
    assert "<risk_factors>" in model.feedback[1]


def test_spent_retries_lead_to_the_plain_path() -> None:
    opened = case()
    findings = assess(agent(MISSING_TAG, plain=(GOOD,))[0], opened)
    assert quotes(findings) == [SAID]
    assert [one.path for one in opened.calls.attempts] == [
        CallPath.AGENT,
        CallPath.AGENT,
        CallPath.PLAIN,
    ]


def test_placeholders_never_stand_in_for_a_missing_section() -> None:
    opened = case()
    built, _ = agent(MISSING_TAG, plain=(MISSING_TAG,))
    with collect_failures() as failures:
        assert asyncio.run(built.assess(opened)) is None
    assert codes(opened) == [RejectionCode.MISSING_TAG] * 3
    assert [failure.code for failure in failures] == [FailureCode.OUTPUT_REJECTED]


def test_without_settings_only_the_plain_path_is_taken() -> None:
    chat, opened = ScriptedChat([GOOD]), case()
    assess(QualitativeAssessmentAgent(chat), opened)
    assert [one.path for one in opened.calls.attempts] == [CallPath.PLAIN]


def test_enabled_without_a_base_url_warns_and_takes_the_plain_path() -> None:
    chat, opened = ScriptedChat([GOOD]), case()
    with captured_events() as events:
        built = QualitativeAssessmentAgent(chat, pydantic_ai_settings=PydanticAISettings())
    assess(built, opened)
    assert [event["event"] for event in events] == ["agent_path_unavailable"]
    assert [one.path for one in opened.calls.attempts] == [CallPath.PLAIN]


class TestQuoteCheck:
    def test_unverified_quotes_are_dropped_and_counted(self) -> None:
        built, model = agent(
            qualitative_text([SAID, INVENTED]), validate_quotes=True, max_unverified_quotes=1
        )
        findings = assess(built)
        assert (quotes(findings), findings.dropped_quotes) == ([SAID], 1)
        assert len(model.sent) == 1

    def test_too_many_are_asked_again_for_verbatim_quotes(self) -> None:
        built, model = agent(qualitative_text([INVENTED]), GOOD, validate_quotes=True)
        findings = assess(built)
        assert (quotes(findings), findings.dropped_quotes) == ([SAID], 0)
        assert "words that the participant did not say" in model.prompts[1]
        assert INVENTED not in model.prompts[1]

    def test_re_asking_is_bounded_and_what_is_left_is_dropped(self) -> None:
        built, model = agent(
            qualitative_text([SAID, INVENTED]), validate_quotes=True, quote_retry_max_attempts=2
        )
        findings = assess(built)
        assert len(model.sent) == 3
        assert (quotes(findings), findings.dropped_quotes) == ([SAID], 1)

    def test_re_asking_can_be_switched_off(self) -> None:
        built, model = agent(
            qualitative_text([INVENTED]), validate_quotes=True, quote_retry_max_attempts=0
        )
        findings = assess(built)
        assert len(model.sent) == 1
        assert (quotes(findings), findings.dropped_quotes) == ([], 1)

    def test_re_asking_is_counted_apart_from_the_other_retries(self) -> None:
        built, model = agent(
            MISSING_TAG, qualitative_text([INVENTED]), MISSING_TAG, GOOD, validate_quotes=True
        )
        opened = case()
        assert quotes(assess(built, opened)) == [SAID]
        assert codes(opened) == [RejectionCode.MISSING_TAG, None, RejectionCode.MISSING_TAG, None]
        assert len(model.sent) == 4

    def test_failed_re_asking_keeps_the_first_findings(self) -> None:
        built, _ = agent(qualitative_text([SAID, INVENTED]), "prose", validate_quotes=True)
        findings = assess(built)
        assert (quotes(findings), findings.dropped_quotes) == ([SAID], 1)

    def test_findings_with_more_unverified_quotes_do_not_replace_better_ones(self) -> None:
        built, _ = agent(
            qualitative_text([SAID, INVENTED]),
            qualitative_text([INVENTED, ASKED]),
            validate_quotes=True,
        )
        assert quotes(assess(built)) == [SAID]


def test_refinement_shows_findings_and_weaknesses_and_asks_for_all_sections() -> None:
    built, model = agent(GOOD)
    weaknesses = {Metric.SPECIFICITY: MetricScore(score=2, explanation="Too general.")}
    refined = asyncio.run(built.refine(case(), FINDINGS, weaknesses))
    assert refined is not None
    (prompt,) = model.prompts
    assert "Task: qualitative_refine" in prompt
    assert "Draft of an assessment." in prompt
    assert "specificity: 2 of 5. Too general." in prompt
    assert "<exact_quotes>" in prompt


def test_prompt_asks_for_every_tag_and_sends_no_format() -> None:
    async def run() -> list[dict[str, object]]:
        async with ModelServer(FAULTS["prose"]) as server, served_chain(server.url) as chain:
            built = QualitativeAssessmentAgent(
                chain, pydantic_ai_settings=PydanticAISettings(retries=0)
            )
            assert await built.assess(case()) is None
            return [dict(request.body) for request in server.requests]

    agent_call, plain_call = asyncio.run(run())
    assert agent_call["messages"] == plain_call["messages"]
    assert {"format", "response_format", "tools"}.isdisjoint(agent_call.keys() | plain_call.keys())


@pytest.mark.parametrize("is_delimited", [True, False])
def test_delimiting_sentence_is_sent_only_when_it_is_switched_on(is_delimited: bool) -> None:
    built, model = agent(GOOD)
    assess(built, assessment_context(parse_transcript(INTERVIEW), is_delimited=is_delimited))
    assert (DELIMITED in model.prompts[0]) is is_delimited


def test_reply_over_several_text_parts_is_read_as_one() -> None:
    first, second = response(GOOD[:40]), response(GOOD[40:])
    joined = response("")
    joined.parts = [*first.parts, *second.parts]
    model = ScriptedModel([joined])
    built = QualitativeAssessmentAgent((route(model),), pydantic_ai_settings=PydanticAISettings())
    assert quotes(assess(built)) == [SAID]
