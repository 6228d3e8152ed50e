"""`doctor --quality` measures models on interviews with known answers, beside the baseline."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import pytest

from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.evaluation.quality.counts import labelled_interviews
from tests.fakes.exchange import Reply, Request, Script
from tests.fakes.faults import FAULTS, first_attempts, only_for
from tests.fakes.model_server import ModelServerThread
from tests.fakes.replies import danger_text, good_replies, participant_quotes
from tests.integration.command import Finished
from tests.integration.command_here import run_here
from tests.integration.running_app import model_at

INTERVIEWS: Final = labelled_interviews()
ALONE: Final = {"READER_ENABLED": "false"}
GOOD: Final = good_replies(12)
Systems = list[dict[str, Any]]


def assert_wordless(done: Finished) -> None:
    """Check that nothing is shown that anybody says in the interviews."""
    for interview in INTERVIEWS:
        for line in interview.transcript.strip().splitlines():
            words = line.partition(": ")[2]
            if len(words) > 12:
                assert words not in done.out + done.err


def measured(
    folder: Path, script: Script = GOOD, *options: str, **settings: str
) -> tuple[Finished, Systems]:
    with ModelServerThread(script) as models:
        given = model_at(models.url, "ollama") | ALONE | settings
        done = run_here(["doctor", "--quality", "--json", *options], folder, given)
        sent = {request.transcript.strip() for request in models.requests if request.transcript}
    shown = [one.transcript.strip() for one in INTERVIEWS]
    assert {text in shown for text in sent} == {True}
    assert_wordless(done)
    return done, json.loads(done.out)["quality"]["systems"]


def counts(share: dict[str, Any]) -> tuple[int, int]:
    return share["n"], share["of"]


def test_the_labels_are_whole() -> None:
    assert len({one.id for one in INTERVIEWS}) == len(INTERVIEWS)
    assert sum(one.is_dangerous for one in INTERVIEWS) >= 6
    scores = {score for one in INTERVIEWS for score in one.scores.values()}
    assert scores == {0, 1, 2, 3}
    assert {item for one in INTERVIEWS for item in one.scores} == set(Item)
    for one in INTERVIEWS:
        speakers = [line.partition(":")[0] for line in one.transcript.strip().splitlines()]
        assert 6 <= len(speakers) <= 20
        assert set(speakers) == {"Interviewer", "Participant"}
        assert all(first != second for first, second in pairwise(speakers))


def test_the_baseline_is_shown_alone_where_nothing_else_is_configured(tmp_path: Path) -> None:
    done = run_here(["doctor", "--quality", "--json"], tmp_path, ALONE)
    assert (done.code, done.err) == (0, "")
    assert_wordless(done)
    quality = json.loads(done.out)["quality"]
    (found,) = quality["systems"]
    assert found["model"] == "baseline"
    assert found["interviews"] == len(INTERVIEWS)
    assert counts(found["scores_right"])[1] == sum(len(one.scores) for one in INTERVIEWS)
    assert counts(found["items_right"])[1] == 8 * len(INTERVIEWS)
    assert counts(found["dangers_found"])[1] == sum(one.is_dangerous for one in INTERVIEWS)
    assert counts(found["incomplete"]) == (0, len(INTERVIEWS))
    assert (found["usd"], found["tokens_in"]) == (0, None)
    assert "shown without a model" in quality["words"][0]


def test_a_model_is_shown_beside_the_baseline(tmp_path: Path) -> None:
    with ModelServerThread(GOOD) as models:
        given = model_at(models.url) | ALONE
        done = run_here(["doctor", "--quality", "--limit", "3"], tmp_path, given)
        assert len({one.transcript for one in models.requests if one.transcript}) == 3
    assert (done.code, done.err) == (0, "")
    assert_wordless(done)
    table = done.out[done.out.index("Quality on 3 interviews of ours") :]
    rows = table.splitlines()
    assert rows[1].split() == ["openai-chat:fake-model", "baseline"]
    assert "no price known" in table
    assert "USD 0.00" in table
    assert "3 interviews of ours are few: a difference under 55 points" in " ".join(table.split())


def test_shares_have_the_interval_of_wilson(tmp_path: Path) -> None:
    _, (model, baseline) = measured(tmp_path, GOOD, "--limit", "3")
    for found in (model, baseline):
        # Of 0 of 3: z² / (3 + z²).
        assert found["incomplete"] == {"n": 0, "of": 3, "share": 0, "interval": [0, 0.5615]}
    assert model["tokens_in"] > 0
    assert model["usd"] is None
    assert model["seconds"] > 0


def test_a_model_that_scores_whatever_is_denied_has_polarity_errors(tmp_path: Path) -> None:
    _, (model, baseline) = measured(tmp_path)
    assert model["polarity_errors"]["share"] > 0.2
    assert baseline["polarity_errors"]["share"] < model["polarity_errors"]["share"]
    assert model["items_right"]["share"] < baseline["items_right"]["share"]
    assert counts(model["quotes_grounded"])[0] == counts(model["quotes_grounded"])[1] > 0
    parts = (model["scores_right"]["n"], model["unknown_right"]["n"])
    assert model["items_right"]["n"] == sum(parts)


def test_quotes_that_nobody_said_are_counted(tmp_path: Path) -> None:
    _, (model, _) = measured(tmp_path, FAULTS["hallucinated_quotes"], "--limit", "4")
    assert counts(model["quotes_grounded"]) == (0, 32)
    assert model["polarity_errors"] == {"n": 0, "of": 0, "share": None, "interval": None}


def test_alarms_where_there_is_no_danger_are_counted(tmp_path: Path) -> None:
    def alarmed(request: Request) -> Reply:
        quote = participant_quotes(request.transcript)[:1]
        return Reply(text=danger_text(*quote)) if request.task == "danger" else GOOD(request)

    _, (model, baseline) = measured(tmp_path, alarmed, "--limit", "8")
    dangerous = sum(one.is_dangerous for one in INTERVIEWS[:8])
    assert counts(model["dangers_found"]) == (dangerous, dangerous)
    assert counts(model["false_alarms"]) == (8 - dangerous, 8 - dangerous)
    assert baseline["false_alarms"]["n"] < 8 - dangerous


def test_rejected_replies_and_failed_calls_are_counted(tmp_path: Path) -> None:
    rejected = first_attempts(1, only_for(["evidence"], FAULTS["prose"]))
    _, (model, _) = measured(tmp_path, rejected, "--limit", "1")
    _, (plain, _) = measured(tmp_path, GOOD, "--limit", "1")
    assert model["replies_rejected"]["n"] == plain["replies_rejected"]["n"] + 1
    failing = only_for(["scoring"], FAULTS["status_500"])
    done, (model, _) = measured(tmp_path, failing, "--limit", "2")
    assert done.code == 0
    assert counts(model["incomplete"]) == (2, 2)
    assert model["calls_failed"]["n"] >= 2
    # Items without an answer are not rightly unknown.
    assert counts(model["items_right"]) == (0, 16)


def test_interviews_are_assessed_side_by_side_as_far_as_the_server_may_be_asked(
    tmp_path: Path,
) -> None:
    most = []
    for concurrency in ("1", "3"):
        with ModelServerThread(GOOD, delay_seconds=0.02) as models:
            given = model_at(models.url) | ALONE | {"MODEL_MAX_CONCURRENCY": concurrency}
            done = run_here(["doctor", "--quality", "--limit", "4"], tmp_path, given)
            assert done.code == 0
            most.append(models.max_in_flight)
    assert most == [1, 3]


def test_a_model_that_does_not_answer_is_not_measured(tmp_path: Path) -> None:
    given = model_at("http://127.0.0.1:1", "ollama")
    done = run_here(["doctor", "--quality", "--json"], tmp_path, given)
    assert done.code == 1
    assert json.loads(done.out)["quality"] is None
    done = run_here(["doctor", "--quality"], tmp_path, given)
    assert done.code == 1
    assert "Quality was not measured" in done.out


@pytest.mark.parametrize("arguments", [["--limit", "3"], ["--quality", "--limit", "0"]])
def test_a_limit_of_nothing_is_refused(tmp_path: Path, arguments: list[str]) -> None:
    done = run_here(["doctor", *arguments], tmp_path)
    assert done.code == 2
    assert "--limit" in done.err


def test_without_it_nothing_is_said_of_quality(tmp_path: Path) -> None:
    done = run_here(["doctor", "--json"], tmp_path)
    assert "quality" not in json.loads(done.out)
