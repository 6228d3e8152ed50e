"""References in the prompt of the scores: whose they are, what tells of them, what they cost."""

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

import ai_psychiatrist as ap
from ai_psychiatrist.domain.items import ItemAssessment, PHQ8Assessment
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.services.retrieval.build import Session
from ai_psychiatrist.services.retrieval.chunks import chunks_of
from ai_psychiatrist.services.retrieval.identity import identity_of
from ai_psychiatrist.services.transcripts.plain_text import parse_transcript
from tests.fakes.embedding_server import Script as EmbeddingScript
from tests.fakes.embedding_server import answer, by_letters, embedding_server
from tests.fakes.model_server import ModelServerThread, Reply, Request, Script, good_replies
from tests.fakes.references import TALKS, made_references, references_in, shown_by
from tests.fakes.references import session as session_of
from tests.fakes.replies import ITEMS, evidence_text, scoring_answer, scoring_text
from tests.integration.command import Finished, run
from tests.integration.command_here import run_here
from tests.integration.running_app import client_of, model_at, settings_with
from tests.unit.evaluation.datasets.corpora import AVEC_2017, daic, session, write

SLEEP = Item.SLEEP
ASKER = (
    "Interviewer: How do you sleep?\n"
    "Participant: I lie awake until five, I cannot sleep at night.\n"
    "Interviewer: And your work?\n"
    "Participant: I work in a garden.\n"
)
QUOTE = "I lie awake until five, I cannot sleep at night."
INVENTED = "I lie awake until four nearly every night."
SHOWN = ["few_shot", "random_references"]


def says(*quotes: str) -> Script:
    """Give these quotes for sleep, and score it 2."""
    good = good_replies()

    def reply(request: Request) -> Reply:
        if request.task == "evidence":
            return Reply(
                text=evidence_text({item: list(quotes) if item == SLEEP else [] for item in ITEMS})
            )
        if request.task == "scoring":
            answer = scoring_answer([])
            answer[SLEEP] |= {"score": 2, "evidence": list(quotes)}
            return Reply(text=scoring_text(answer))
        return good(request)

    return reply


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """References of the participants 301, 302 and 303."""
    folder = tmp_path_factory.mktemp("references") / "made"
    made_references(folder)
    return folder


@pytest.fixture
def server() -> Iterator[ModelServerThread]:
    with ModelServerThread(says(QUOTE)) as server:
        yield server


def prompts(server: ModelServerThread) -> list[str]:
    """Return what scoring was asked with; where it was asked again, the first time."""
    return [
        one.messages[-1].content
        for one in server.requests
        if one.task == "scoring" and len(one.messages) == 2
    ]


def sleep_of(result: ap.Assessment) -> ItemAssessment:
    assert result.quantitative is not None
    return result.quantitative.items[SLEEP]


def without_account(scores: PHQ8Assessment) -> PHQ8Assessment:
    """Return the scores without what each item was shown."""
    items = {
        key: replace(one, references=(), no_references=None) for key, one in scores.items.items()
    }
    return replace(scores, items=items)


def people_in(prompt: str) -> set[str]:
    """Return the participants whose words are among the references."""
    words = json.dumps(references_in(prompt))
    return {name for name, talk in TALKS.items() if any(said in words for _, said in talk)}


def assess(client: httpx.Client, mode: str, **body: object) -> dict[str, Any]:
    answer = client.post("/full_pipeline", json={"mode": mode} | body)
    assert answer.status_code == 200, answer.text
    result: dict[str, Any] = answer.json()
    return result


@pytest.mark.parametrize("mode", SHOWN)
def test_scoring_is_shown_references_and_the_result_tells_which(
    tmp_path: Path, folder: Path, server: ModelServerThread, mode: str
) -> None:
    settings = settings_with(tmp_path, **model_at(server.url), **shown_by(folder))
    with client_of(settings) as client:
        result = assess(client, mode, transcript_text=ASKER)
    (prompt,) = prompts(server)
    shown = references_in(prompt)
    assert set(shown) == {SLEEP}
    told = result["quantitative"]["items"][SLEEP]["references"]
    assert [one["score"] for one in told] == [one["score"] for one in shown[SLEEP]]
    assert len({one["digest"] for one in told}) == len(told) == 2
    is_drawn = mode == "random_references"
    assert [one["similarity"] is None for one in told] == [is_drawn] * 2
    assert result["mode"] == mode
    assert len(result["references"]) == 64
    others = [item for name, item in result["quantitative"]["items"].items() if name != SLEEP]
    assert {one["no_references"] for one in others} == {"no_evidence"}
    written = json.dumps(result)
    assert not any(said in written for talk in TALKS.values() for _, said in talk)


def test_the_most_alike_are_shown_and_the_seed_draws_others(
    tmp_path: Path, folder: Path, server: ModelServerThread
) -> None:
    def scores(mode: str, seed: int) -> list[int]:
        more = shown_by(folder, REFERENCES_TOP_K="1", REFERENCES_SEED=str(seed))
        settings = settings_with(tmp_path, **model_at(server.url), **more)
        result = ap.assess_sync(ASKER, settings=settings, mode=mode)
        return [one.score for one in sleep_of(result).references]

    assert [scores("few_shot", seed) for seed in range(2)] == [[3], [3]]
    drawn = [scores("random_references", seed) for seed in range(8)]
    assert drawn == [scores("random_references", seed) for seed in range(8)]
    assert len(set(map(tuple, drawn))) > 1


@pytest.mark.parametrize("mode", SHOWN)
def test_nobody_is_shown_their_own_words(
    tmp_path: Path, folder: Path, server: ModelServerThread, mode: str
) -> None:
    """By the id of a stored transcript whatever it says, and by the words whoever sends them."""
    said = [("Ellie", "how do you sleep"), ("Participant", QUOTE)]
    stored = write(tmp_path / "stored", session(301, daic(*said)) | session(399, daic(*said)))
    more = {"DATA_TRANSCRIPTS_DIR": str(stored)} | shown_by(folder, REFERENCES_TOP_K="9")
    settings = settings_with(tmp_path, **model_at(server.url), **more)
    own = "".join(f"T: {asked}\nP: {said.upper()}\n\n" for asked, said in TALKS["303"])
    quotes = says("I WAKE UP AT THREE AND LIE AWAKE MOST NIGHTS.")
    with client_of(settings) as client:
        assess(client, mode, participant_id=399)
        assess(client, mode, participant_id=301)
        server.server.script = quotes
        assess(client, mode, transcript_text=own)
    assert [people_in(prompt) for prompt in prompts(server)] == [
        {"301", "302", "303"},
        {"302", "303"},
        {"301", "302"},
    ]


def test_quotes_that_nobody_said_search_for_nothing(
    tmp_path: Path, folder: Path, server: ModelServerThread
) -> None:
    """Although they are a reference's own words."""
    settings = settings_with(tmp_path, **model_at(server.url), **shown_by(folder))
    server.server.script = says(INVENTED)
    item = sleep_of(ap.assess_sync(ASKER, settings=settings, mode="few_shot"))
    assert references_in(prompts(server)[0]) == {}
    assert (item.no_references, item.references, item.score) == ("no_evidence", (), None)


def test_words_of_references_are_no_evidence(
    tmp_path: Path, folder: Path, server: ModelServerThread
) -> None:
    settings = settings_with(tmp_path, **model_at(server.url), **shown_by(folder))
    server.server.script = says(QUOTE, INVENTED)
    item = sleep_of(ap.assess_sync(ASKER, settings=settings, mode="few_shot"))
    assert INVENTED in json.dumps(references_in(prompts(server)[0]))
    assert [one.text for one in item.evidence] == [QUOTE]
    assert [one.text for one in item.unverified_quotes] == [INVENTED]


def test_command_python_and_http_show_the_same(
    tmp_path: Path, folder: Path, server: ModelServerThread
) -> None:
    (tmp_path / "talk.txt").write_text(ASKER, "utf-8")
    served = {**model_at(server.url), **shown_by(folder)}
    done = run_here(["assess", "talk.txt", "--mode", "few_shot", "--json"], tmp_path, served)
    assert done.code == 0, done.err
    settings = settings_with(tmp_path / "state", **served)
    with client_of(settings) as client:
        assess(client, "few_shot", transcript_text=ASKER)
    by_default = settings_with(tmp_path / "state", **served, ENABLE_FEW_SHOT="true")
    in_python = [
        ap.assess_sync(ASKER, settings=settings, mode="few_shot"),
        ap.assess_sync(ASKER, settings=by_default),
    ]
    by_command = ap.Assessment.model_validate_json(done.out)
    shown = [references_in(prompt) for prompt in prompts(server)]
    assert len(shown) == 4
    assert all(one == shown[0] for one in shown)
    assert {one.mode for one in (by_command, *in_python)} == {"few_shot"}
    assert {one.references for one in (by_command, *in_python)} == {by_command.references}


def test_references_cost_no_call_and_leave_the_cached_prefix_as_it_is(
    tmp_path: Path, folder: Path, server: ModelServerThread
) -> None:
    settings = settings_with(tmp_path, **model_at(server.url), **shown_by(folder))
    results = [ap.assess_sync(ASKER, settings=settings, mode=mode) for mode in (None, *SHOWN)]
    assert len({len(one.attempts) for one in results}) == 1
    starts = {one.messages[-1].content.partition("\n\nTask: ")[0] for one in server.requests}
    assert len(starts) == 1
    plain, shown, _ = (one.prompts for one in results)
    assert {name for name in plain if plain[name] != shown[name]} == {"quantitative"}


def test_references_that_do_not_fit_the_window_are_told_of(
    tmp_path: Path, folder: Path, server: ModelServerThread
) -> None:
    """The server counts no more tokens than its window has, as those do that cut a prompt."""

    def cut(request: Request) -> Reply:
        reply = says(QUOTE)(request)
        if request.task != "scoring":
            return reply
        return Reply(text=reply.text, prompt_tokens=4096)

    server.server.script = cut
    more = shown_by(folder) | {"OLLAMA_NUM_CTX": "4096", "FEEDBACK_ENABLED": "false"}
    settings = settings_with(tmp_path, **model_at(server.url, "ollama"), **more)
    result = ap.assess_sync(ASKER, settings=settings, mode="few_shot")
    assert result.status.value == "partial"
    codes = {one.code for one in result.attempts if one.agent == "quantitative"}
    assert codes == {"context_truncated"}


def test_the_baseline_scores_alike_whatever_is_shown(tmp_path: Path, folder: Path) -> None:
    """Its rules read the evidence and nothing else of the prompt; the account is the same."""
    settings = settings_with(tmp_path, **shown_by(folder))
    results = [ap.assess_sync(ASKER, settings=settings, mode=mode) for mode in (None, *SHOWN)]
    plain = results[0].quantitative
    assert plain is not None
    assert sleep_of(results[0]).score is not None
    for shown in results[1:]:
        assert len(sleep_of(shown).references) == 2
        assert shown.quantitative is not None
        assert without_account(shown.quantitative) == without_account(plain)


def test_a_server_whose_references_do_not_fit_its_settings_does_not_start(
    tmp_path: Path, folder: Path
) -> None:
    more = {"API_PORT": "0", "REFERENCES_DIR": str(folder), "REFERENCES_CHUNK_LINES": "4"}
    done = run(["serve"], tmp_path, more)
    assert done.code == 2
    assert "cut into 2 lines" in done.err
    assert "Traceback" not in done.err
    (tmp_path / "talk.txt").write_text(ASKER, "utf-8")
    few = run_here(["assess", "talk.txt", "--mode", "few_shot"], tmp_path, more)
    assert (few.code, "cut into 2 lines" in few.err) == (2, True)
    assert run_here(["assess", "talk.txt"], tmp_path, more).code in {0, 1}


def test_settings_that_ask_for_few_shot_need_references(tmp_path: Path) -> None:
    done = run_here(["assess", "-"], tmp_path, {"ENABLE_FEW_SHOT": "true"}, stdin=ASKER.encode())
    assert (done.code, "REFERENCES_DIR" in done.err) == (2, True)


def corpus(folder: Path, numbers: Sequence[int]) -> Path:
    """Write made-up sessions with labels in the form of DAIC-WOZ."""
    files: dict[str, str | bytes] = {}
    for number in numbers:
        talk = TALKS.get(str(number), [("how do you sleep", f"{QUOTE} i am {number}")])
        rows = [pair for asked, said in talk for pair in (("Ellie", asked), ("Participant", said))]
        files |= session(number, daic(*rows))
    labels = "".join(f"{number},0,3,0,0,0,3,0,0,0,0,0\n" for number in numbers)
    return write(folder, files | {"train_split_Depression_AVEC2017.csv": f"{AVEC_2017}\n{labels}"})


def evaluate(folder: Path, settings: Mapping[str, str], *arguments: str) -> Finished:
    return run_here(["evaluate", *arguments], folder, settings)


def test_modes_of_runs_over_a_corpus_are_compared_in_pairs(
    tmp_path: Path, folder: Path, server: ModelServerThread
) -> None:
    corpus(tmp_path / "corpus", [400, 401, 402])
    served = {**model_at(server.url), **shown_by(folder)}
    modes = ("zero_shot", *SHOWN)
    for mode in modes:
        done = evaluate(tmp_path, served, "run", "corpus", "--out", mode, "--mode", mode)
        assert done.code == 0, done.err
    asked = prompts(server)
    assert len(asked) == 9
    assert [("<references-" in prompt) for prompt in asked] == [False] * 3 + [True] * 6
    for mode in modes:
        record = json.loads((tmp_path / mode / "run.json").read_text())
        assert (record["mode"], "references" in record) == (mode, mode != "zero_shot")
        lines = (tmp_path / mode / "predictions.jsonl").read_text("utf-8").splitlines()
        rows = [json.loads(line) for line in lines]
        assert {one["mode"] for one in rows} == {mode}
        counts = [len(one["items"][SLEEP]["references"]) for one in rows]
        assert counts == [0 if mode == "zero_shot" else 2] * 3
    for other in SHOWN:
        compared = evaluate(tmp_path, {}, "compare", "zero_shot", other)
        text = " ".join(compared.out.split())
        assert compared.code == 0, compared.err
        assert "First: zero_shot (openai-chat:fake-model, zero_shot, prompts" in text
        assert f"Second: {other} (openai-chat:fake-model, {other}, prompts" in text
    resumed = ("run", "corpus", "--out", "few_shot", "--resume", "--mode", "few_shot")
    changed = served | {"REFERENCES_TOP_K": "1"}
    assert evaluate(tmp_path, served, *resumed).code == 0
    refused = evaluate(tmp_path, changed, *resumed)
    assert (refused.code, "begun with other references" in refused.err) == (2, True)


@pytest.mark.parametrize("mode", SHOWN)
def test_a_split_that_shares_people_with_the_references_is_not_measured(
    tmp_path: Path, folder: Path, server: ModelServerThread, mode: str
) -> None:
    corpus(tmp_path / "corpus", [301, 400])
    served = {**model_at(server.url), **shown_by(folder)}
    words = "".join(f"Patient: {said}\n" for _, said in TALKS["302"])
    row = {"id": "nobody", "text": words, "items": [0] * 8}
    (tmp_path / "renamed.jsonl").write_text(json.dumps(row), "utf-8")
    for dataset in ("corpus", "renamed.jsonl"):
        done = evaluate(tmp_path, served, "run", dataset, "--out", "out", "--mode", mode)
        assert done.code == 2
        assert "assess another split" in done.err
    with pytest.raises(ap.ArtifactMismatch, match="another split"):
        asyncio.run(in_python(settings_with(tmp_path / "state", **served), tmp_path, mode))
    assert server.requests == []
    assert not (tmp_path / "out").exists()


async def in_python(settings: ap.Settings, folder: Path, mode: str) -> None:
    async with ap.open(settings) as app:
        await app.evaluate(folder / "corpus", folder / "out", mode=mode)


def test_long_interviews_are_kept_from_themselves_too(
    tmp_path: Path, server: ModelServerThread
) -> None:
    """Whose words they are is then told in a process of its own."""
    long = parse_transcript("Participant: I lie awake, every night.\n" * 200)
    its_own = Session(
        identity=identity_of(long, participant_id="900", session_id="900"),
        chunks=tuple(chunks_of(long, lines=2, step=2))[:3],
        labels={Item.SLEEP: 3},
    )
    both = tmp_path / "both"
    made_references(both, [its_own, session_of("301")])
    settings = settings_with(tmp_path / "state", **model_at(server.url), **shown_by(both))
    server.server.script = says("I lie awake, every night.")
    with client_of(settings) as client:
        item = assess(client, "few_shot", transcript_text=long.text)["quantitative"]["items"][SLEEP]
        other = assess(
            client, "few_shot", transcript_text=ASKER.replace(QUOTE, "I lie awake, every night.")
        )
    assert [one["score"] for one in item["references"]] == [3]
    assert len(other["quantitative"]["items"][SLEEP]["references"]) == 2
    assert people_in(prompts(server)[0]) == {"301"}


@pytest.mark.parametrize(
    ("fails", "code"),
    [
        (lambda _: (500, {}), "backend_error"),
        (lambda body: (200, answer([[1.0, 2.0]] * len(body["input"]))), "malformed_response"),
    ],
    ids=["down", "another model under its name"],
)
def test_a_search_that_fails_is_a_failure_of_its_own_and_can_be_gone_on_with(
    tmp_path: Path, server: ModelServerThread, fails: EmbeddingScript, code: str
) -> None:
    """No item is scored then: without its references the mode would be another one."""
    corpus(tmp_path / "others", [301, 302, 303])
    corpus(tmp_path / "corpus", [400])
    is_down = [False]

    def vectors(body: dict[str, Any]) -> tuple[int, object]:
        return fails(body) if is_down[0] else by_letters(body)

    with embedding_server(vectors) as (url, _):
        by_server = {"REFERENCES_EMBEDDER": "openai:any", "OPENAI_BASE_URL": f"{url}/v1"}
        served = {
            **model_at(server.url, "ollama"),
            **shown_by(tmp_path / "refs", **by_server),
            "MODEL_BUSY_WAITS_SECONDS": "0",
        }
        for words in (["build", "others", "--out", "refs"], ["score", "refs", "--by", "labels"]):
            made = run_here(["references", *words], tmp_path, served)
            assert made.code == 0, made.err
        is_down[0] = True
        few_shot = ("run", "corpus", "--out", "out", "--mode", "few_shot")
        failed = evaluate(tmp_path, served, *few_shot)
        lines = (tmp_path / "out/failures.jsonl").read_text("utf-8").splitlines()
        asked = prompts(server)
        is_down[0] = False
        done = evaluate(tmp_path, served, *few_shot, "--resume", "--retry-failed")
    assert (failed.code, asked) == (3, [])
    units = [json.loads(line) for line in lines if json.loads(line)["step"] == "assessment"]
    assert [(one["failure_stage"], one["is_retryable"]) for one in units] == [("provider", True)]
    assert code in units[0]["codes"]
    assert done.code == 0, done.err
    assert len(references_in(prompts(server)[0])[SLEEP]) == 2


def test_references_are_scored_without_references(tmp_path: Path) -> None:
    """Whatever is set for assessments: there are none to show before they are scored."""
    made_references(tmp_path / "refs", is_scored=False)
    settings = shown_by(tmp_path / "refs", ENABLE_FEW_SHOT="true")
    refused = run_here(["assess", "-"], tmp_path, settings, stdin=ASKER.encode())
    assert (refused.code, "references score" in refused.err) == (2, True)
    scored = run_here(["references", "score", "refs", "--by", "model"], tmp_path, settings)
    assert scored.code == 0, scored.err
    assessed = run_here(["assess", "-", "--json"], tmp_path, settings, stdin=ASKER.encode())
    assert json.loads(assessed.out)["mode"] == "few_shot"
