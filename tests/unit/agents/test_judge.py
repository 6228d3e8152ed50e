import asyncio

import pytest
from tests.fakes.model_server import ModelServer, Reply, Request, Script, fault
from tests.fakes.replies import good_text, judge_text, judges_text
from tests.fakes.scripted import ScriptedModel, route, served_chain
from tests.patience import wait_until

from ai_psychiatrist.agents.context import AssessmentContext, assessment_context
from ai_psychiatrist.agents.judge import JudgeAgent
from ai_psychiatrist.agents.settings import JudgeSettings
from ai_psychiatrist.domain.failures import FailureCategory, RejectionCode, UnreadPart
from ai_psychiatrist.domain.narrative import (
    Metric,
    MetricScore,
    NarrativeQuote,
    QualitativeAssessment,
)
from ai_psychiatrist.infrastructure.logging import collect_failures
from ai_psychiatrist.llm.settings import PydanticAISettings
from ai_psychiatrist.services.transcripts.plain_text import parse_transcript

FINDINGS = QualitativeAssessment(
    overall="Tired and low.",
    phq8_symptoms="Poor sleep.",
    social_factors="Lives alone.",
    biological_factors="not assessed in interview",
    risk_factors="Isolation.",
    supporting_quotes=(NarrativeQuote(text="I am so tired", verified=False),),
)
ENABLED = PydanticAISettings(retries=1)


def case() -> AssessmentContext:
    return assessment_context(
        parse_transcript("Interviewer: Hello?\nParticipant: I am tired all day.")
    )


def judged(
    script: Script, settings: JudgeSettings | None = None
) -> tuple[dict[Metric, MetricScore], ModelServer, AssessmentContext]:
    async def run() -> tuple[dict[Metric, MetricScore], ModelServer, AssessmentContext]:
        opened = case()
        async with ModelServer(script) as server, served_chain(server.url) as chain:
            agent = JudgeAgent(chain, pydantic_ai_settings=ENABLED, settings=settings)
            return await agent.evaluate(opened, FINDINGS), server, opened

    return asyncio.run(run())


def test_each_metric_is_asked_once_with_the_findings() -> None:
    model = ScriptedModel([judge_text("4")])
    agent = JudgeAgent((route(model),), pydantic_ai_settings=ENABLED)
    scores = asyncio.run(agent.evaluate(case(), FINDINGS))
    assert {metric: score.score for metric, score in scores.items()} == dict.fromkeys(Metric, 4)
    tasks = [line for prompt in model.prompts for line in prompt.splitlines() if "Task:" in line]
    assert sorted(tasks) == sorted(f"Task: judge_{metric.value}" for metric in Metric)
    assert all("- I am so tired" in prompt for prompt in model.prompts)


def test_metrics_are_asked_at_the_same_time() -> None:
    async def run() -> int:
        async with ModelServer() as server, served_chain(server.url) as chain:
            server.holds_replies = True
            agent = JudgeAgent(chain, pydantic_ai_settings=ENABLED)
            judging = asyncio.create_task(agent.evaluate(case(), FINDINGS))
            await asyncio.to_thread(wait_until, lambda: server.in_flight == len(Metric))
            server.holds_replies = False
            await judging
            return server.max_in_flight

    assert asyncio.run(run()) == len(Metric)


def test_metric_without_a_score_is_absent_and_the_others_stay() -> None:
    scores, _, opened = judged(fault("prose", tasks=["judge_accuracy"]))
    assert set(scores) == set(Metric) - {Metric.ACCURACY}
    rejected = [one for one in opened.calls.attempts if one.code is not None]
    assert [(one.agent, one.code) for one in rejected] == [
        ("judge_accuracy", RejectionCode.SCORE_MISSING)
    ] * 3


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param("Score: 4", id="none"),
        pytest.param("Explanation: what you found\nScore: 4", id="echo"),
        pytest.param(judge_text("4", "bad \ud800 sleep"), id="half_a_character"),
        pytest.param("Explanation: \u200b\nScore: 4", id="blank"),
    ],
)
def test_score_stands_where_its_explanation_cannot_be_read(reply: str) -> None:
    agent = JudgeAgent((route(ScriptedModel([reply])),), pydantic_ai_settings=ENABLED)
    with collect_failures() as failures:
        scores = asyncio.run(agent.evaluate(case(), FINDINGS))
    kept = MetricScore(score=4, explanation="", warnings=(UnreadPart.EXPLANATION,))
    assert scores == dict.fromkeys(Metric, kept)
    assert {one.category for one in failures} == {FailureCategory.PARTIAL_REPLY}
    assert len(failures) == len(Metric)


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param("Explanation: why\nScore: 3.5", id="half"),
        pytest.param("Explanation: a\nScore: 4\nExplanation: Two", id="cut_off_anew"),
        pytest.param("<think>Score: 4", id="thinking"),
    ],
)
def test_explanation_without_a_score_is_no_judgement(reply: str) -> None:
    agent = JudgeAgent((route(ScriptedModel([reply])),), pydantic_ai_settings=ENABLED)
    assert asyncio.run(agent.evaluate(case(), FINDINGS)) == {}


TOGETHER = JudgeSettings(calls="one")


def together(reply: str) -> tuple[dict[Metric, MetricScore], ModelServer, AssessmentContext]:
    def script(request: Request) -> Reply:
        return Reply(text=reply if request.task == "judges" else good_text(request.task, []))

    return judged(script, TOGETHER)


def test_one_call_gives_all_metrics_where_that_is_set() -> None:
    scores, server, opened = together(judges_text(coherence="2", accuracy="5"))
    assert {metric.value: score.score for metric, score in scores.items()} == {
        "coherence": 2,
        "completeness": 4,
        "specificity": 4,
        "accuracy": 5,
    }
    assert [request.task for request in server.requests] == ["judges"]
    assert "- I am so tired" in server.requests[0].messages[-1].content
    assert [attempt.agent for attempt in opened.calls.attempts] == ["judges"]


def test_metric_that_the_one_reply_lacks_is_asked_for_alone_and_the_others_stand() -> None:
    for lacking in (judges_text(specificity=""), judges_text(specificity="3.5")):
        scores, server, _ = together(lacking)
        assert list(scores) == list(Metric)
        assert [request.task for request in server.requests] == ["judges", "judge_specificity"]


def test_one_reply_without_any_metric_is_sent_back_with_what_is_wanted() -> None:
    scores, server, opened = together("They are good findings.")
    assert scores == {}
    assert [request.task for request in server.requests] == ["judges"] * 3
    assert "<coherence>" in server.requests[1].messages[-1].content
    codes = {attempt.code for attempt in opened.calls.attempts}
    assert codes == {RejectionCode.MISSING_TAG}


def test_answer_of_the_one_call_is_the_last_of_each_metric() -> None:
    drafts = f"<think>{judges_text(coherence='1')}</think>\n{judges_text(coherence='5')}"
    scores, _, _ = together(drafts)
    assert scores[Metric.COHERENCE].score == 5


def test_scores_of_one_reply_stand_without_their_explanations() -> None:
    blank = "\n".join(f"<{metric}>Score: 3</{metric}>" for metric in Metric)
    scores, server, _ = together(blank)
    assert [request.task for request in server.requests] == ["judges"] * 3
    assert {score.score for score in scores.values()} == {3}
    assert {score.warnings for score in scores.values()} == {(UnreadPart.EXPLANATION,)}
