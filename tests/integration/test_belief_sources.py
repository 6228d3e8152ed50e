"""Beliefs of models, over a fake server that tells probabilities of tokens and decides."""

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

import ai_psychiatrist as ap
from ai_psychiatrist.assessment.assessor import AssessmentOptions
from ai_psychiatrist.domain.assessment import Assessment, AssessmentMode
from ai_psychiatrist.domain.belief import BeliefSource
from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.domain.items import ItemAssessment, PHQ8Assessment
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.evaluation.scores.prediction_lines import read_predictions
from ai_psychiatrist.services.transcripts.plain_text import parse_transcript
from ai_psychiatrist.wiring import bootstrap
from tests.fakes.call_memory import CallMemory
from tests.fakes.decisions import LEVELS, TOLD
from tests.fakes.model_server import ModelServerThread, Reply, Request, good_replies
from tests.fakes.references import made_references, references_in, shown_by
from tests.integration.command_here import run_here as run_command

INTERVIEW = """\
Interviewer: How have you been sleeping?
Participant: I wake up at four nearly every night and cannot go back to sleep.
Interviewer: And your mood?
Participant: I have felt sad and hopeless on most days for a month.
"""
RULES, RESCORING = BeliefSource.RULES, BeliefSource.RESCORING
TOKENS, DECISION = BeliefSource.TOKENS, BeliefSource.DECISION


@pytest.fixture
def server() -> Iterator[ModelServerThread]:
    with ModelServerThread() as started:
        yield started


def settings_at(server: ModelServerThread, state: Path) -> dict[str, str]:
    return {
        "DATA_STATE_DIR": str(state),
        "MODEL_DEFAULT": "openai-chat:fake-model",
        "OPENAI_BASE_URL": f"{server.url}/v1",
        "DANGER_MODEL": "off",
        "FEEDBACK_ENABLED": "false",
    }


def assessed(
    server: ModelServerThread,
    state: Path,
    mode: str | None = None,
    *,
    text: str = INTERVIEW,
    **variables: str,
) -> Assessment:
    settings = ap.load_settings(settings_at(server, state) | variables, None)

    async def run() -> Assessment:
        async with ap.open(settings) as app:
            return await app.assess(text, mode=mode)

    return asyncio.run(run())


def items_of(result: Assessment) -> Mapping[Item, ItemAssessment]:
    assert result.quantitative is not None
    return result.quantitative.items


def tasks_of(server: ModelServerThread, name: str) -> list[Request]:
    return [request for request in server.requests if request.task == name]


def test_the_rules_alone_cost_no_call(server: ModelServerThread, tmp_path: Path) -> None:
    result = assessed(server, tmp_path)
    assert len(server.requests) == len(result.attempts) == 8
    assert items_of(result)[Item.SLEEP].belief is not None


def test_rescoring_votes_with_the_evidence_in_other_orders(
    server: ModelServerThread, tmp_path: Path
) -> None:
    result = assessed(server, tmp_path, BELIEF_SOURCES="rescoring", BELIEF_RESCORINGS="3")
    again = [request for request in tasks_of(server, "scoring") if request.body["temperature"]]
    assert len(again) == 3
    assert {request.body["temperature"] for request in again} == {0.7}
    assert len({request.messages[-1].content for request in again}) == 3
    assert [one.agent for one in result.attempts].count("rescoring") == 3
    belief = items_of(result)[Item.SLEEP].belief
    assert belief is not None
    assert belief.sources == (RULES, RESCORING)
    assert result.models["rescoring"].answered_by == ("openai-chat:fake-model",)


@pytest.mark.parametrize("mode", list(AssessmentMode))
def test_rescoring_is_asked_in_the_words_of_the_mode(
    server: ModelServerThread, tmp_path: Path, mode: AssessmentMode
) -> None:
    """All but the evidence, which stands in another order, and beside the same references."""
    made_references(tmp_path / "refs")
    shown = shown_by(tmp_path / "refs")
    result = assessed(server, tmp_path, mode, BELIEF_SOURCES="rescoring", **shown)
    asked = tasks_of(server, "scoring")
    first, *again = [request.messages[-1].content for request in asked]
    assert len(again) == 5
    assert {without_evidence(content) for content in again} == {without_evidence(first)}
    assert len(set(again)) > 1
    assert ("<references-" in first) == mode.shows_references
    if mode.shows_references:
        assert references_in(again[0])["PHQ8_Sleep"] == references_in(first)["PHQ8_Sleep"] != []
    assert result.mode == mode


def without_evidence(content: str) -> str:
    """Return a prompt without its last block of evidence."""
    before, _, rest = content.rpartition("<evidence-")
    return before + rest.partition("</evidence-")[2]


def test_rescoring_in_each_mode_is_told_what_the_mode_is_about(
    server: ModelServerThread, tmp_path: Path
) -> None:
    made_references(tmp_path / "refs")
    shown = shown_by(tmp_path / "refs")
    asked = {}
    for mode in (AssessmentMode.ZERO_SHOT, AssessmentMode.DESCRIPTIONS_ONLY):
        server.server.reset()
        assessed(server, tmp_path, mode, BELIEF_SOURCES="rescoring", **shown)
        again = [one for one in tasks_of(server, "scoring") if one.body["temperature"]]
        asked[mode] = {without_evidence(one.messages[-1].content) for one in again}
    plain, described = ("".join(words) for words in asked.values())
    assert len(described) > len(plain) + 200


def test_a_seed_gives_the_same_orders_again(server: ModelServerThread, tmp_path: Path) -> None:
    def sent(seed: str) -> list[str]:
        server.server.reset()
        assessed(server, tmp_path, BELIEF_SOURCES="rescoring", BELIEF_SEED=seed)
        again = (request for request in tasks_of(server, "scoring") if request.body["temperature"])
        return sorted(request.messages[-1].content for request in again)

    assert sent("1") == sent("1")
    assert sent("1") != sent("2")


def test_tokens_are_read_as_probabilities(server: ModelServerThread, tmp_path: Path) -> None:
    result = assessed(server, tmp_path, BELIEF_SOURCES="tokens")
    asked = tasks_of(server, "belief_tokens")
    with_evidence = [item for item in items_of(result).values() if item.evidence]
    assert len(asked) == len(with_evidence) == 2
    assert {request.body["max_tokens"] for request in asked} == {1}
    assert all(request.body["logprobs"] for request in asked)
    belief = items_of(result)[Item.SLEEP].belief
    assert belief is not None
    assert belief.sources == (RULES, TOKENS)
    # 1 was given .6 and 2 in both its spellings .25, of .95 on all answers.
    assert belief.scores[1] > belief.scores[2] > belief.scores[0]
    unasked = items_of(result)[Item.APPETITE].belief
    assert unasked is not None
    assert unasked.sources == (RULES,)


def test_all_calls_begin_with_the_same_bytes(server: ModelServerThread, tmp_path: Path) -> None:
    assessed(server, tmp_path, BELIEF_SOURCES="tokens")
    contents = [request.messages[-1].content for request in server.requests]
    block = contents[0].split("Task:")[0]
    assert len(block) > len(INTERVIEW)
    assert all(content.startswith(block) for content in contents)


def test_a_server_without_probabilities_is_asked_once_and_recorded(tmp_path: Path) -> None:
    def mute(request: Request) -> Reply:
        reply = good_replies()(request)
        return Reply(text=reply.text)

    with ModelServerThread(mute) as server:
        result = assessed(server, tmp_path, BELIEF_SOURCES="tokens")
        assert len(tasks_of(server, "belief_tokens")) == 1
    assert result.status == "complete"
    (failure,) = result.failures
    assert failure.stage == "belief_tokens"
    assert failure.severity == "warning"
    assert failure.context == {"items": 2}
    (attempt,) = [one for one in result.attempts if one.agent == "belief_tokens"]
    assert attempt.code == "no_probabilities"
    belief = items_of(result)[Item.SLEEP].belief
    assert belief is not None
    assert belief.sources == (RULES,)


def test_a_model_that_would_say_something_else_is_not_believed(tmp_path: Path) -> None:
    def talking(request: Request) -> Reply:
        reply = good_replies()(request)
        is_asked = request.task == "belief_tokens"
        return Reply(text=reply.text, tokens={"The": 0.9, "1": 0.1} if is_asked else None)

    with ModelServerThread(talking) as server:
        result = assessed(server, tmp_path, BELIEF_SOURCES="tokens")
    assert [failure.code for failure in result.failures] == ["output_rejected"]


def decision(server: ModelServerThread) -> dict[str, str]:
    return {
        "BELIEF_SOURCES": "decision",
        "BELIEF_DECISION_MODEL": "rater",
        "BELIEF_DECISION_URL": server.url,
    }


def test_a_decision_model_sees_the_evidence_with_its_questions_alone(
    server: ModelServerThread, tmp_path: Path
) -> None:
    result = assessed(server, tmp_path, **decision(server))
    (sent,) = server.server.decisions
    assert sent["state"] == {
        "PHQ8_Sleep": [
            {
                "question": "How have you been sleeping?",
                "words": "I wake up at four nearly every night and cannot go back to sleep.",
            }
        ],
        "PHQ8_Depressed": [
            {
                "question": "And your mood?",
                "words": "I have felt sad and hopeless on most days for a month.",
            }
        ],
    }
    belief = items_of(result)[Item.SLEEP].belief
    assert belief is not None
    assert belief.sources == (RULES, DECISION)
    (attempt,) = [one for one in result.attempts if one.agent == "belief_decision"]
    assert (attempt.model, attempt.input_tokens) == ("system-one:rater", 100)


def test_a_decision_is_pooled_with_the_rules(server: ModelServerThread, tmp_path: Path) -> None:
    belief = items_of(assessed(server, tmp_path, **decision(server)))[Item.DEPRESSED].belief
    assert belief is not None
    rules = (1 / 9, 1 / 9, 5 / 9, 1 / 9, 1 / 9)
    said = [*(TOLD * share for share in LEVELS), 1 - TOLD]
    means = [(one * other) ** 0.5 for one, other in zip(rules, said, strict=True)]
    wanted = [mean / sum(means) for mean in means]
    assert [*belief.scores, belief.not_determinable] == pytest.approx(wanted)


def test_a_decision_model_that_fails_is_recorded(server: ModelServerThread, tmp_path: Path) -> None:
    server.server.decision_status = 500
    result = assessed(server, tmp_path, **decision(server))
    assert result.status == "complete"
    assert {failure.stage for failure in result.failures} == {"belief_decision"}


def test_all_sources_work_together(server: ModelServerThread, tmp_path: Path) -> None:
    variables = decision(server) | {"BELIEF_SOURCES": "rescoring,tokens,decision"}
    belief = items_of(assessed(server, tmp_path, **variables))[Item.SLEEP].belief
    assert belief is not None
    assert belief.sources == (RULES, RESCORING, TOKENS, DECISION)


def test_attempts_about_tokens_stand_in_one_order(tmp_path: Path) -> None:
    longer = f"{INTERVIEW}Participant: I am tired every day.\nParticipant: I eat well these days.\n"

    def told(*delays: float) -> list[str]:
        answer, left = good_replies(), iter((0.0, *delays))

        def script(request: Request) -> Reply:
            waits = request.task == "belief_tokens"
            return replace(answer(request), delay_seconds=next(left, 0.0) if waits else 0.0)

        with ModelServerThread(script) as server:
            result = assessed(server, tmp_path, text=longer, BELIEF_SOURCES="tokens")
        return [one.prompt_digest for one in result.attempts if one.agent == "belief_tokens"]

    assert len(set(told(0.0, 0.2, 0.1))) > 2
    assert len(set(told())) == 4
    assert told(0.0, 0.1, 0.2) == told(0.2, 0.1, 0.0)


def test_what_belief_costs_is_bounded(server: ModelServerThread, tmp_path: Path) -> None:
    result = assessed(
        server, tmp_path, BELIEF_SOURCES="rescoring", BELIEF_RESCORINGS="20", MODEL_MAX_CALLS="24"
    )
    assert len(result.attempts) <= 24
    assert result.quantitative is not None
    assert "call_budget_spent" in {failure.code for failure in result.failures}


@pytest.mark.parametrize(
    ("variables", "named"),
    [
        pytest.param({"BELIEF_SOURCES": "rescoring"}, "rule baseline", id="baseline_rescoring"),
        pytest.param({"BELIEF_SOURCES": "tokens"}, "rule baseline", id="baseline_tokens"),
        pytest.param({"BELIEF_SOURCES": "decision"}, "BELIEF_DECISION_MODEL", id="no_decider"),
    ],
)
def test_a_source_that_nothing_can_serve_is_refused_at_start(
    variables: dict[str, str], named: str, tmp_path: Path
) -> None:
    settings = ap.load_settings({"DATA_STATE_DIR": str(tmp_path), **variables}, None)

    async def opened() -> None:
        async with ap.open(settings):
            pass

    with pytest.raises(ConfigurationError, match=named):
        asyncio.run(opened())


def test_what_was_asked_before_is_found_again_and_believed_alike(
    server: ModelServerThread, tmp_path: Path
) -> None:
    """Probabilities outlive the call, as replies do."""
    variables = settings_at(server, tmp_path) | decision(server)
    variables |= {"BELIEF_SOURCES": "rescoring,tokens,decision"}
    memory, transcript = CallMemory(), parse_transcript(INTERVIEW)

    async def twice() -> list[PHQ8Assessment | None]:
        options = AssessmentOptions(store=memory)
        async with bootstrap(ap.load_settings(variables, None)) as services:
            first = await services.assessor.assess(transcript, options)
            made = len(server.requests) + len(server.server.decisions)
            again = await services.assessor.assess(transcript, options)
            assert len(server.requests) + len(server.server.decisions) == made
            return [first.quantitative, again.quantitative]

    first, again = asyncio.run(twice())
    assert first is not None
    assert first == again
    belief = first.items[Item.SLEEP].belief
    assert belief is not None
    assert belief.sources == (RULES, RESCORING, TOKENS, DECISION)


def test_a_run_with_all_sources_can_be_judged_again(
    server: ModelServerThread, tmp_path: Path
) -> None:
    (tmp_path / "talks").mkdir()
    (tmp_path / "talks" / "a.txt").write_text(INTERVIEW, "utf-8")
    variables = settings_at(server, tmp_path) | decision(server)
    variables |= {"BELIEF_SOURCES": "rescoring,tokens,decision"}
    done = run_command(["evaluate", "run", "talks", "--out", "run"], tmp_path, variables)
    assert done.code == 0, done.err
    again = run_command(["revalidate", "run", "--json"], tmp_path)
    assert again.code == 0, again.err
    (unit,) = read_predictions(tmp_path / "run" / "predictions.jsonl")
    belief = unit.items[Item.SLEEP].belief
    assert belief is not None
    assert belief.sources == (RULES, RESCORING, TOKENS, DECISION)


@pytest.mark.parametrize("status", [200, 400, 500])
def test_no_word_of_the_interview_is_logged(
    server: ModelServerThread, tmp_path: Path, status: int
) -> None:
    """Whatever a decision model gives back, and whatever becomes of it."""
    server.server.decision_status = status
    (tmp_path / "talk.txt").write_text(INTERVIEW, "utf-8")
    variables = settings_at(server, tmp_path) | decision(server)
    variables |= {"BELIEF_SOURCES": "rescoring,tokens,decision", "LOG_LEVEL": "DEBUG"}
    done = run_command(["assess", "talk.txt", "--json"], tmp_path, variables)
    assert done.code == 0, done.err
    assert "attempt_finished" in done.err
    assert "nearly every night" not in done.err
    assert "How have you been sleeping" not in done.err
