"""The service: who may answer what and when, and what is left after a stop in the middle."""

import asyncio
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from tests.attack.counted_work import calls_of
from tests.fakes.captured_events import captured_events
from tests.fakes.refusals import refused
from tests.unit.interview.built import INCIDENT_INPUTS, PROTOCOLS, Desk, assessed, desk
from tests.unit.interview.scripted_agents import ScriptedAgents

from ai_psychiatrist.domain.errors import InputError, RequestConflict, StoreUnusable
from ai_psychiatrist.domain.failures import FailureCode
from ai_psychiatrist.domain.interview import InterviewState, QuestionPurpose
from ai_psychiatrist.domain.interview_items import AssessedItem, AssessmentInput
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.infrastructure.digests import keyed_digest
from ai_psychiatrist.infrastructure.logging import ALLOWED_KEYS
from ai_psychiatrist.infrastructure.off_loop import WorkerThreads
from ai_psychiatrist.interview.ids import make_id
from ai_psychiatrist.interview.interview_store import InterviewStore
from ai_psychiatrist.interview.service import InterviewLimits
from ai_psychiatrist.interview.snapshot import InterviewSnapshot

SECRET = "SECRET words of a person"
JOIN_SECONDS = 3600.0


@pytest.mark.parametrize("protocol", ["phq8", "incident"])
def test_the_same_key_is_one_turn_and_gives_the_same_snapshot(
    protocol: str, tmp_path: Path
) -> None:
    async def work(at: Desk) -> None:
        await at.begin(protocol)
        sent = at.submission(option_id="a1")
        first = await at.service.answer(at.snapshot.id, sent)
        at.snapshot = first
        await at.send(option_id="a2")
        assert await at.service.answer(at.snapshot.id, sent) == first
        assert (await at.read()).turn == 2

    with desk(tmp_path, ScriptedAgents()) as at:
        asyncio.run(work(at))


def test_what_an_answer_takes_to_read_is_not_done_by_the_event_loop(tmp_path: Path) -> None:
    with desk(tmp_path, ScriptedAgents()) as at, asyncio.Runner() as loop:
        calls = []
        for text in ("no", "no", "no " * 600):
            loop.run(at.begin("phq8"))
            sending = at.send(text=text)
            calls.append(calls_of(lambda sending=sending: loop.run(sending)))  # type: ignore[misc]
    _, short, long = calls
    assert long < 1.5 * short, calls


def test_the_same_key_at_the_same_time_is_one_turn(tmp_path: Path) -> None:
    agents = ScriptedAgents()

    async def work(at: Desk) -> None:
        await at.begin("incident")
        sent = at.submission(text="It was Sam.")
        first, second = await asyncio.gather(
            at.service.answer(at.snapshot.id, sent), at.service.answer(at.snapshot.id, sent)
        )
        assert first == second
        assert first.turn == 1

    with desk(tmp_path, agents) as at:
        asyncio.run(work(at))
    assert agents.count("extract_facts") == 1


def test_a_key_cannot_be_used_for_another_answer(tmp_path: Path) -> None:
    async def work(at: Desk) -> None:
        await at.begin()
        sent = at.submission(option_id="a1")
        await at.service.answer(at.snapshot.id, sent)
        with refused("key_reused"):
            await at.service.answer(at.snapshot.id, replace(sent, option_id="a2"))

    with desk(tmp_path) as at:
        asyncio.run(work(at))


@pytest.mark.parametrize("protocol", ["phq8", "incident"])
def test_of_two_answers_at_the_same_time_one_is_taken(protocol: str, tmp_path: Path) -> None:
    async def work(at: Desk) -> InterviewSnapshot:
        await at.begin(protocol)
        results = await asyncio.gather(
            *(
                at.service.answer(at.snapshot.id, at.submission(option_id=option))
                for option in ("a1", "a2")
            ),
            return_exceptions=True,
        )
        assert sorted(type(result).__name__ for result in results) == [
            "InterviewSnapshot",
            "RequestConflict",
        ]
        return await at.read()

    with desk(tmp_path, ScriptedAgents()) as at:
        assert asyncio.run(work(at)).turn == 1


def test_of_two_answers_at_two_programs_one_is_taken(tmp_path: Path) -> None:
    async def work(one: Desk, other: Desk) -> None:
        await one.begin("incident")
        other.snapshot = one.snapshot
        results = await asyncio.gather(
            one.service.answer(one.snapshot.id, one.submission(option_id="a1")),
            other.service.answer(one.snapshot.id, other.submission(option_id="a2")),
            return_exceptions=True,
        )
        assert sum(isinstance(result, RequestConflict) for result in results) == 1
        assert (await one.read()).turn == 1

    with (
        desk(tmp_path, ScriptedAgents()) as one,
        desk(tmp_path, ScriptedAgents()) as other,
    ):
        asyncio.run(work(one, other))


def hours_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the loop's clock jump: however slow the machine is, nothing was late before."""
    loop = asyncio.get_running_loop()
    clock = loop.time
    monkeypatch.setattr(loop, "time", lambda: clock() + 2 * JOIN_SECONDS)


def test_what_is_sent_in_pieces_is_one_answer_and_each_gets_the_same_response(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def work(at: Desk) -> None:
        await at.begin()
        texts = ("well", "it was", "three days")
        pieces = [at.submission(text=text, is_appended=True) for text in texts]
        sent = []
        for piece in (*pieces, pieces[0]):
            sent.append(asyncio.create_task(at.service.answer(at.snapshot.id, piece)))
            await asyncio.sleep(0.05)
        hours_pass(monkeypatch)
        first, *others = await asyncio.gather(*sent)
        assert all(one == first for one in others)
        assert (first.turn, first.messages[-2].text) == (1, "\n".join(texts))
        assert first.question is not None
        assert first.question.purpose is QuestionPurpose.READ_BACK
        late = replace(pieces[1], idempotency_key="late", is_appended=False)
        with refused("version_conflict"):
            await at.service.answer(at.snapshot.id, late)
        assert await at.service.answer(at.snapshot.id, pieces[0]) == first

    with desk(tmp_path, limits=InterviewLimits(join_seconds=JOIN_SECONDS)) as at:
        asyncio.run(work(at))


def test_pieces_too_long_together_are_refused_for_all_and_nothing_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def work(at: Desk) -> None:
        before = await at.begin()
        sent = [
            asyncio.create_task(
                at.service.answer(at.snapshot.id, at.submission(text=text, is_appended=True))
            )
            for text in ("x" * 1_500, SECRET * 30)
        ]
        await asyncio.sleep(0.1)
        hours_pass(monkeypatch)
        results = await asyncio.gather(*sent, return_exceptions=True)
        assert {type(one) for one in results} == {InputError}
        assert SECRET not in str(results)
        assert await at.read() == before

    with desk(tmp_path, limits=InterviewLimits(join_seconds=JOIN_SECONDS)) as at:
        asyncio.run(work(at))


def test_who_leaves_while_pieces_are_waited_for_has_said_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def work(at: Desk) -> None:
        before = await at.begin()
        sent = at.submission(text="three days", is_appended=True)
        sending = asyncio.create_task(at.service.answer(at.snapshot.id, sent))
        await asyncio.sleep(0.05)
        sending.cancel()
        await asyncio.gather(sending, return_exceptions=True)
        hours_pass(monkeypatch)
        await asyncio.sleep(0.05)
        assert await at.read() == before
        again = asyncio.create_task(at.service.answer(at.snapshot.id, sent))
        await asyncio.sleep(0.05)
        hours_pass(monkeypatch)
        assert (await again).turn == 1

    with desk(tmp_path, limits=InterviewLimits(join_seconds=JOIN_SECONDS)) as at:
        asyncio.run(work(at))


def test_an_answer_to_a_question_of_before_is_refused(tmp_path: Path) -> None:
    async def work(at: Desk) -> None:
        await at.begin()
        stale = at.submission(option_id="a1")
        await at.choose("Several days")
        for late in (
            replace(stale, idempotency_key="late1"),
            replace(stale, idempotency_key="late2", version=at.snapshot.version),
        ):
            with refused("version_conflict"):
                await at.service.answer(at.snapshot.id, late)
        assert (await at.read()).turn == 1

    with desk(tmp_path) as at:
        asyncio.run(work(at))


@pytest.mark.parametrize(
    ("answer", "field"),
    [
        pytest.param({"option_id": "a9"}, "option_id", id="not-offered"),
        pytest.param({"text": ""}, "text", id="empty"),
        pytest.param({"text": " \n\u200b\ufeff "}, "text", id="blank"),
        pytest.param({"text": "x" * 2001}, "text", id="too-long"),
        pytest.param({"text": "\ud800"}, "text", id="lone-surrogate"),
        pytest.param({}, "text", id="nothing"),
        pytest.param({"text": "x", "option_id": "a1"}, "text", id="both"),
        pytest.param({"text": "x", "idempotency_key": ""}, "idempotency_key", id="no-key"),
        pytest.param(
            {"text": "x", "idempotency_key": SECRET}, "idempotency_key", id="key-with-words"
        ),
    ],
)
def test_an_unusable_answer_is_refused_and_changes_nothing(
    answer: dict[str, object], field: str, tmp_path: Path
) -> None:
    async def work(at: Desk) -> None:
        before = await at.begin()
        with pytest.raises(InputError) as error:
            await at.send(**answer)
        assert error.value.field == field
        assert SECRET not in str(error.value)
        assert not isinstance(error.value, RequestConflict)
        assert await at.read() == before

    with desk(tmp_path) as at:
        asyncio.run(work(at))


def test_free_text_is_refused_where_the_protocol_takes_none(tmp_path: Path) -> None:
    phq8 = PROTOCOLS["phq8"]
    closed = phq8.model_copy(
        update={"answers": phq8.answers.model_copy(update={"free_text": False})}
    )

    async def work(at: Desk) -> None:
        await at.begin()
        with pytest.raises(InputError, match="options"):
            await at.say("Several days")

    with desk(tmp_path, protocols={"phq8": closed}) as at:
        asyncio.run(work(at))


def test_an_interview_that_is_over_takes_no_answer(tmp_path: Path) -> None:
    async def work(at: Desk) -> None:
        await at.begin()
        await at.stop()
        for answer in ({"option_id": "a1"}, {"text": "x"}, {"is_stop": True}):
            with refused("interview_over"):
                await at.send(**answer)

    with desk(tmp_path) as at:
        asyncio.run(work(at))


@pytest.mark.parametrize("written", [pytest.param(make_id(), id="well formed"), "../outside", ""])
def test_an_unknown_interview_is_not_found(written: str, tmp_path: Path) -> None:
    async def work(at: Desk) -> None:
        await at.begin()
        service = at.service
        for action in (
            service.get,
            service.report,
            service.make_report,
            service.delete,
            service.pause,
            service.retry,
        ):
            with refused("interview_not_found"):
                await action(written)
        with refused("interview_not_found"):
            await service.answer(written, at.submission(option_id="a1"))

    with desk(tmp_path) as at:
        asyncio.run(work(at))


def test_the_report_is_there_only_at_the_end(tmp_path: Path) -> None:
    async def work(at: Desk) -> None:
        await at.begin()
        with refused("interview_unfinished"):
            await at.service.make_report(at.snapshot.id)
        await at.stop()
        first = await at.service.make_report(at.snapshot.id)
        assert await at.service.make_report(at.snapshot.id) == first

    with desk(tmp_path) as at:
        asyncio.run(work(at))


@pytest.mark.parametrize("protocol", ["phq8", "incident"])
def test_a_restart_between_turns_changes_nothing(protocol: str, tmp_path: Path) -> None:
    async def work(at: Desk) -> InterviewSnapshot:
        await at.begin(protocol)
        return await at.send(option_id="a1")

    with desk(tmp_path, ScriptedAgents()) as at:
        before = asyncio.run(work(at))
    with desk(tmp_path, ScriptedAgents()) as at:
        at.snapshot = before
        assert asyncio.run(at.read()) == before
        assert asyncio.run(at.read()).state_hash == before.state_hash
        assert asyncio.run(at.send(option_id="a2")).turn == 2


def test_the_same_answers_lead_to_the_same_state_with_and_without_a_restart(
    tmp_path: Path,
) -> None:
    def state(folder: Path, *, is_restarted: bool) -> tuple[object, ...]:
        with desk(folder) as at:
            asyncio.run(at.begin())
            asyncio.run(at.choose("Several days"))
            if not is_restarted:
                asyncio.run(at.choose("Not at all"))
            last = at.snapshot
        if is_restarted:
            with desk(folder) as at:
                at.snapshot = last
                last = asyncio.run(at.choose("Not at all"))
        return (last.version, last.turn, last.question, last.goals, last.messages, last.items)

    assert state(tmp_path / "one", is_restarted=True) == state(tmp_path / "two", is_restarted=False)


def test_an_answer_whose_turn_was_cut_short_is_worked_in_once_by_its_own_key(
    tmp_path: Path,
) -> None:
    agents = ScriptedAgents()

    async def work(at: Desk) -> None:
        await at.begin("incident")
        sent = at.submission(text="It was Sam.")
        agents.queue("update_goals", FailureCode.CONNECTION_FAILED)
        failed = await at.service.answer(at.snapshot.id, sent)
        assert failed.state is InterviewState.FAILED
        done = await at.service.answer(at.snapshot.id, sent)
        assert (done.state, done.turn) == (InterviewState.AWAITING, 1)
        assert await at.service.answer(at.snapshot.id, sent) == done
        assert len(at.store.load(done.id).facts) == 1

    with desk(tmp_path, agents) as at:
        asyncio.run(work(at))


def test_another_answer_is_refused_while_one_waits_to_be_worked_in(tmp_path: Path) -> None:
    agents = ScriptedAgents()

    async def work(at: Desk) -> None:
        await at.begin("incident")
        agents.queue("update_goals", FailureCode.CONNECTION_FAILED)
        await at.say("It was Sam.")
        with refused("version_conflict"):
            await at.say("It was Kim.")

    with desk(tmp_path, agents) as at:
        asyncio.run(work(at))


def test_who_goes_away_in_the_middle_of_a_turn_loses_nothing(tmp_path: Path) -> None:
    agents = ScriptedAgents()

    async def work(at: Desk) -> None:
        await at.begin("incident")
        agents.reset()
        turn = asyncio.create_task(at.say("It was Sam."))
        await agents.begun.wait()
        turn.cancel()
        with pytest.raises(asyncio.CancelledError):
            await turn
        assert at.store.load(at.snapshot.id).state is InterviewState.DIGESTING
        assert (await at.retry()).state is InterviewState.AWAITING
        assert len(at.store.load(at.snapshot.id).facts) == 1

    with desk(tmp_path, agents) as at:
        asyncio.run(work(at))


def test_of_a_creation_that_is_left_nothing_is_kept(tmp_path: Path) -> None:
    agents = ScriptedAgents()

    async def work(at: Desk) -> None:
        creation = asyncio.create_task(at.begin("incident"))
        await agents.begun.wait()
        # At once: the next wait would let the agents go on.
        creation.cancel()
        with pytest.raises(asyncio.CancelledError):
            await creation
        assert await at.service.list() == ()
        assert agents.count("generate_question_with_answers") == 0

    with desk(tmp_path, agents) as at:
        asyncio.run(work(at))


def test_reading_asks_no_model_and_resuming_tries_one_step_once(tmp_path: Path) -> None:
    agents = ScriptedAgents()

    async def work(at: Desk) -> None:
        await at.begin("incident")
        agents.queue("update_goals", *[FailureCode.CONNECTION_FAILED] * 2)
        failed = await at.say("It was Sam.")
        agents.reset()
        assert await at.read() == failed
        assert agents.asked == []
        again = await at.retry()
        assert (again.state, agents.count("update_goals")) == (InterviewState.FAILED, 1)
        assert (await at.retry()).state is InterviewState.AWAITING
        agents.reset()
        assert await at.retry() == await at.read()
        assert agents.asked == []

    with desk(tmp_path, agents) as at:
        asyncio.run(work(at))


def test_a_store_that_hangs_is_told_and_does_not_hold_up_the_threads_of_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    free = threading.Event()

    async def work(at: Desk) -> None:
        await at.begin()
        at.service._threads = WorkerThreads(count=1, seconds=0.05)
        monkeypatch.setattr(InterviewStore, "load", lambda *_: free.wait())
        found = await asyncio.gather(*(at.read() for _ in range(40)), return_exceptions=True)
        assert {type(one) for one in found} == {StoreUnusable}
        assert await asyncio.to_thread(lambda: "free") == "free"

    with desk(tmp_path) as at:
        try:
            asyncio.run(work(at))
        finally:
            free.set()


def test_reading_does_not_disturb_a_turn_under_way(tmp_path: Path) -> None:
    agents = ScriptedAgents()

    async def work(at: Desk) -> None:
        before = await at.begin("incident")
        agents.reset()
        turn = asyncio.create_task(at.say("It was Sam."))
        await agents.begun.wait()
        assert (await at.service.get(before.id)).state is InterviewState.DIGESTING
        assert (await turn).state is InterviewState.AWAITING

    with desk(tmp_path, agents) as at:
        asyncio.run(work(at))
    assert agents.count("extract_facts") == 1


def test_a_paused_interview_goes_on(tmp_path: Path) -> None:
    async def work(at: Desk) -> None:
        await at.begin()
        at.snapshot = await at.service.pause(at.snapshot.id)
        assert at.snapshot.state is InterviewState.PAUSED
        with pytest.raises(RequestConflict):
            await at.service.pause(at.snapshot.id)
        assert (await at.choose("Several days")).turn == 1
        await at.service.pause(at.snapshot.id)
        at.snapshot = await at.service.retry(at.snapshot.id)
        assert at.snapshot.state is InterviewState.AWAITING
        assert await at.service.retry(at.snapshot.id) == at.snapshot

    with desk(tmp_path) as at:
        asyncio.run(work(at))


def test_a_deleted_interview_is_gone(tmp_path: Path) -> None:
    async def work(at: Desk) -> None:
        await at.begin()
        await at.say(SECRET)
        await at.service.delete(at.snapshot.id)
        with refused("interview_not_found"):
            await at.read()
        assert await at.service.list() == ()

    with desk(tmp_path) as at:
        asyncio.run(work(at))
    assert not any(SECRET.encode() in path.read_bytes() for path in tmp_path.iterdir())


def test_a_changed_protocol_is_noticed(tmp_path: Path) -> None:
    with desk(tmp_path) as at:
        begun = asyncio.run(at.begin())
    changed = PROTOCOLS["phq8"].model_copy().complete("0" * 64, {})
    for protocols in ({"phq8": changed}, {}):
        with desk(tmp_path, protocols=protocols) as at:
            at.snapshot = begun
            with refused("protocol_changed"):
                asyncio.run(at.read())
            assert len(asyncio.run(at.service.list())) == 1


def test_a_protocol_that_needs_a_model_says_so(tmp_path: Path) -> None:
    with desk(tmp_path) as at, pytest.raises(RequestConflict, match="MODEL_DEFAULT"):
        asyncio.run(at.begin("incident"))


@pytest.mark.parametrize(
    ("protocol", "inputs", "field"),
    [
        pytest.param("nosuch", {}, "protocol", id="unknown-protocol"),
        pytest.param("phq8", {"title": "x"}, "inputs", id="input-not-taken"),
        pytest.param("incident", {}, "inputs.title", id="input-missing"),
        pytest.param(
            "incident",
            {**INCIDENT_INPUTS, "confidence_threshold": 10},
            "inputs.confidence_threshold",
            id="threshold-too-low",
        ),
        pytest.param(
            "incident", {**INCIDENT_INPUTS, "title": "\ud800"}, "inputs", id="lone-surrogate"
        ),
    ],
)
def test_unusable_inputs_are_refused(
    protocol: str, inputs: dict[str, str | int], field: str, tmp_path: Path
) -> None:
    with desk(tmp_path, ScriptedAgents()) as at:
        with pytest.raises(InputError) as error:
            asyncio.run(at.service.create(protocol, inputs))
        assert error.value.field == field
        assert asyncio.run(at.service.list()) == ()


def test_an_assessment_is_refused_where_it_means_nothing(tmp_path: Path) -> None:
    with desk(tmp_path, ScriptedAgents()) as at, pytest.raises(InputError, match="assessment"):
        asyncio.run(at.begin("incident", assessment=assessed(Item.SLEEP)))


def test_an_assessment_with_broken_text_is_refused(tmp_path: Path) -> None:
    broken = AssessmentInput(items={Item.SLEEP: AssessedItem(score=1, evidence=("\udfff",))})
    with desk(tmp_path) as at, pytest.raises(InputError, match="surrogate"):
        asyncio.run(at.begin(assessment=broken))


def test_the_logs_hold_neither_words_nor_ids(tmp_path: Path) -> None:
    async def work(at: Desk) -> None:
        await at.begin("incident", title=SECRET)
        await at.say(SECRET)
        await at.stop()
        await at.service.make_report(at.snapshot.id)
        await at.service.delete(at.snapshot.id)

    with (
        desk(tmp_path, ScriptedAgents()) as at,
        captured_events() as logs,
    ):
        asyncio.run(work(at))
    events = [line["event"] for line in logs]
    assert events == [
        "interview_created",
        "interview_turn_finished",
        "interview_turn_finished",
        "interview_report_written",
        "interview_deleted",
    ]
    assert SECRET not in str(logs)
    assert at.snapshot.id not in str(logs)
    assert all(set(line) - {"log_level"} <= ALLOWED_KEYS for line in logs)


@pytest.mark.parametrize("protocol", ["phq8", "incident"])
def test_a_hold_is_a_warning_without_words_once(protocol: str, tmp_path: Path) -> None:
    said = f"I want to kill myself, {SECRET}."

    async def work(at: Desk) -> None:
        await at.begin(protocol)
        submission = at.submission(text=said)
        for _ in range(2):
            at.snapshot = await at.service.answer(at.snapshot.id, submission)
        await at.retry()
        await at.service.make_report(at.snapshot.id)

    with desk(tmp_path, ScriptedAgents()) as at, captured_events() as logs:
        asyncio.run(work(at))
    (held,) = [line for line in logs if line["log_level"] == "warning"]
    assert held.pop("interview_hash") == keyed_digest(at.snapshot.id)
    assert held == {
        "event": "interview_held",
        "log_level": "warning",
        "severity": "high",
        "category": "suicidal_ideation",
        "turn": 1,
    }
    assert SECRET not in str(logs)


@pytest.mark.parametrize("protocol", ["phq8", "incident"])
def test_no_warning_is_written_where_nothing_is_held(protocol: str, tmp_path: Path) -> None:
    async def work(at: Desk) -> None:
        await at.begin(protocol)
        await at.say("No, never.")
        await at.say("Ten years ago I tried, never since.")

    with desk(tmp_path, ScriptedAgents()) as at, captured_events() as logs:
        asyncio.run(work(at))
    assert not [line for line in logs if line["log_level"] != "info"]


def test_holds_are_listed_before_later_interviews(tmp_path: Path) -> None:
    async def work(at: Desk) -> list[tuple[str, str | None]]:
        ids = []
        for said in ("no", "I want to kill myself.", "no", "I will end my life tonight.", "no"):
            ids.append((await at.begin()).id)
            await at.say(said)
        expected = [ids[number] for number in (3, 1, 4, 2, 0)]
        return list(
            zip(expected, (one.interview_id for one in await at.service.list()), strict=True)
        )

    with desk(tmp_path) as at:
        assert all(expected == found for expected, found in asyncio.run(work(at)))


def test_no_snapshot_shows_words_or_its_id_in_its_repr(tmp_path: Path) -> None:
    with desk(tmp_path) as at:
        asyncio.run(at.begin())
        snapshot = asyncio.run(at.say(SECRET))
    assert SECRET not in repr(snapshot)
    assert snapshot.id not in repr(snapshot)


def test_an_answer_longer_than_the_limit_is_refused(tmp_path: Path) -> None:
    async def work(at: Desk) -> None:
        await at.begin()
        with pytest.raises(InputError, match="10"):
            await at.say("x" * 11)

    with desk(tmp_path, limits=InterviewLimits(max_answer_characters=10)) as at:
        asyncio.run(work(at))


def test_stop_is_followed_by_the_closing_words_alone(tmp_path: Path) -> None:
    async def work(at: Desk) -> None:
        await at.begin("phq8")
        question = at.snapshot.question
        assert question is not None
        await at.stop()
        assert question.text not in at.snapshot.notice
        assert at.snapshot.notice == PROTOCOLS["phq8"].texts.closing

    with desk(tmp_path, ScriptedAgents()) as at:
        asyncio.run(work(at))
