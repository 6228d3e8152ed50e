"""Runs over datasets by a served model: good, faulty for all or for some, priced, in batches."""

import dataclasses
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from tests.fakes.exchange import Reply, Request, Script
from tests.fakes.faults import FAULTS, fault, first_attempts, only_for
from tests.fakes.replies import good_replies
from tests.golden.answer import Answer, Json
from tests.golden.evaluations_shown import (
    evaluate,
    json_file,
    packed,
    page_file,
    record_of,
    shown,
    told,
    units_of,
)
from tests.golden.evaluations_talks import labelled_texts, three_texts
from tests.golden.ways import model_server

MODEL: Final = "openai-chat:fake-model"
_FEW_TRIES: Final = {"PYDANTIC_AI_RETRIES": "1", "MODEL_MAX_CALLS": "30"}
_GOOD: Final = good_replies()
_TALKS_OF: Final[Mapping[str, Script]] = {
    "I am a.": only_for(["scoring"], FAULTS["prose"]),
    "I am b.": only_for(["meta_review"], FAULTS["status_500"]),
}
"""What befalls whom: a has no scores, b has no review, c is complete."""


def by_talk(request: Request) -> Reply:
    """Reply badly where a participant of the three texts is one to whom that happens."""
    found = (script for words, script in _TALKS_OF.items() if words in request.transcript)
    return next(found, _GOOD)(request)


_FAULTY: Final[Mapping[str, Script]] = {
    "no_server_answers": FAULTS["status_500"],
    "unauthorised": FAULTS["status_401"],
    "no_such_model": FAULTS["status_404"],
    "busy": FAULTS["status_429"],
    "context_exceeded": FAULTS["context_exceeded"],
    "dropped": FAULTS["reset"],
    "no_choices": FAULTS["no_choices"],
    "invented_quotes": FAULTS["hallucinated_quotes"],
    "interviewer_quotes": FAULTS["interviewer_quotes"],
    "evidence_as_string": FAULTS["evidence_as_string"],
    "scores_in_prose": fault("prose", tasks=["scoring"]),
    "scores_that_are_true": FAULTS["true_as_score"],
    "scores_without_end": fault("infinity", tasks=["scoring"]),
    "evidence_empty": fault("empty", tasks=["evidence"]),
    "findings_empty": fault("whitespace", tasks=["qualitative"]),
    "judges_low": FAULTS["judge_low"],
    "judges_half": FAULTS["judge_half"],
    "review_of_nine": FAULTS["severity_nine"],
    "danger_in_prose": fault("prose", tasks=["danger"]),
    "first_replies_in_prose": first_attempts(1, FAULTS["prose"]),
    "first_evidence_fails": only_for(["evidence"], first_attempts(1, FAULTS["status_500"])),
    "some_talks_fail": by_talk,
}


def latest(scripts: Sequence[Script]) -> Script:
    """Return a script that follows the last of some, which may be added to."""

    def reply(request: Request) -> Reply:
        return scripts[-1](request)

    return reply


def answers(folder: Path) -> Iterator[Answer]:
    """Yield what runs come to whose model is served."""
    three_texts(folder / "texts")
    labelled_texts(folder / "talks", range(1, 5))
    yield from _good(folder)
    for name, script in _FAULTY.items():
        settings = {"FEEDBACK_MAX_ITERATIONS": "2"} if name.startswith("judges") else {}
        with model_server(script) as (server, served):
            dataset = "texts" if name == "some_talks_fail" else "texts/c.txt"
            ended = evaluate(
                folder, "run", dataset, "--out", name, settings=served | _FEW_TRIES | settings
            )
            asked = len(server.requests)
        yield told(f"served/faulty/{name}", _ended(folder / name, shown(ended), asked), folder)
    yield from _retried(folder)
    yield from _bounded(folder)
    yield from _worded(folder)


def _ended(run: Path, ended: Json, asked: int) -> Json:
    return {
        "run": ended,
        "requests": asked,
        "units": units_of(run),
        "failures": json_file(run / "failures.jsonl"),
    }


def _good(folder: Path) -> Iterator[Answer]:
    for wire in ("openai", "ollama"):
        with model_server(_GOOD, wire=wire) as (server, served):
            ended = evaluate(folder, "run", "texts", "--out", wire, settings=served)
            asked = len(server.requests)
        value = {
            "ended": _ended(folder / wire, shown(ended), asked),
            "record": record_of(folder / wire),
            "cost": json_file(folder / wire / "cost.json"),
        }
        yield told(f"served/good/{wire}", value, folder)
    lines = (folder / "openai/predictions.jsonl").read_text("utf-8").splitlines()
    yield told("served/good/prediction", packed(json.loads(lines[0])), folder)
    evaluate(folder, "unit", "openai", "a", "--out", "unit.json")
    behind = json.loads((folder / "unit.json").read_text("utf-8"))
    # Agents are asked at the same time.
    behind["calls"].sort(key=lambda call: call["agent"])
    text = behind["text"]
    yield told("served/good/unit", packed(behind), folder, text)
    more: Mapping[str, tuple[Sequence[object], Mapping[str, str]]] = {
        "judged_by_one_call": ((), {"JUDGE_CALLS": "one"}),
        "without_a_danger_agent": ((), {"DANGER_MODEL": "off"}),
        "ablated": (("--ablate",), {}),
        "described": (("--mode", "descriptions_only"), {}),
        "rescored": ((), {"BELIEF_SOURCES": "rules,rescoring", "BELIEF_RESCORINGS": "2"}),
        "few_calls": ((), {"MODEL_MAX_CALLS": "5"}),
        "one_at_a_time": (("--concurrency", "1", "--no-raw"), {}),
        "quotes_by_tokens": ((), {"BELIEF_SOURCES": "rules,tokens"}),
    }
    for name, (options, settings) in more.items():
        with model_server(_GOOD) as (server, served):
            ended = evaluate(
                folder,
                "run",
                "texts/c.txt",
                "--out",
                name,
                *options,
                settings=served | dict(settings),
            )
            asked = len(server.requests)
        value = {
            "ended": _ended(folder / name, shown(ended), asked),
            "record": record_of(folder / name),
        }
        yield told(f"served/good/{name}", value, folder)


def _retried(folder: Path) -> Iterator[Answer]:
    """Go on with runs of which some units failed, after the model was mended."""
    scripts: list[Script] = [by_talk]
    steps: dict[str, Json] = {}
    run = ("run", "texts", "--out", "mended")
    with model_server(latest(scripts)) as (server, served):
        settings = served | _FEW_TRIES

        def step(name: str, *options: object) -> None:
            server.server.reset()
            ended = evaluate(folder, *run, *options, settings=settings)
            steps[name] = _ended(folder / "mended", shown(ended), len(server.requests))

        step("begun")
        step("resumed", "--resume")
        step("failed_anew", "--resume", "--retry-failed")
        scripts.append(_GOOD)
        step("resumed_after_mending", "--resume")
        step("failed_anew_after_mending", "--resume", "--retry-failed")
        step("failed_anew_where_none_failed", "--resume", "--retry-failed")
    yield told("served/retried", steps, folder)
    stopped: dict[str, Json] = {}
    again = ("run", "texts", "--out", "stopped", "--concurrency", "1")
    scripts.append(FAULTS["status_500"])
    with model_server(latest(scripts)) as (server, served):
        for name, options in {
            "begun": ("--max-failures", "0"),
            "again": ("--max-failures", "1", "--resume"),
            "mended": ("--resume", "--retry-failed"),
        }.items():
            if name == "mended":
                scripts.append(_GOOD)
            ended = evaluate(folder, *again, *options, settings=served | _FEW_TRIES)
            stopped[name] = _ended(folder / "stopped", shown(ended), len(server.requests))
    yield told("served/too_many_failures", stopped, folder)


def _hundred_tokens(request: Request) -> Reply:
    return dataclasses.replace(_GOOD(request), prompt_tokens=100)


def _uncounted(request: Request) -> Reply:
    message = {"role": "assistant", "content": _GOOD(request).text}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    body = {"id": "x", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]}
    return Reply(raw_body=json.dumps(body).encode())


def _bounded(folder: Path) -> Iterator[Answer]:
    run = ("run", "talks", "--out", "priced", "--concurrency", "1")
    price = ("--price", f"{MODEL}=1000/0")
    plain = {"FEEDBACK_ENABLED": "false"}
    steps: Mapping[str, Sequence[object]] = {
        "plan": (*run, "--plan", *price),
        "plan_json": (*run, "--plan", "--json", *price),
        "nothing_to_spend": (*run, *price, "--max-cost", "0"),
        "a_little": (*run, *price, "--max-cost", "13", "--resume"),
        "the_same_again": (*run, *price, "--max-cost", "13", "--resume"),
        "enough": (*run, *price, "--max-cost", "1000", "--resume"),
        "plan_of_the_run": (*run, "--plan", *price),
        "plan_of_the_run_json": (*run, "--plan", "--json", *price),
        "report": ("report", "priced"),
        "without_a_price": ("run", "talks", "--out", "new", "--max-cost", "5"),
        "price_of_another": ("run", "talks", "--out", "new", "--price", "ollama:other=1/2"),
        "price_without_a_number": (*run, "--plan", "--price", MODEL),
        "price_of_one_number": (*run, "--plan", "--price", f"{MODEL}=1"),
        "price_of_nobody": (*run, "--plan", "--price", "=1/2"),
        "price_below_nothing": (*run, "--plan", "--price", f"{MODEL}=-1/2"),
        "price_twice": (*run, "--plan", *price, *price),
        "endless_amount": (*run, *price, "--max-cost", "inf"),
        "amount_below_nothing": (*run, *price, "--max-cost", "-1"),
    }
    value: dict[str, Json] = {}
    with model_server(_hundred_tokens) as (server, served):
        for name, arguments in steps.items():
            ended = evaluate(folder, *arguments, settings=served | plain)
            value[name] = [shown(ended), len(server.requests)]
    value["cost"] = json_file(folder / "priced/cost.json")
    value["page"] = page_file(folder / "priced/report.html", ("cost",))
    yield told("served/priced", value, folder)
    with model_server(_uncounted) as (_, served):
        ended = evaluate(
            folder, "run", "texts", "--out", "uncounted", *price, settings=served | plain
        )
    cost = json_file(folder / "uncounted/cost.json")
    yield told("served/uncounted", {"run": shown(ended), "cost": cost}, folder)
    with model_server(FAULTS["status_400"]) as (_, served):
        ended = evaluate(folder, "run", "texts", "--out", "refused", *price, settings=served)
    cost = json_file(folder / "refused/cost.json")
    yield told("served/refused_calls", {"run": shown(ended), "cost": cost}, folder)
    plans = {
        "of_an_own_model": ("--model", "ollama:gemma3"),
        "of_a_model_without_a_list_price": ("--model", "openai:gpt-of-nobody"),
        "with_two_prices": ("--model", "openai:own", "--price", "openai:own=0.5/2"),
        "of_a_part": ("--model", "openai:own", "--shard", "1/2", "--limit", "3"),
        "of_repeats": ("--model", "openai:own", "--repeats", "3"),
        "ablated": ("--model", "openai:own", "--ablate"),
        "of_the_baseline": (),
        "of_a_model_with_a_list_price": ("--model", "anthropic:claude-haiku-4-5"),
    }
    planned = {
        name: [
            shown(evaluate(folder, "run", "talks", "--plan", *options)),
            shown(evaluate(folder, "run", "talks", "--plan", "--json", *options)),
        ]
        for name, options in plans.items()
    }
    yield told("served/plans", planned, folder)


def _worded(folder: Path) -> Iterator[Answer]:
    """Word the task of one agent otherwise, and compare the wordings over repeats."""
    text = (folder / "openai/prompts.toml").read_text("utf-8")
    (folder / "strict.toml").write_text(text.replace("PHQ-8", "PHQ-8 (strict)"), "utf-8")
    (folder / "broken.toml").write_text("[", "utf-8")
    (folder / "unknown.toml").write_text("[tasks]\nnobody = 'x'\n", "utf-8")
    run = ("run", "texts", "--out", "wordings", "--repeats", "2")
    wordings = ("--prompts", "shipped", "--prompts", "strict=strict.toml")
    steps: Mapping[str, Sequence[object]] = {
        "run": (*run, *wordings, "--limit", "2"),
        "resumed": (*run, *wordings, "--limit", "2", "--resume"),
        "compare": ("compare", "wordings"),
        "compare_json": ("compare", "wordings", "--json"),
        "compare_with_one": ("compare", "openai", "wordings"),
        "table": ("table", "wordings", "--out", "wordings.csv"),
        "runs": ("runs", "wordings"),
        "broken": (*run, "--resume", "--prompts", "broken=broken.toml"),
        "unknown": (*run, "--resume", "--prompts", "unknown=unknown.toml"),
    }
    with model_server(_GOOD) as (_, served):
        value = {
            name: shown(evaluate(folder, *arguments, settings=served))
            for name, arguments in steps.items()
        }
    (folder / "prompts.toml").write_text(text, "utf-8")
    for name in ("prompts", "strict"):
        ended = evaluate(folder, *run, "--resume", "--prompts", f"of-{name}={name}.toml")
        value[f"{name}_for_the_baseline"] = shown(ended)
    yield told("served/wordings", value, folder)
