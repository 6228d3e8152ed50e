"""Where a provider caches prefixes, an assessment's first call goes before all others."""

import asyncio
import json
from pathlib import Path

from ai_psychiatrist.config import load_settings
from ai_psychiatrist.domain.assessment import Assessment, AssessmentStatus
from ai_psychiatrist.llm.calls import FirstCallAhead
from ai_psychiatrist.llm.endpoints import ModelEndpoint
from ai_psychiatrist.services.transcripts.plain_text import parse_transcript
from ai_psychiatrist.wiring import bootstrap
from tests.fakes.caching_api import CachingApi
from tests.integration.command_here import run_here
from tests.patience import PATIENCE_SECONDS

INTERVIEW = "Interviewer: How are you?\nParticipant: I am tired all day and sleep badly.\n" * 80


def settings_of(api: CachingApi, **more: str) -> dict[str, str]:
    return {
        "MODEL_DEFAULT": "anthropic:claude-fake",
        "ANTHROPIC_BASE_URL": api.url,
        "ANTHROPIC_API_KEY": "sk-fake",
        "FEEDBACK_ENABLED": "false",
        **more,
    }


def assessed(**more: str) -> tuple[Assessment, CachingApi]:
    async def run() -> tuple[Assessment, CachingApi]:
        async with CachingApi() as api:
            settings = load_settings(settings_of(api, **more), dotenv=None)
            async with bootstrap(settings) as services:
                return await services.assessor.assess(parse_transcript(INTERVIEW)), api

    return asyncio.run(run())


def test_first_call_goes_alone_and_all_others_find_the_transcript() -> None:
    assessment, api = assessed(MODEL_FIRST_CALL_AHEAD="always")
    assert assessment.status is AssessmentStatus.COMPLETE
    assert len(api.found) == 9
    assert api.found[0] == 0
    assert all(tokens > 1000 for tokens in api.found[1:])
    assert api.in_flight[:3] == [1, 1, 2]


def test_calls_of_one_assessment_start_together_unless_it_is_set() -> None:
    assessment, api = assessed()
    assert assessment.status is AssessmentStatus.COMPLETE
    assert api.in_flight[:3] == [1, 2, 3]
    assert api.found[:3] == [0, 0, 0]
    assert all(api.found[3:])


def test_order_of_calls_changes_no_result() -> None:
    first, _ = assessed()
    second, _ = assessed(MODEL_FIRST_CALL_AHEAD="always")
    assert first.quantitative == second.quantitative
    assert first.evaluation == second.evaluation
    assert [one.prompt_digest for one in first.attempts] == [
        one.prompt_digest for one in second.attempts
    ]


def test_run_over_a_dataset_sends_it_ahead_and_accounts_for_the_cache(tmp_path: Path) -> None:
    (tmp_path / "interviews").mkdir()
    (tmp_path / "interviews/a.txt").write_text(INTERVIEW, encoding="utf-8")
    price = "anthropic:claude-fake=1/5"

    async def run() -> CachingApi:
        async with CachingApi() as api:
            command = ["evaluate", "run", "interviews", "--out", "run", "--price", price]
            done = await asyncio.to_thread(run_here, command, tmp_path, settings_of(api))
            assert done.code == 0, done.err
            return api

    api = asyncio.run(run())
    assert api.in_flight[:2] == [1, 1]
    used = json.loads((tmp_path / "run/cost.json").read_bytes())["used"]
    assert used["tokens"]["cache_read"] == sum(api.found)
    assert used["tokens"]["cache_write"] == api.found[1]
    assert 0.5 < used["cache_share"] < 1


def test_first_call_that_fails_holds_nobody_back() -> None:
    route = ModelEndpoint(name="m", agent_model=None, chat=None, caches_prefixes=True)

    async def run() -> list[str]:
        ahead, ended = FirstCallAhead(), list[str]()

        async def call(name: str, *, fails: bool = False) -> None:
            async with ahead.turn(route):
                await asyncio.sleep(0.01)
                ended.append(name)
                if fails:
                    raise RuntimeError

        first = asyncio.create_task(call("first", fails=True))
        await asyncio.sleep(0)
        await asyncio.wait_for(asyncio.gather(call("b"), call("c")), timeout=PATIENCE_SECONDS)
        assert isinstance(first.exception(), RuntimeError)
        return ended

    assert asyncio.run(run())[0] == "first"
