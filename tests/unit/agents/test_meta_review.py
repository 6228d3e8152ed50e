import asyncio
import itertools
import json
from dataclasses import replace

import pytest
from tests.fakes.bare_assessments import bare_item, bare_scores
from tests.fakes.replies import meta_review_text
from tests.fakes.scripted import ScriptedModel, route

from ai_psychiatrist.agents.context import assessment_context
from ai_psychiatrist.agents.meta_review import MetaReviewAgent
from ai_psychiatrist.domain.failures import FailureCategory, FailureSeverity, UnreadPart
from ai_psychiatrist.domain.items import ItemAssessment, PHQ8Assessment
from ai_psychiatrist.domain.narrative import MetaReview, QualitativeAssessment
from ai_psychiatrist.domain.phq8 import Item, Severity
from ai_psychiatrist.infrastructure.logging import collect_failures
from ai_psychiatrist.llm.settings import PydanticAISettings
from ai_psychiatrist.services.transcripts.plain_text import parse_transcript

FINDINGS = QualitativeAssessment(
    overall="Tired and low.",
    phq8_symptoms="Poor sleep.",
    social_factors="Lives alone.",
    biological_factors="None.",
    risk_factors="Isolation.",
)


def item(which: Item, score: int | None) -> ItemAssessment:
    return replace(bare_item(which, score), reason="" if score is None else "said so")


def scores(*values: int | None) -> PHQ8Assessment:
    return bare_scores(itertools.starmap(item, zip(Item, values, strict=True)))


def review(
    model: ScriptedModel,
    quantitative: PHQ8Assessment,
    findings: QualitativeAssessment | None = FINDINGS,
) -> MetaReview | None:
    agent = MetaReviewAgent((route(model),), pydantic_ai_settings=PydanticAISettings(retries=1))
    case = assessment_context(parse_transcript("Participant: I am tired all day."))
    return asyncio.run(agent.review(case, findings, quantitative))


@pytest.mark.parametrize(
    ("values", "severity", "contradicts"),
    [
        pytest.param([3, 3, 3, 2, 0, 0, 0, 0], "2", False, id="exact_band"),
        pytest.param([3, 3, 3, 2, 0, 0, 0, 0], "3", True, id="above_the_band"),
        pytest.param([3, 3, 3, 2, 0, 0, 0, 0], "1", True, id="below_the_band"),
        pytest.param([3, 3, 3, 2, None, None, 0, 0], "3", False, id="within_the_range"),
        pytest.param([3, 3, 3, 2, None, None, 0, 0], "4", True, id="above_the_range"),
        pytest.param([None] * 8, "4", False, id="nothing_known_contradicts_nothing"),
    ],
)
def test_severity_that_the_items_exclude_is_flagged(
    values: list[int | None], severity: str, contradicts: bool
) -> None:
    found = review(ScriptedModel([meta_review_text(severity)]), scores(*values))
    assert found == MetaReview(
        severity=Severity(int(severity)),
        explanation="Several symptoms are present.",
        contradicts_item_scores=contradicts,
    )


def test_depression_is_read_from_the_severity() -> None:
    mild = review(ScriptedModel([meta_review_text("1")]), scores(*[None] * 8))
    moderate = review(ScriptedModel([meta_review_text("2")]), scores(*[None] * 8))
    assert mild is not None
    assert moderate is not None
    assert (mild.is_mdd, moderate.is_mdd) == (False, True)


def test_severity_outside_the_scale_is_asked_again_and_never_clamped() -> None:
    model = ScriptedModel([meta_review_text("9")])
    found = review(model, scores(*[0] * 8))
    assert len(model.sent) == 2
    assert found == MetaReview(
        severity=None,
        explanation="Several symptoms are present.",
        contradicts_item_scores=False,
        warnings=(UnreadPart.SEVERITY,),
    )


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(meta_review_text("2", ""), id="empty"),
        pytest.param(meta_review_text("2", "…"), id="placeholder"),
        pytest.param(meta_review_text("2", "bad \ud800 sleep"), id="half_a_character"),
        pytest.param("<severity>2</severity>", id="no_tag"),
        pytest.param('{"severity": 2}', id="json_without"),
        pytest.param('{"severity": 2, "explanation": ["a"]}', id="a_list"),
        pytest.param('{"severity": 2, "explanation": "a \\ud800"}', id="escaped_half"),
        pytest.param('{"severity": 2, "explanation": "a", "explanation": "b"}', id="twice"),
        pytest.param('{"severity": 2, "explanation": NaN}', id="nan"),
    ],
)
def test_severity_stands_where_only_the_explanation_cannot_be_read(reply: str) -> None:
    with collect_failures() as failures:
        found = review(ScriptedModel([reply]), scores(*[3] * 4, *[0] * 4))
    assert found == MetaReview(
        severity=Severity.MODERATE,
        explanation="",
        contradicts_item_scores=False,
        warnings=(UnreadPart.EXPLANATION,),
    )
    (failure,) = failures
    assert (failure.category, failure.severity) == (
        FailureCategory.PARTIAL_REPLY,
        FailureSeverity.WARNING,
    )
    assert (failure.context["unread_count"], failure.context["lost_count"]) == (1, 0)


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param('{"severity": NaN, "explanation": "why"}', id="nan"),
        pytest.param('{"severity": 9, "explanation": "why"}', id="json"),
        pytest.param('{"severity": true, "explanation": "why"}', id="true"),
        pytest.param('{"severity": 1, "severity": 2, "explanation": "why"}', id="twice"),
        pytest.param('{"explanation": "why"}', id="missing"),
        pytest.param("<explanation>why</explanation>", id="missing_tag"),
        pytest.param(meta_review_text("moderate", "why"), id="in_words"),
    ],
)
def test_explanation_stands_where_only_the_severity_cannot_be_read(reply: str) -> None:
    found = review(ScriptedModel([reply]), scores(*[0] * 8))
    assert found is not None
    assert (found.severity, found.explanation) == (None, "why")
    assert found.warnings == (UnreadPart.SEVERITY,)


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param("The severity is moderate.", id="prose"),
        pytest.param(meta_review_text("9", ""), id="neither"),
        pytest.param("{}", id="empty_object"),
        pytest.param("<severity>2</severity><explanation>a", id="cut_off"),
        pytest.param(meta_review_text("2") + "<severity>3", id="cut_off_in_another"),
        pytest.param("<think><severity>2</severity>", id="thinking"),
    ],
)
def test_reply_of_which_nothing_is_valid_gives_no_review(reply: str) -> None:
    with collect_failures() as failures:
        assert review(ScriptedModel([reply]), scores(*[0] * 8)) is None
    assert [one.category for one in failures] == [FailureCategory.AGENT_FAILED]


def test_later_whole_reply_takes_the_place_of_a_part() -> None:
    model = ScriptedModel([meta_review_text("2", ""), meta_review_text("3", "why")])
    with collect_failures() as failures:
        found = review(model, scores(*[None] * 8))
    assert found is not None
    assert (found.severity, found.explanation, found.warnings) == (3, "why", ())
    assert failures == []


def test_prompt_holds_findings_and_every_score_with_unknown_as_null() -> None:
    model = ScriptedModel([meta_review_text("1")])
    review(model, scores(2, None, 0, 0, 0, 0, 0, 0))
    (prompt,) = model.prompts
    assert "Tired and low." in prompt
    listed = json.loads(prompt[prompt.index("{\n") : prompt.rindex("}") + 1])
    assert list(listed) == list(Item)
    assert listed["PHQ8_NoInterest"] == {"score": 2, "reason": "said so"}
    assert listed["PHQ8_Depressed"] == {"score": None, "reason": "no_mention"}


def test_missing_findings_are_said_to_be_missing() -> None:
    model = ScriptedModel([meta_review_text("1")])
    review(model, scores(*[0] * 8), findings=None)
    assert "There is no qualitative assessment." in model.prompts[0]
