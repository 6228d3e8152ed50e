"""What runs cost: told before, kept beside what was used, and bounded by a ceiling."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from ai_psychiatrist.validation.config.pipeline import PipelineConfig
from tests.fakes.model_server import ModelServerThread, Reply, Request, fault, good_replies
from tests.integration.costly_runs import (
    CALL_USD,
    CALLS,
    PRICE,
    TOKENS,
    evaluate,
    hundred_tokens,
    served,
    write_interviews,
)

UNITS = 6
UNIT_USD = CALLS * CALL_USD


@pytest.fixture
def interviews(tmp_path: Path) -> Path:
    """Short interviews in a folder of texts."""
    return write_interviews(tmp_path / "interviews", UNITS)


def cost_of(run: Path) -> dict[str, object]:
    cost: dict[str, object] = json.loads((run / "cost.json").read_bytes())
    return cost


def number(account: object, *path: str) -> float:
    for name in path:
        assert isinstance(account, Mapping)
        account = account[name]
    assert isinstance(account, int | float)
    return account


def test_plan_asks_nothing_writes_nothing_and_prices_by_list(
    tmp_path: Path, interviews: Path
) -> None:
    before = sorted(tmp_path.rglob("*"))
    model = "anthropic:claude-haiku-4-5"
    done = evaluate(tmp_path, "run", interviews, "--model", model, "--plan", "--json")
    assert done.code == 0, done.err
    assert sorted(tmp_path.rglob("*")) == before
    plan = json.loads(done.out)
    assert plan["units"] == UNITS
    assert plan["calls"]["least"] == UNITS * CALLS
    assert plan["calls"]["least"] < plan["calls"]["expected"] < plan["calls"]["most"]
    assert plan["calls"]["most"] == UNITS * 60
    assert 0 < plan["batch_usd"] < plan["live_usd"]
    agents = [row["agent"] for row in plan["by_agent"]]
    assert len(agents) == len(set(agents)) == CALLS
    shown = evaluate(tmp_path, "run", interviews, "--model", model, "--plan")
    assert f"{model} " in shown.out
    assert "genai-prices" in shown.out


def test_one_call_of_the_judge_makes_three_calls_fewer(tmp_path: Path, interviews: Path) -> None:
    plans = [
        json.loads(
            evaluate(
                tmp_path,
                *("run", interviews, "--model", "openai:gpt-5-mini", "--plan", "--json"),
                JUDGE_CALLS=calls,
            ).out
        )
        for calls in ("four", "one")
    ]
    four, one = (plan["calls"]["least"] for plan in plans)
    assert four - one == 3 * UNITS
    assert plans[1]["live_usd"] < plans[0]["live_usd"]


def test_own_model_has_no_price_and_never_zero(tmp_path: Path, interviews: Path) -> None:
    for model, settings in (
        ("ollama:gemma3", {}),
        ("openai-chat:gpt-5-mini", {"OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}),
        ("openai:gpt-of-nobody", {}),
    ):
        command = ("run", interviews, "--model", model, "--plan")
        plan = json.loads(evaluate(tmp_path, *command, "--json", **settings).out)
        assert plan["live_usd"] is None
        assert plan["batch_usd"] is None
        assert "no price known" in evaluate(tmp_path, *command, **settings).out
    given = evaluate(tmp_path, *command, "--json", "--price", "openai:gpt-of-nobody=1/2")
    plan = json.loads(given.out)
    tokens = plan["tokens"]
    assert plan["live_usd"] == pytest.approx(
        (tokens["input"] + 2 * tokens["output"]) / 1e6, rel=0.01
    )


def test_longer_transcripts_are_found_in_the_cache_and_short_ones_are_not(
    tmp_path: Path, interviews: Path
) -> None:
    command = ("run", interviews, "--model", "anthropic:claude-haiku-4-5", "--plan", "--json")
    assert json.loads(evaluate(tmp_path, *command).out)["cache_share"] == 0
    for path in interviews.iterdir():
        path.write_text(path.read_text("utf-8") * 100, encoding="utf-8")
    ahead = json.loads(evaluate(tmp_path, *command).out)
    together = json.loads(evaluate(tmp_path, *command, MODEL_FIRST_CALL_AHEAD="never").out)
    assert 0.3 < together["cache_share"] < ahead["cache_share"] < 1
    assert ahead["live_usd"] < together["live_usd"]
    assert ahead["tokens"]["cache_write"] < together["tokens"]["cache_write"]


def test_a_plan_says_of_a_run_without_tokens_that_nobody_told_of_any(
    tmp_path: Path, interviews: Path
) -> None:
    assert evaluate(tmp_path, "run", interviews, "--out", "run").code == 0
    again = evaluate(tmp_path, "run", interviews, "--out", "run", "--plan")
    assert again.out.splitlines()[-1] == "This run so far: no token counts were reported."


def test_run_leaves_what_was_planned_beside_what_was_used(tmp_path: Path, interviews: Path) -> None:
    with ModelServerThread(hundred_tokens) as server:
        run = evaluate(
            tmp_path,
            *("run", interviews, "--out", "run", "--price", PRICE),
            **served(server.url),
        )
    assert run.code == 0, run.err
    assert "planned " in run.err
    assert f"used     calls {UNITS * CALLS}, tokens in {UNITS * CALLS * TOKENS:,}" in run.err
    cost = cost_of(tmp_path / "run")
    assert number(cost, "used", "usd") == pytest.approx(UNITS * UNIT_USD)
    assert number(cost, "used", "calls") == UNITS * CALLS
    assert number(cost, "planned", "calls", "least") == UNITS * CALLS
    again = evaluate(tmp_path, "run", interviews, "--out", "run", "--plan", **served(server.url))
    assert "This run so far:" in again.out
    assert "tokens in of a call: planned +" in again.out
    report = evaluate(tmp_path, "report", "run")
    assert report.code == 0, report.err
    page = (tmp_path / "run/report.html").read_text("utf-8")
    assert "Planned" in page
    assert "USD 5.40" in page


def test_ceiling_stops_cleanly_and_a_higher_one_goes_on(tmp_path: Path, interviews: Path) -> None:
    command = ("run", interviews, "--out", "run", "--price", PRICE, "--concurrency", 1)
    with ModelServerThread(hundred_tokens) as server:
        settings = served(server.url)
        low = evaluate(tmp_path, *command, "--max-cost", 0, **settings)
        assert low.code == 5
        assert server.requests == []
        planned = number(cost_of(tmp_path / "run"), "planned", "live_usd") / UNITS
        ceiling = planned + 2.5 * UNIT_USD
        stopped = evaluate(tmp_path, *command, "--resume", "--max-cost", ceiling, **settings)
        assert stopped.code == 5, stopped.err
        assert "--resume and a higher --max-cost" in stopped.err
        # The third begins at 1.8, and the fourth could pass it.
        spent = number(cost_of(tmp_path / "run"), "used", "usd")
        assert spent == pytest.approx(3 * UNIT_USD)
        same = evaluate(tmp_path, *command, "--resume", "--max-cost", ceiling, **settings)
        assert same.code == 5
        assert len(server.requests) == 3 * CALLS
        whole = evaluate(tmp_path, *command, "--resume", "--max-cost", 1000, **settings)
        assert whole.code == 0, whole.err
        assert len(server.requests) == UNITS * CALLS
    cost = cost_of(tmp_path / "run")
    assert number(cost, "used", "usd") == pytest.approx(UNITS * UNIT_USD)
    assert number(cost, "ceiling_usd") == 1000


def test_dear_unit_passes_the_ceiling_by_no_more_than_the_calls_in_flight(
    tmp_path: Path, interviews: Path
) -> None:
    """Every reply is far longer than planned, so that only what is used can tell."""

    def dear(request: Request) -> Reply:
        return Reply(text=good_replies()(request).text, prompt_tokens=100_000, delay_seconds=0.02)

    price, call_usd, at_once = "ollama:fake=10/0", 1.0, 2
    with ModelServerThread(dear) as server:
        settings = served(server.url) | {"MODEL_MAX_CONCURRENCY": str(at_once)}
        command = ("run", interviews, "--out", "run", "--price", price, "--concurrency", 2)
        stopped = evaluate(tmp_path, *command, "--max-cost", 4, **settings)
        assert stopped.code == 5, stopped.err
        spent = number(cost_of(tmp_path / "run"), "used", "usd")
        # Calls that wait for their turn at the server are not in flight.
        assert 4 <= spent < 4 + at_once * call_usd
        assert len(server.requests) == spent / call_usd
        whole = evaluate(tmp_path, *command, "--resume", "--max-cost", 1000, **settings)
        assert whole.code == 0, whole.err
        # What was paid for before the stop is not paid again.
        assert len(server.requests) == UNITS * CALLS


def test_a_unit_that_the_ceiling_holds_until_its_time_is_over_is_still_to_be_done(
    tmp_path: Path, interviews: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What ran out of money did not fail, however long another unit's last call takes."""

    def dear_then_silent(request: Request) -> Reply:
        if len(server.requests) > 1:
            return Reply(hang=True)
        return Reply(text=good_replies()(request).text, prompt_tokens=100_000)

    command = ("run", interviews, "--out", "run", "--limit", 2, "--price", "ollama:fake=10/0")
    with ModelServerThread(dear_then_silent) as server:
        settings = served(server.url) | {"MODEL_MAX_CONCURRENCY": "2"}
        with monkeypatch.context() as patched:
            patched.setattr(PipelineConfig, "deadline_seconds", 1.0)
            stopped = evaluate(
                tmp_path, *command, "--concurrency", 2, "--max-cost", 0.9, **settings
            )
        assert stopped.code == 5, stopped.err
        assert len(server.requests) == 2
        server.server.script = hundred_tokens
        whole = evaluate(tmp_path, *command, "--resume", "--max-cost", 1000, **settings)
        assert whole.code == 0, whole.err
        # One call was cut short and is made again; the other was paid for.
        assert len(server.requests) == 2 * CALLS + 1


def test_calls_that_are_refused_cost_nothing(tmp_path: Path, interviews: Path) -> None:
    with ModelServerThread(fault("status_400")) as server:
        command = ("run", interviews, "--out", "run", "--price", PRICE, "--limit", 1)
        evaluate(tmp_path, *command, **served(server.url))
    used = cost_of(tmp_path / "run")["used"]
    assert number(used, "calls_refused") == number(used, "calls") > 0
    assert number(used, "usd") == 0


@pytest.mark.parametrize("price", ["ollama:fake", "ollama:fake=1", "=1/2", "ollama:fake=-1/2"])
def test_price_that_is_none_is_refused(tmp_path: Path, interviews: Path, price: str) -> None:
    done = evaluate(tmp_path, "run", interviews, "--plan", "--price", price)
    assert done.code == 2
    assert "MODEL=IN/OUT" in done.err


def test_run_without_a_folder_is_refused_with_its_cure(tmp_path: Path, interviews: Path) -> None:
    done = evaluate(tmp_path, "run", interviews)
    assert done.code == 2
    assert "--out RUN" in done.err


def test_replies_without_a_count_are_priced_as_planned(tmp_path: Path, interviews: Path) -> None:
    def uncounted(request: Request) -> Reply:
        message = {"role": "assistant", "content": good_replies()(request).text}
        body = {"model": "fake", "message": message, "done": True, "done_reason": "stop"}
        return Reply(raw_body=json.dumps(body).encode())

    with ModelServerThread(uncounted) as server:
        command = ("run", interviews, "--out", "run", "--price", PRICE)
        done = evaluate(tmp_path, *command, **served(server.url))
        assert done.code == 0, done.err
    cost = cost_of(tmp_path / "run")
    assert number(cost, "used", "calls_without_tokens") == number(cost, "used", "calls")
    per_call = number(cost, "planned", "live_usd") / number(cost, "planned", "calls", "expected")
    assert number(cost, "used", "usd") == pytest.approx(per_call * UNITS * CALLS, rel=0.05)
