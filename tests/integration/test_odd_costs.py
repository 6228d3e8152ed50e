"""What runs cost where much goes otherwise than planned: odd prices, odd counts, several runs."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from ai_psychiatrist.evaluation.pricing.prices import possible_tokens
from tests.fakes.batch_server import BatchServer, Weather
from tests.fakes.model_server import ModelServerThread, Reply, Request, good_replies
from tests.integration.costly_runs import (
    CALL_USD,
    CALLS,
    OLLAMA,
    PRICE,
    evaluate,
    hundred_tokens,
    served,
    write_interviews,
)

UNITS = 3
LISTED = "anthropic:claude-haiku-4-5"


@pytest.fixture
def interviews(tmp_path: Path) -> Path:
    """The folder of a folder of texts."""
    return write_interviews(tmp_path / "interviews", UNITS).parent


@pytest.fixture
def server() -> Iterator[ModelServerThread]:
    """A model of which each call has a hundred tokens in."""
    with ModelServerThread(hundred_tokens) as thread:
        yield thread


def account(run: Path) -> dict[str, dict[str, object]]:
    cost: dict[str, dict[str, object]] = json.loads((run / "cost.json").read_bytes())
    return cost


def usd(run: Path, side: str = "used", name: str = "usd") -> float:
    found = account(run)[side][name]
    assert isinstance(found, int | float), found
    return found


@pytest.mark.parametrize("amount", ["inf", "1e400", "nan", "-1"])
def test_ceiling_that_is_no_amount_is_refused(interviews: Path, amount: str) -> None:
    command = ("run", "interviews", "--out", "run", f"--max-cost={amount}")
    done = evaluate(interviews, *command, MODEL_DEFAULT=LISTED)
    assert (done.code, "--max-cost" in done.err) == (2, True)
    assert not (interviews / "run").exists()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--max-cost", 5), "no price is known of ollama:fake, so that a ceiling cannot be kept"),
        (("--max-cost", 5), "--price ollama:fake=0.10/0.40"),
        (("--price", "ollama:fkae=1/2"), "--price names ollama:fkae, but the run asks ollama:fake"),
    ],
)
def test_what_is_refused_for_a_price_begins_no_run(
    interviews: Path, options: tuple[object, ...], words: str
) -> None:
    done = evaluate(interviews, "run", "interviews", "--out", "run", *options, MODEL_DEFAULT=OLLAMA)
    assert (done.code, words in done.err) == (2, True), done.err
    assert not (interviews / "run").exists()


def test_plan_and_account_of_a_shard_are_of_its_units(
    interviews: Path, server: ModelServerThread
) -> None:
    shard = ("--shard", "2/2")
    done = evaluate(
        interviews, "run", "interviews", "--plan", "--json", *shard, MODEL_DEFAULT=LISTED
    )
    assert json.loads(done.out)["units"] == 1
    none = evaluate(interviews, "run", "interviews", "--plan", "--shard", "4/4")
    assert (none.code, "make at most 3 shards" in none.err) == (2, True)
    command = ("run", "interviews", "--out", "part", "--price", PRICE, *shard)
    evaluate(interviews, *command, **served(server.url))
    assert account(interviews / "part")["planned"]["units"] == 1


def test_ceiling_is_for_all_runs_of_a_folder_together(
    interviews: Path, server: ModelServerThread
) -> None:
    settings = served(server.url)
    command = ("run", "interviews", "--out", "runs", "--price", PRICE, "--repeats", 2)
    evaluate(interviews, *command, "--max-cost", 0, **settings)
    one_unit = usd(interviews / "runs/shipped-1", "planned", "live_usd") / UNITS
    ceiling = one_unit + 3.5 * CALLS * CALL_USD
    for _ in range(2):
        bounded = ("--resume", "--concurrency", 1, "--max-cost", ceiling)
        stopped = evaluate(interviews, *command, *bounded, **settings)
        assert stopped.code == 5, stopped.err
        assert len(server.requests) == 4 * CALLS
    spent = [usd(interviews / f"runs/shipped-{number}") for number in (1, 2)]
    assert spent == pytest.approx([3 * CALLS * CALL_USD, CALLS * CALL_USD])


@pytest.mark.parametrize("count", [-5, 10**30])
def test_calls_whose_tokens_nobody_can_believe_are_priced_as_planned(
    interviews: Path, count: int
) -> None:
    def odd(request: Request) -> Reply:
        return Reply(text=good_replies()(request).text, prompt_tokens=count)

    with ModelServerThread(odd) as server:
        command = ("run", "interviews", "--out", "run", "--price", PRICE)
        evaluate(interviews, *command, **served(server.url))
    used = account(interviews / "run")["used"]
    assert used["calls_without_tokens"] == used["calls"] == UNITS * CALLS
    planned = account(interviews / "run")["planned"]
    assert isinstance(planned["live_usd"], float)
    assert usd(interviews / "run") == pytest.approx(planned["live_usd"], rel=0.1)


def in_rounds(folder: Path, server: BatchServer, *options: str) -> None:
    settings = server.settings | {"MODEL_DEFAULT": LISTED, "BATCH_POLL_SECONDS": "0.01"}
    for more in (("--batch",), *[("--resume",)] * 3):
        evaluate(folder, "run", "interviews", "--out", "run", *more, *options, **settings)


def at_list_price(monkeypatch: pytest.MonkeyPatch) -> None:
    """Price the fake server as if it were the provider's own."""
    monkeypatch.setattr(
        "ai_psychiatrist.evaluation.pricing.prices._host", lambda _: "api.anthropic.com"
    )


def test_batches_have_half_the_price_and_stand_beside_their_plan(
    interviews: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_list_price(monkeypatch)
    with BatchServer() as server:
        in_rounds(interviews, server)
        settings = server.settings | {"MODEL_DEFAULT": LISTED}
        evaluate(interviews, "run", "interviews", "--out", "live", **settings)
    assert (
        account(interviews / "run")["used"]["tokens"]
        == (account(interviews / "live")["used"]["tokens"])
    )
    assert usd(interviews / "run") == pytest.approx(usd(interviews / "live") / 2, rel=0.001)
    shown = evaluate(
        interviews, "run", "interviews", "--out", "run", "--plan", MODEL_DEFAULT=LISTED
    )
    planned = usd(interviews / "run", "planned", "batch_usd")
    assert f"USD {planned:.4f}" in shown.out.split("This run so far:")[1]


def test_run_that_ends_live_pays_each_call_at_the_price_it_was_made_at(
    interviews: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_list_price(monkeypatch)
    with BatchServer() as server:
        settings = server.settings | {"MODEL_DEFAULT": LISTED}
        for options in (("--batch",), ("--resume",), ("--resume", "--no-batch")):
            evaluate(interviews, "run", "interviews", "--out", "run", *options, **settings)
        evaluate(interviews, "run", "interviews", "--out", "live", **settings)
    rows = {
        run: {row["agent"]: row["usd"] for row in account(interviews / run)["used"]["by_agent"]}  # type: ignore[attr-defined]
        for run in ("run", "live")
    }
    for agent, live in rows["live"].items():
        share = 0.5 if agent in {"qualitative", "evidence", "danger"} else 1.0
        assert rows["run"][agent] == pytest.approx(share * live, rel=0.001), agent


def test_calls_that_no_batch_made_are_free(
    interviews: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_list_price(monkeypatch)
    with BatchServer(weather=Weather(expired=lambda _: True)) as server:
        settings = server.settings | {"MODEL_DEFAULT": LISTED, "BATCH_TRIES": "1"}
        for options in (("--batch",), ("--resume",)):
            evaluate(interviews, "run", "interviews", "--out", "run", *options, **settings)
    used = account(interviews / "run")["used"]
    assert used["calls"] == used["calls_refused"] == 9
    assert usd(interviews / "run") == 0


@pytest.mark.parametrize("options", [("--no-raw",), ("--max-cost", "5")])
def test_what_batches_cannot_do_begins_no_run(interviews: Path, options: tuple[str, ...]) -> None:
    with BatchServer() as server:
        settings = server.settings | {"MODEL_DEFAULT": LISTED}
        command = ("run", "interviews", "--out", "run", "--batch", *options)
        done = evaluate(interviews, *command, **settings)
        assert (done.code, server.calls) == (2, 0)
    assert options[0] in done.err
    assert not (interviews / "run").exists()


def test_tokens_of_a_cache_are_never_more_than_those_in() -> None:
    """A price list refuses such calls, and a ceiling would count them as nothing."""
    told = possible_tokens(sent=150, written=1, cache_read=100, cache_write=100)
    assert (told.input, told.cache_read + told.cache_write) == (150, 150)


def shards_of(folder: Path, *options: object, **settings: str) -> None:
    for number in (1, 2):
        command = ("run", "interviews", "--out", f"parts/{number}", "--shard", f"{number}/2")
        evaluate(folder, *command, *options, **settings)


def test_merged_run_has_the_account_of_its_shards(
    interviews: Path, server: ModelServerThread
) -> None:
    settings = served(server.url)
    shards_of(interviews, "--price", PRICE, **settings)
    evaluate(interviews, "run", "interviews", "--out", "whole", "--price", PRICE, **settings)
    merged = evaluate(interviews, "merge", "parts/1", "parts/2", "--out", "merged")
    assert "used     calls 27" in merged.err
    whole, merged_account = account(interviews / "whole"), account(interviews / "merged")
    assert merged_account["used"] == whole["used"]
    assert merged_account["planned"]["units"] == UNITS
    # Each shard is planned in whole tokens.
    assert usd(interviews / "merged", "planned", "live_usd") == pytest.approx(
        usd(interviews / "whole", "planned", "live_usd"), rel=1e-3
    )


def test_account_with_a_part_without_a_price_has_none(
    interviews: Path, server: ModelServerThread
) -> None:
    settings = served(server.url)
    shards_of(interviews, "--price", PRICE, **settings)
    again = ("run", "interviews", "--out", "parts/2", "--shard", "2/2", "--resume")
    evaluate(interviews, *again, **settings)
    evaluate(interviews, "merge", "parts/1", "parts/2", "--out", "merged")
    assert account(interviews / "merged")["used"]["usd"] is None
    (interviews / "parts/2/cost.json").unlink()
    evaluate(interviews, "merge", "parts/1", "parts/2", "--out", "other")
    assert not (interviews / "other/cost.json").exists()


def test_merged_shards_of_batches_are_gone_on_with_by_batches(interviews: Path) -> None:
    """Also where their calls still wait: the merged run collects them, and pays none twice."""
    with BatchServer() as server:
        settings = server.settings | {"MODEL_DEFAULT": LISTED, "BATCH_POLL_SECONDS": "0.01"}
        shards_of(interviews, "--batch", **settings)
        merged = evaluate(interviews, "merge", "parts/1", "parts/2", "--out", "all", "--partial")
        assert (merged.code, "9 calls wait for their batch" in merged.err) == (4, True)
        command = ("run", "interviews", "--out", "all", "--resume", "--wait")
        done = evaluate(interviews, *command, **settings)
        assert (done.code, server.live) == (0, []), done.err
        assert len(server.answered) == UNITS * CALLS


def test_run_that_was_begun_by_batches_and_handed_none_in_never_goes_on_live(
    interviews: Path,
) -> None:
    """As after a kill before the first batch: live calls would cost twice as much."""
    talks = [{"id": "a", "text": ""}, {"id": "b", "text": "Participant: I am tired all day."}]
    lines = "".join(json.dumps(talk) + "\n" for talk in talks)
    (interviews / "talks.jsonl").write_text(lines, encoding="utf-8")
    with BatchServer() as server:
        settings = server.settings | {"MODEL_DEFAULT": LISTED}
        command = ("run", "talks.jsonl", "--out", "run")
        assert evaluate(interviews, *command, "--batch", "--limit", 1, **settings).code == 3
        done = evaluate(interviews, *command, "--resume", **settings)
        assert (done.code, server.live, len(server.batches)) == (4, [], 1)


def test_several_runs_without_a_ceiling_need_no_price(
    interviews: Path, server: ModelServerThread
) -> None:
    command = ("run", "interviews", "--out", "runs", "--repeats", 2)
    done = evaluate(interviews, *command, **served(server.url))
    assert done.code == 0, done.err
    assert account(interviews / "runs/shipped-2")["used"]["usd"] is None
