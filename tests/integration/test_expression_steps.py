"""The command `validate` over a step of expressions: its lines are contexts."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.integration.canary import CANARY
from tests.integration.command import Finished
from tests.integration.command_here import run_here

PIPELINE = """
pipeline:
  steps:
    - name: draw
      scope: expression
      init: {drawn: "[]"}
      expressions:
        _card: "random.choice(cards)"
        drawn: "drawn + [_card]"
        note: "f'{len(drawn)} of {name}'"
      loop_until: "len(drawn) >= wanted"
      max_iterations: 5
    - {name: rate, prompt_template: rate.jinja2}
prompts: {template_dir: ., templates: {rate: rate.jinja2}}
schemas: {schema_dir: ., files: {rate: rate.json}}
api: {}
processing: {inputs: [cards, wanted, name]}
validation:
  draw:
    required: [drawn]
    types: {drawn: array}
    rules:
      - {name: not_all, expr: "len(drawn) < 4", error: "{note}", level: error}
      - {name: more_than_one, expr: "len(drawn) > 1", error: "{note}", level: warning}
  rate: none
"""
CARDS = ["ace", "king", "queen", "jack", "ten"]


def unit(unit_id: object, **fields: object) -> dict[str, object]:
    return {"unit_id": unit_id, "cards": CARDS, "wanted": 2, "name": "u", **fields}


def records(text: str | bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a pipeline of a step of expressions before one that a model answers."""
    (tmp_path / "pipeline.yaml").write_text(PIPELINE, "utf-8")
    (tmp_path / "rate.json").write_text('{"type": "object"}', "utf-8")
    (tmp_path / "rate.jinja2").write_text("Rate {{ drawn }}, {{ note }}.", "utf-8")
    return tmp_path


def drawn(folder: Path, *units: dict[str, object], options: tuple[str, ...] = ()) -> Finished:
    (folder / "units.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in units), "utf-8")
    command = ["validate", "--config", "pipeline.yaml", "--step", "draw", "units.jsonl"]
    return run_here([*command, *options], folder)


def test_what_expressions_find_is_written_like_an_answer(folder: Path) -> None:
    done = drawn(folder, unit("u1"), unit(2, wanted=1), options=("--next", "next.jsonl"))

    assert done.code == 0
    first, second = records(done.out)
    assert list(first) == ["unit_id", "drawn", "note"]
    assert (first["unit_id"], first["note"], len(first["drawn"])) == ("u1", "2 of u", 2)
    assert (second["unit_id"], second["note"]) == (2, "1 of u")
    assert records((folder / "next.jsonl").read_text("utf-8")) == [
        {**unit("u1"), **first},
        {**unit(2, wanted=1), **second},
    ]


def test_units_fail_by_rules_and_by_expressions(folder: Path) -> None:
    done = drawn(
        folder,
        unit("full", wanted=4),
        unit("endless", wanted=6),
        {"unit_id": "bare", "wanted": 1},
        unit("odd", cards="", wanted=1),
        unit("full"),
        unit("good"),
    )

    assert done.code == 1
    assert [one["unit_id"] for one in records(done.out)] == ["good"]
    found = [
        (one["unit_id"], one["failure_stage"], one["errors"][0]["rule"], one["errors"][0]["path"])
        for one in records(done.err)
    ]
    assert found == [
        ("full", "validation", "not_all", "$.drawn"),
        ("endless", "pipeline_internal", "expression_endless_loop", "$.loop_until"),
        ("bare", "pipeline_internal", "expression_unknown_name", "$._card"),
        ("odd", "pipeline_internal", "expression_missing_key", "$._card"),
        ("full", "duplicate", "duplicate", "$"),
    ]
    failures = records(done.err)
    assert json.loads(failures[0]["raw_response"])["note"] == "4 of u"
    assert failures[0]["input"] == {"cards": CARDS, "wanted": 4, "name": "u"}
    assert failures[1]["raw_response"] is None


def test_seed_and_unit_alone_decide_what_is_drawn(folder: Path) -> None:
    units = [unit(f"u{number}", wanted=3) for number in range(20)]
    once = drawn(folder, *units, options=("--seed", "7"))
    again = drawn(folder, *reversed(units), options=("--seed", "7"))
    other = drawn(folder, *units, options=("--seed", "8"))
    unnamed = drawn(folder, *units)

    assert records(once.out) == records(again.out)[::-1]
    assert once.out != other.out
    assert unnamed.out == drawn(folder, *units, options=("--seed", "0")).out


def test_context_tells_which_units_were_asked_for(folder: Path) -> None:
    asked = [{"unit_id": name, "cards": CARDS, "name": "asked"} for name in ("u1", "u2")]
    (folder / "context.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in asked), "utf-8")

    done = drawn(folder, {"unit_id": "u1", "wanted": 1}, options=("--context", "context.jsonl"))

    assert [one["note"] for one in records(done.out)] == ["1 of asked"]
    assert [one["failure_stage"] for one in records(done.err)] == ["missing"]


@pytest.mark.parametrize(
    ("step", "options", "named"),
    [("rate", ("--seed", "1"), "--seed"), ("draw", ("--run", "run"), "--run")],
)
def test_options_of_the_other_kind_of_step_are_refused(
    folder: Path, step: str, options: tuple[str, ...], named: str
) -> None:
    command = ["validate", "--config", "pipeline.yaml", "--step", step, *options]
    done = run_here(command, folder, stdin=b'{"unit_id": "u1"}\n')

    assert done.code == 2
    assert named in done.err
    assert not (folder / "run").exists()


def test_words_of_a_unit_are_in_no_log_and_no_error(folder: Path) -> None:
    private = {"cards": [CANARY], "name": CANARY}
    units = (
        unit("u1", **private),
        unit("u2", wanted=CANARY, **private),
        unit("u3", wanted=9, **private),
    )
    outputs = (
        "--failures",
        "failures.jsonl",
        "--valid",
        "valid.jsonl",
        "--summary",
        "summary.json",
    )

    done = drawn(folder, *units, options=outputs)

    assert done.code == 1
    assert CANARY in (folder / "valid.jsonl").read_text("utf-8")
    assert CANARY not in f"{done.out}{done.err}{(folder / 'summary.json').read_text('utf-8')}"
    failures = records((folder / "failures.jsonl").read_text("utf-8"))
    assert [one["errors"][0]["rule"] for one in failures] == [
        "expression_wrong_type",
        "expression_endless_loop",
    ]
    assert CANARY not in json.dumps([one["errors"] for one in failures])


def test_hands_of_the_published_pipeline_are_verified(public_data: Path, tmp_path: Path) -> None:
    hand = {
        "player_cards_used": ["A", "K"],
        "dealer_cards_used": ["9", "8"],
        "player_final_total": 21,
        "dealer_final_total": 17,
        "player_busted": False,
        "dealer_busted": False,
        "result": "player_wins",
    }
    units = [{"unit_id": "fair", **hand}, {"unit_id": "unfair", **hand, "result": "push"}]
    config = str(public_data / "octobatch" / "Blackjack" / "config.yaml")
    text = "".join(f"{json.dumps(one)}\n" for one in units)

    done = run_here(
        ["validate", "--config", config, "--step", "verify_hand"], tmp_path, stdin=text.encode()
    )

    (kept,), (failed,) = records(done.out), records(done.err)
    assert (kept["unit_id"], kept["verification_passed"]) == ("fair", True)
    assert (failed["unit_id"], failed["errors"][0]["rule"]) == ("unfair", "hand_verification")
    assert (
        "calc=player_wins reported=push"
        in json.loads(failed["raw_response"])["verification_details"]
    )
