"""A dataset dealt out to several processes, and one run made of what they leave."""

import json
import os
import shutil
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import pytest

from ai_psychiatrist.evaluation.runs.shards import merge_shards
from ai_psychiatrist.store.lock import run_lock
from tests.fakes.faults import FAULTS, only_for
from tests.fakes.model_server import ModelServerThread, Reply, Request, good_replies
from tests.fakes.run_words import words_in
from tests.integration.command import Finished, run
from tests.integration.command_here import run_here

TIRED = (
    "Interviewer: How have you been?\n"
    "Participant: I have been tired nearly every day, and I hardly sleep at all. I am {}.\n"
)
NAMES = ("a", "b", "c", "d", "e", "f", "g")
SHARDS = ("parts/1", "parts/2", "parts/3")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Seven interviews, one of them without words, assessed at once and in three shards."""
    folder = tmp_path_factory.mktemp("sharded")
    with (folder / "talks.jsonl").open("w", encoding="utf-8") as file:
        for place, name in enumerate(NAMES):
            text = "" if name == "d" else TIRED.format(name)
            items = [place % 4, 0, 0, 1, 0, 2, 0, 0]
            file.write(json.dumps({"id": name, "text": text, "items": items}) + "\n")
    assess(folder, "whole", "--certificates")
    for number, shard in enumerate(SHARDS, start=1):
        assess(folder, shard, "--certificates", "--shard", f"{number}/3")
    done = evaluate(folder, "merge", *SHARDS, "--out", "merged")
    assert done.code == 1, done.err
    assert "6 of 7 units complete" in done.err
    return folder


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    """A copy of all of it."""
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    return tmp_path


def evaluate(folder: Path, *arguments: str, settings: Mapping[str, str] | None = None) -> Finished:
    """What goes on with a run is a process of its own."""
    apart = "--resume" in arguments
    return (run if apart else run_here)(["evaluate", *arguments], folder, settings)


def assess(
    folder: Path, out: str, *arguments: str, settings: Mapping[str, str] | None = None
) -> Finished:
    return evaluate(folder, "run", "talks.jsonl", "--out", out, *arguments, settings=settings)


def files_of(run: Path) -> dict[str, bytes]:
    """Return every file that a run leaves; timings, account, ledger and locks apart."""
    return {
        str(path.relative_to(run)): path.read_bytes()
        for path in sorted(run.rglob("*"))
        if path.is_file()
        and path.name not in {"timings.json", "cost.json"}
        and not path.name.startswith(("ledger.sqlite", "."))
    }


def unit_ids(run: Path) -> list[str]:
    lines = (run / "units.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["unit_id"] for line in lines]


def test_shards_are_even_and_no_unit_is_in_two(made: Path) -> None:
    assert [unit_ids(made / shard) for shard in SHARDS] == [
        ["a", "d", "g"],
        ["b", "e"],
        ["c", "f"],
    ]


def test_plan_of_a_shard_that_was_begun_is_of_its_units(made: Path) -> None:
    def planned(*arguments: str) -> int:
        done = evaluate(made, "run", "talks.jsonl", "--plan", "--json", *arguments)
        assert done.code == 0, done.err
        units: int = json.loads(done.out)["units"]
        return units

    assert planned("--out", "whole") == planned() == planned("--out", "none-yet")
    begun = planned("--out", SHARDS[1])
    assert begun == planned("--shard", "2/3") < planned()
    assert planned("--out", SHARDS[1], "--shard", "1/3") == planned("--shard", "1/3") != begun


def test_merged_run_is_to_the_byte_what_one_process_leaves(folder: Path) -> None:
    """All result files, and all that is made of them."""
    for name in ("whole", "merged"):
        shutil.move(folder / name, folder / "run")
        evaluate(folder, "metrics", "run")
        evaluate(folder, "report", "run")
        evaluate(folder, "table", "run", "--out", "run/table.csv")
        shutil.move(folder / "run", folder / name)
    whole, merged = files_of(folder / "whole"), files_of(folder / "merged")
    assert {"run.json", "units.jsonl", "labels.jsonl", "predictions.jsonl"} < set(whole)
    assert {"failures.jsonl", "metrics.json", "report.html", "table.csv"} < set(whole)
    assert sum(name.startswith("certificates/") for name in whole) == 6
    assert merged == whole


def test_merged_run_has_one_account(made: Path) -> None:
    def account(run: str) -> list[tuple[object, ...]]:
        with closing(sqlite3.connect(made / run / "ledger.sqlite")) as ledger:
            return ledger.execute(
                "SELECT a.step, u.unit, u.unit_id, a.round, a.attempt, a.stage, a.body "
                "FROM run_attempts AS a JOIN run_units AS u USING (unit) ORDER BY 1, 2, 4, 5"
            ).fetchall()

    assert account("merged") == account("whole")


def test_later_commands_work_on_a_merged_run(folder: Path) -> None:
    for arguments in (
        ("compare", "whole", "merged"),
        ("metrics", "merged", "--compare", "whole"),
        ("unit", "merged", "b", "--out", "unit.json"),
        ("runs", "."),
    ):
        done = evaluate(folder, *arguments)
        assert done.code == 0, done.err
    assert "I am b." in (folder / "unit.json").read_text(encoding="utf-8")
    for command in (["revalidate", "merged", "--demote"], ["export", "merged", "--format", "csv"]):
        done = run_here(command, folder)
        assert done.code in (0, 1), done.err


def test_failed_units_of_a_merged_run_are_done_anew_and_finished_calls_are_not(
    folder: Path,
) -> None:
    """The shards of one installation ask with one key, so that kept calls are found again."""
    scripts = [only_for(["meta_review"], FAULTS["empty"])]

    def reply(request: Request) -> Reply:
        return scripts[-1](request)

    with ModelServerThread(reply) as server:
        served = {
            "MODEL_DEFAULT": "ollama:fake",
            "OLLAMA_HOST": server.url,
            "PYDANTIC_AI_RETRIES": "0",
        }
        for number in (1, 2):
            assess(folder, f"halves/{number}", "--shard", f"{number}/2", settings=served)
        merged = evaluate(folder, "merge", "halves/1", "halves/2", "--out", "new")
        scripts.append(good_replies())
        server.server.reset()
        again = assess(folder, "new", "--resume", "--retry-failed", settings=served)
        asked = [request.task for request in server.requests]
    assert "0 of 7 units complete" in merged.err
    assert asked == ["meta_review"] * 6
    assert "6 of 7 units complete" in again.err


def test_resume_with_another_shard_is_refused(folder: Path) -> None:
    for wanted in (("--shard", "2/3"), ("--shard", "1/4"), ()):
        done = assess(folder, "parts/1", "--certificates", "--resume", *wanted)
        assert (done.code, "begun with other shard" in done.err) == (2, True), done.err
    same = assess(folder, "parts/1", "--certificates", "--resume", "--shard", "1/3")
    assert "2 of 3 units complete" in same.err


@pytest.mark.parametrize("wanted", ["0/3", "4/3", "1/0", "a/3", "1", "1/401", "-1/3"])
def test_what_is_no_shard_is_refused(folder: Path, wanted: str) -> None:
    done = assess(folder, "new", f"--shard={wanted}")
    assert done.code == 2
    assert "a shard is given as i/n" in done.err


def test_shard_without_units_is_refused_before_anything_is_written(folder: Path) -> None:
    done = assess(folder, "new", "--limit", "2", "--shard", "3/3")
    assert (done.code, (folder / "new/run.json").exists()) == (2, False)
    assert "make at most 2 shards" in done.err


def test_missing_shards_are_named_and_left_out_only_when_that_is_wanted(folder: Path) -> None:
    refused = evaluate(folder, "merge", "parts/1", "--out", "new")
    assert refused.code == 2
    assert "shards are missing: 2/3, 3/3" in refused.err
    assert not (folder / "new/run.json").exists()
    taken = evaluate(folder, "merge", "parts/1", "parts/3", "--out", "new", "--partial")
    assert (taken.code, "shards missing: 2/3" in taken.err) == (1, True)
    assert unit_ids(folder / "new") == ["a", "c", "d", "f", "g"]
    assert json.loads((folder / "new/run.json").read_bytes())["missing_shards"] == ["2/3"]
    resumed = assess(folder, "new", "--certificates", "--resume")
    assert (resumed.code, "missing shards" in resumed.err) == (2, True)


def test_shard_that_is_named_twice_is_refused(folder: Path) -> None:
    shutil.copytree(folder / "parts/1", folder / "copy")
    done = evaluate(folder, "merge", *SHARDS, "copy", "--out", "new")
    assert (done.code, "shard 1/3 is named twice" in done.err) == (2, True)
    same = evaluate(folder, "merge", *SHARDS, "parts/../parts/1", "--out", "new")
    assert (same.code, "a folder is named twice" in same.err) == (2, True)
    itself = evaluate(folder, "merge", *SHARDS, "--out", "parts/1")
    assert (itself.code, "parts/1 holds runs already" in itself.err) == (2, True)


def test_other_configurations_are_refused_with_the_fields(folder: Path) -> None:
    path = folder / "parts/2/run.json"
    record = json.loads(path.read_bytes())
    record["settings"]["temperature"] = 0.9
    record["models"]["qualitative"] = ["other"]
    record["prompts"]["evidence"] = "0" * 12
    path.write_text(json.dumps(record), encoding="utf-8")
    done = evaluate(folder, "merge", *SHARDS, "--out", "new")
    assert done.code == 2
    assert "models.qualitative" in done.err
    assert "settings.temperature" in done.err
    assert "prompts.evidence" in done.err


def test_shards_of_other_limits_are_refused(folder: Path) -> None:
    assess(folder, "limited", "--certificates", "--limit", "4", "--shard", "3/3")
    done = evaluate(folder, "merge", "parts/1", "parts/2", "limited", "--out", "new")
    assert (done.code, "begin all with the same --limit" in done.err) == (2, True)


def test_unfinished_shard_is_refused_and_gone_on_with_where_it_was_merged(folder: Path) -> None:
    """A run of parts that were stopped is a run that was stopped."""
    for number in (1, 2):
        limit = ("--max-failures", "0", "--concurrency", "1") if number == 2 else ()
        assess(folder, f"halves/{number}", "--shard", f"{number}/2", *limit)
    refused = evaluate(folder, "merge", "halves/1", "halves/2", "--out", "new")
    assert (refused.code, "units still to do" in refused.err) == (2, True)
    evaluate(folder, "merge", "halves/1", "halves/2", "--out", "new", "--partial")
    assess(folder, "new", "--resume")
    assess(folder, "plain")
    assert files_of(folder / "new") == files_of(folder / "plain")


def test_shard_that_is_worked_on_is_refused(folder: Path) -> None:
    with run_lock(folder / "parts/2"):
        done = evaluate(folder, "merge", *SHARDS, "--out", "new")
    assert (done.code, "parts/2: the run is active" in done.err) == (2, True)


def test_damaged_shards_are_refused(folder: Path) -> None:
    units = folder / "parts/2/units.jsonl"
    kept = units.read_bytes()
    units.write_bytes(kept.splitlines(keepends=True)[0])
    lost = evaluate(folder, "merge", *SHARDS, "--out", "new")
    assert (lost.code, "parts/2/units.jsonl is damaged" in lost.err) == (2, True)
    units.write_bytes(kept)
    ledger = folder / "parts/3/ledger.sqlite"
    content = bytearray(ledger.read_bytes())
    content[len(content) // 3 : len(content) // 2] = b"\x55" * (
        len(content) // 2 - len(content) // 3
    )
    ledger.write_bytes(content)
    broken = evaluate(folder, "merge", *SHARDS, "--out", "new")
    assert (broken.code, "parts/3: the ledger cannot be used" in broken.err) == (2, True), (
        broken.err
    )
    assert not (folder / "new/run.json").exists()
    shutil.rmtree(folder / "parts/3")
    shutil.copytree(folder / "merged", folder / "other")
    again = evaluate(folder, "merge", "parts/1", "parts/2", "--partial", "--out", "new")
    assert (again.code, "shards missing: 3/3" in again.err) == (1, True), again.err


def bytes_of(ledger: Path, table: str, column: str) -> tuple[int, bytes]:
    """Return where a page of a table begins in the file, and the longest content of a column."""
    with closing(sqlite3.connect(ledger)) as opened:
        (root,) = opened.execute(
            "SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)
        ).fetchone()
        (size,) = opened.execute("PRAGMA page_size").fetchone()
        query = f"SELECT {column} FROM {table} ORDER BY length({column}) DESC LIMIT 1"  # noqa: S608
        (content,) = opened.execute(query).fetchone()
    return (root - 1) * size, content


@pytest.mark.parametrize("table", ["run_units", "run_attempts", "run_calls", "run_requests"])
def test_flipped_bit_in_a_page_of_an_unsealed_shard_is_seen(folder: Path, table: str) -> None:
    ledger = folder / "parts/2/ledger.sqlite"
    page, _ = bytes_of(ledger, table, "unit")
    content = bytearray(ledger.read_bytes())
    # How many cells the page holds.
    content[page + 4] ^= 1
    ledger.write_bytes(content)
    done = evaluate(folder, "merge", *SHARDS, "--out", "new")
    assert (done.code, "parts/2: the ledger cannot be used" in done.err) == (2, True), done.err
    assert not (folder / "new/run.json").exists()


def test_flipped_bit_in_words_that_can_be_told_is_seen(folder: Path) -> None:
    """In the text of an interview, of which there is a digest, and where JSON no longer is any."""
    ledger = folder / "parts/2/ledger.sqlite"
    kept = ledger.read_bytes()
    for table, column in (
        ("run_units", "context"),
        ("run_attempts", "body"),
        ("run_calls", "body"),
    ):
        _, content = bytes_of(ledger, table, column)
        # What is longer than a page lies in several.
        at = kept.index(content[:64])
        ledger.write_bytes(kept[:at] + bytes([kept[at] ^ 1]) + kept[at + 1 :])
        done = evaluate(folder, "merge", *SHARDS, "--out", "new")
        assert (done.code, "error: parts/2: " in done.err) == (2, True), done.err
        assert "damaged" in done.err
        assert not (folder / "new/run.json").exists()


def test_ledgers_of_shards_are_open_one_after_the_other(folder: Path) -> None:
    """Four hundred shards are to be merged by a process that may have 1,024 files open."""
    seen: list[tuple[int, int, set[str]]] = []

    def on_progress(done: int, total: int) -> None:
        files = (file.readlink() for file in Path("/proc/self/fd").iterdir() if file.exists())
        opened = {file.parent.name for file in files if "ledger.sqlite" in file.name}
        seen.append((done, total, opened))

    merge_shards([folder / shard for shard in SHARDS], folder / "new", on_progress=on_progress)
    assert seen == [(step, 6, set() if step < 3 else {"new"}) for step in range(6)]


def test_merge_that_was_killed_is_begun_again(folder: Path) -> None:
    """What it leaves is a ledger without units, beside no record of a run."""
    shutil.copytree(folder / "merged", folder / "new")
    (folder / "new/run.json").unlink()
    done = evaluate(folder, "merge", *SHARDS, "--out", "new")
    assert done.code == 1, done.err
    assert files_of(folder / "new") == files_of(folder / "merged")
    (folder / "whole/run.json").unlink()
    refused = evaluate(folder, "merge", *SHARDS, "--out", "whole")
    assert (refused.code, "whole holds a ledger" in refused.err) == (2, True)


def test_what_is_no_shard_is_not_merged(folder: Path) -> None:
    for one in ("whole", "merged"):
        done = evaluate(folder, "merge", one, "--out", "new")
        assert (done.code, "is no shard" in done.err) == (2, True)
    used = evaluate(folder, "merge", *SHARDS, "--out", "whole")
    assert (used.code, "holds runs already" in used.err) == (2, True)


def test_shard_is_not_compared_with_the_whole(folder: Path) -> None:
    done = evaluate(folder, "compare", "whole", "parts/1")
    assert (done.code, "different parts of the dataset" in done.err) == (2, True)


def test_repeats_of_every_shard_become_repeats_of_the_whole(folder: Path) -> None:
    assess(folder, "all", "--repeats", "2")
    for number in (1, 2):
        assess(folder, f"halves/{number}", "--repeats", "2", "--shard", f"{number}/2")
    done = evaluate(folder, "merge", "halves/1", "halves/2", "--out", "new")
    assert "shipped-2:" in done.err
    assert files_of(folder / "new") == files_of(folder / "all")


def test_shards_of_other_installations_are_merged_and_gone_on_with(folder: Path) -> None:
    """Their digests are under other keys; texts that are the same are known as the same."""
    for number in (1, 2):
        key = {"STATE_DIR": os.fspath(folder / f"state{number}")}
        assess(folder, f"halves/{number}", "--shard", f"{number}/2", settings=key)
    merged = evaluate(folder, "merge", "halves/1", "halves/2", "--out", "new")
    assert merged.code == 1, merged.err
    resumed = assess(folder, "new", "--resume", "--retry-failed")
    assert "6 of 7 units complete" in resumed.err


def test_encrypted_shards_are_merged_with_their_key(folder: Path) -> None:
    (folder / "key").write_text("ab" * 32, encoding="ascii")
    (folder / "key").chmod(0o600)
    key = {"DATA_KEY_FILE": os.fspath(folder / "key")}
    for number in (1, 2):
        assess(folder, f"halves/{number}", "--shard", f"{number}/2", settings=key)
    refused = evaluate(folder, "merge", "halves/1", "halves/2", "--out", "new")
    assert (refused.code, "DATA_KEY_FILE" in refused.err) == (2, True)
    merged = evaluate(folder, "merge", "halves/1", "halves/2", "--out", "new", settings=key)
    assert merged.code == 1, merged.err
    assert b"I hardly sleep" not in words_in(folder / "new/ledger.sqlite")
    shown = ("unit", "new", "b", "--out", "unit.json")
    assert evaluate(folder, *shown, settings=key).code == 0
