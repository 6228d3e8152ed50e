"""Several wordings of prompts, each repeated: runs of their own in one folder."""

import csv
import json
from pathlib import Path

import pytest

from tests.fakes.faults import FAULTS, only_for
from tests.fakes.model_server import ModelServerThread, Reply, Request, good_replies
from tests.integration.command import Finished, run
from tests.integration.command_here import run_here

TIRED = "Interviewer: How are you?\nParticipant: I have been tired nearly every day, I am {}.\n"
STRICT = """
judge_coherence = '''
Task: judge_coherence

Judge sternly. {findings}
Reply as {"a": 1} would:
Explanation: what you found
Score: 3
'''
"""
CERTIFIED = "certificates/*.json"
BOTH = ("--prompts", "shipped", "--prompts", "strict=strict.toml")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two labelled interviews, and a file of prompts."""
    rows = [
        {"id": name, "text": TIRED.format(name), "items": [0, 0, 0, score, 0, 0, 0, 0]}
        for name, score in (("a", 1), ("b", 3))
    ]
    content = "".join(f"{json.dumps(row)}\n" for row in rows)
    (tmp_path / "talks.jsonl").write_text(content, encoding="utf-8")
    (tmp_path / "strict.toml").write_text(STRICT, encoding="utf-8")
    return tmp_path


def assess(folder: Path, url: str | None, *arguments: str) -> Finished:
    served = {"MODEL_DEFAULT": "ollama:fake", "OLLAMA_HOST": url, "PYDANTIC_AI_RETRIES": "1"}
    settings = {} if url is None else {name: value or "" for name, value in served.items()}
    command = ["evaluate", "run", "talks.jsonl", "--out", "out", *arguments]
    return (run if "--resume" in arguments else run_here)(command, folder, settings)


def prompts_of(request: Request) -> str:
    return request.messages[-1].content


def listed(folder: Path) -> list[dict[str, object]]:
    found = json.loads(run_here(["evaluate", "runs", "out", "--json"], folder).out)
    return [one["name"] for one in found["runs"]]


def test_every_wording_and_repeat_is_a_whole_run_that_is_asked_anew(folder: Path) -> None:
    with ModelServerThread(good_replies()) as server:
        done = assess(folder, server.url, *BOTH, "--repeats", "2")
        requests = list(server.requests)
        server.server.reset()
        again = assess(folder, server.url, *BOTH, "--repeats", "2", "--resume")
        assert (again.code, server.requests) == (0, [])
        third = assess(folder, server.url, *BOTH, "--repeats", "3", "--resume")
        added = len(server.requests)
    assert (done.code, third.code) == (0, 0), done.err
    assert done.err.count("2 of 2 units complete") == 4
    assert [one["folder"] for one in listed(folder)] == [
        *("shipped-1", "shipped-2", "shipped-3"),
        *("strict-1", "strict-2", "strict-3"),
    ]
    asked = [prompts_of(one) for one in requests]
    assert (len(asked), added) == (4 * 2 * 9, 2 * 2 * 9)
    assert sum("Judge sternly." in prompt for prompt in asked) == 2 * 2
    # The repeats ask the same to the letter: the marks around the transcript, too.
    assert len(set(asked)) == (9 + 1) * 2
    digests = {(one["variant"], one["prompts"]) for one in listed(folder)}
    assert len(digests) == len({digest for _, digest in digests}) == 2
    assert 'Judge sternly. {findings}\nReply as {"a": 1}' in (
        folder / "out/strict-1/prompts.toml"
    ).read_text(encoding="utf-8")


def test_stopped_runs_are_gone_on_with_as_a_whole(folder: Path) -> None:
    with ModelServerThread(only_for(["meta_review"], FAULTS["status_500"])) as server:
        stopped = assess(folder, server.url, "--repeats", "2", "--max-failures", "0")
        server.server.script = good_replies()
        rest = assess(folder, server.url, "--repeats", "2", "--resume", "--retry-failed")
    assert (stopped.code, "no further run was started" in stopped.err) == (1, True)
    assert (rest.code, rest.err.count("2 of 2 units complete")) == (0, 2)


def test_changed_wording_is_not_gone_on_with_unless_that_is_accepted(folder: Path) -> None:
    with ModelServerThread(good_replies()) as server:
        arguments = ("--prompts", "strict=strict.toml")
        assess(folder, server.url, *arguments, "--limit", "1")
        (folder / "strict.toml").write_text(STRICT.replace("stern", "kind"), encoding="utf-8")
        refused = assess(folder, server.url, *arguments, "--resume")
        accepted = assess(folder, server.url, *arguments, "--resume", "--accept-changed")
    assert (refused.code, "other prompts" in refused.err) == (2, True)
    assert accepted.code == 0
    changed = (folder / "out/strict-1/changes/1/prompts.toml").read_text(encoding="utf-8")
    assert "Judge kindly." in changed
    shown = run_here(["evaluate", "runs", "out"], folder).out
    assert "strict-1: 1 unit was assessed after a change of prompts was accepted." in shown


def test_repeats_are_compared_as_groups_with_their_spread(folder: Path) -> None:
    """The second repeat finds no evidence, so that its coverage is another one."""
    asked: list[str] = []

    def script(request: Request) -> Reply:
        asked.append(request.task)
        if request.task == "scoring" and asked.count("scoring") in {3, 4}:
            return Reply(text="nothing")
        return good_replies()(request)

    with ModelServerThread(script) as server:
        arguments = (*BOTH, "--repeats", "2", "--concurrency", "1")
        assess(folder, server.url, *arguments, "--max-failures", "99")
    found = json.loads(run_here(["evaluate", "compare", "out", "--json"], folder).out)["groups"]
    assert [[name["variant"] for name in group["runs"]] for group in found] == [
        ["shipped"] * 2,
        ["strict"] * 2,
    ]
    for group in found:
        for place, name in enumerate(one["folder"] for one in group["runs"]):
            shown = json.loads(
                run_here(["evaluate", "metrics", f"out/{name}", "--json"], folder).out
            )
            coverage = shown["metrics"]["items"]["coverage"]["value"]
            assert group["figures"]["items.coverage"]["values"][place] == coverage
    text = run_here(["evaluate", "compare", "out"], folder).out
    assert "prompts strict" in text
    assert "±" in text


def test_results_of_all_runs_are_one_table(folder: Path) -> None:
    assess(folder, None, "--repeats", "2")
    assert run_here(["evaluate", "table", "out", "--out", "all.csv"], folder).code == 0
    with (folder / "all.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(one["run"], one["prompts"], one["repeat"], one["unit_id"]) for one in rows] == [
        (f"shipped-{repeat}", "shipped", repeat, unit) for repeat in "12" for unit in "ab"
    ]
    assert {(one["model"], one["mode"]) for one in rows} == {("baseline", "zero_shot")}


@pytest.mark.parametrize(
    ("arguments", "cure"),
    [
        (("--prompts", "strict=strict.toml"), "the baseline answers it by rules"),
        (("--prompts", "strict"), "as NAME=FILE"),
        (("--prompts", "shipped=strict.toml"), "as NAME=FILE"),
        (("--prompts", "../x=strict.toml"), "as NAME=FILE"),
        (("--prompts", "shipped", "--prompts", "shipped"), "more than once"),
        (("--prompts", "strict=none.toml"), "none.toml cannot be read"),
        (("--prompts", "odd=odd.toml"), "did you mean 'judge_coherence'"),
        (("--repeats", "2", "--resume"), "no run to continue"),
    ],
    ids=["baseline", "no file", "shipped", "path", "twice", "missing", "unknown", "no run"],
)
def test_prompts_that_cannot_be_used_are_refused_with_the_cure(
    folder: Path, arguments: tuple[str, ...], cure: str
) -> None:
    (folder / "odd.toml").write_text("judge_coherense = ''", encoding="utf-8")
    done = assess(folder, None, *arguments)
    assert (done.code, cure in done.err) == (2, True), done.err
    assert not (folder / "out").exists()


def test_one_run_and_several_do_not_share_a_folder(folder: Path) -> None:
    assess(folder, None, "--repeats", "2")
    several = assess(folder, None, "--repeats", "2")
    assert (several.code, "add --resume" in several.err) == (2, True)
    alone = assess(folder, None)
    assert (alone.code, "holds runs of its own" in alone.err) == (2, True)
    (folder / "out").rename(folder / "several")
    assess(folder, None)
    mixed = assess(folder, None, "--repeats", "2", "--resume")
    assert (mixed.code, "is one run; name another folder" in mixed.err) == (2, True)
    single = run_here(["evaluate", "compare", "out"], folder)
    assert (single.code, "name another one" in single.err) == (2, True)


def test_certificates_name_the_wordings_that_were_asked(folder: Path) -> None:
    with ModelServerThread(good_replies()) as server:
        assert assess(folder, server.url, *BOTH, "--certificates").code == 0
    shipped, strict = (
        json.loads(path.read_bytes())["certificate"]["prompts"]
        for run in ("shipped-1", "strict-1")
        for path in sorted((folder / "out" / run).glob(CERTIFIED))[:1]
    )
    assert {name for name in shipped if shipped[name] != strict[name]} == {"judge_coherence"}
