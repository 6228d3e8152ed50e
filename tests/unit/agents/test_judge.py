import asyncio

from tests.fakes.model_server import FAULTS, ModelServer, Script, fault
from tests.fakes.replies import judge_text
from tests.fakes.scripted import ScriptedModel, route, served_chain

from ai_psychiatrist.agents.case import Case, open_case
from ai_psychiatrist.agents.judge import JudgeAgent
from ai_psychiatrist.domain.assessment import Metric, MetricScore, QualitativeAssessment
from ai_psychiatrist.domain.evidence import UnverifiedQuote
from ai_psychiatrist.domain.failures import RejectionCode
from ai_psychiatrist.llm.settings import PydanticAISettings
from ai_psychiatrist.services.transcripts.plain_text import parse_transcript

FINDINGS = QualitativeAssessment(
    overall="Tired and low.",
    phq8_symptoms="Poor sleep.",
    social_factors="Lives alone.",
    biological_factors="not assessed in interview",
    risk_factors="Isolation.",
    supporting_quotes=(UnverifiedQuote(text="I am so tired", reason=None),),
)
ENABLED = PydanticAISettings(retries=1)


def case() -> Case:
    return open_case(parse_transcript("Interviewer: Hello?\nParticipant: I am tired all day."))


def judged(script: Script) -> tuple[dict[Metric, MetricScore], ModelServer, Case]:
    async def run() -> tuple[dict[Metric, MetricScore], ModelServer, Case]:
        opened = case()
        async with ModelServer(script) as server, served_chain(server.url) as chain:
            agent = JudgeAgent(chain, pydantic_ai_settings=ENABLED)
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
        async with ModelServer(delay_seconds=0.05) as server, served_chain(server.url) as chain:
            agent = JudgeAgent(chain, pydantic_ai_settings=ENABLED)
            await agent.evaluate(case(), FINDINGS)
            return server.max_in_flight

    assert asyncio.run(run()) == len(Metric)


def test_metric_without_a_score_is_absent_and_the_others_stay() -> None:
    scores, _, opened = judged(fault("prose", tasks=["judge_accuracy"]))
    assert set(scores) == set(Metric) - {Metric.ACCURACY}
    rejected = [one for one in opened.calls.attempts if one.code is not None]
    assert [(one.agent, one.code) for one in rejected] == [
        ("judge_accuracy", RejectionCode.SCORE_MISSING)
    ] * 3


def test_score_quoted_in_the_explanation_is_passed_over() -> None:
    scores, _, _ = judged(FAULTS["judge_quotes_a_score"])
    assert {score.score for score in scores.values()} == {5}


def test_half_score_is_asked_again_and_never_rounded() -> None:
    scores, server, _ = judged(FAULTS["judge_half"])
    assert scores == {}
    assert server.request_count == 3 * len(Metric)
