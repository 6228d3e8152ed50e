"""Held interviews: who hears of them, what they read, and how one is let go on."""

import asyncio
import json
import re
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest

from ai_psychiatrist.domain.callback import Callback
from ai_psychiatrist.interview.interview_store import InterviewStore
from ai_psychiatrist.interview.protocol import load_protocols
from ai_psychiatrist.interview.service import AnswerSubmission, InterviewService
from ai_psychiatrist.jobs.settings import callback_host
from tests.fakes.webhook_receiver import Reaction, Receiver, receiving
from tests.integration.command_here import run_here
from tests.integration.running_app import client_of, settings_with
from tests.integration.test_callbacks_http import told
from tests.integration.test_interview_http import (
    Json,
    answered,
    assert_problem,
    begin,
    option,
    posted,
    read,
)
from tests.integration.test_interview_links import answered as answered_by_link
from tests.integration.test_interview_links import asked_on_page, assessed, opened, person_at
from tests.integration.test_webhooks import TENANT, serving, settings_for, stores_in
from tests.patience import PATIENCE_SECONDS, wait_until

DANGER = "I sleep badly, canary. I want to kill myself."
RESOURCES = "Call 000, the line of this test."
REASON = "Called them, canary: safe at home with a sister."


@pytest.fixture
def client(tmp_path: Path) -> Any:
    settings = settings_with(tmp_path / "state", RISK_CRISIS_RESOURCES=RESOURCES)
    with client_of(settings) as client:
        yield client


def reopened(client: httpx.Client, interview: Json, reason: object = REASON) -> httpx.Response:
    path = f"/v1/interviews/{interview['interview_id']}/reopen"
    return client.post(path, json={"reason": reason})


def listed(client: httpx.Client, **query: str | int) -> Json:
    answer = client.get("/v1/interviews", params=query)
    assert answer.status_code == 200, answer.text
    found: Json = answer.json()
    return found


def test_receiver_is_told_of_each_hold_without_words(tmp_path: Path) -> None:
    held: list[Json] = []

    def ask(client: httpx.Client, receiver: Receiver) -> None:
        # Of this one nobody is to be told.
        answered(client, begin(client), text=DANGER)
        interview = answered(client, begin(client, callback_url=receiver.url), text="some")
        held.append(answered(client, interview, text=DANGER))
        again = reopened(client, held[0]).json()
        held.append(answered(client, again, text=DANGER))

    events = told(tmp_path, ask, 2)
    assert {event["type"] for event in events} == {"interview.held"}
    assert sorted(event["data"]["turn"] for event in events) == [2, 3]
    for event in events:
        data = event["data"]
        assert data.pop("held_at") == event["timestamp"]
        assert data.pop("turn") in {2, 3}
        assert data == {
            "interview_id": held[0]["interview_id"],
            "protocol": "phq8",
            "level": "high",
            "categories": ["suicidal_ideation"],
        }


def test_address_for_danger_is_told_of_holds_of_interviews_with_and_without_an_address(
    tmp_path: Path,
) -> None:
    held: list[str] = []

    def ask(client: httpx.Client, receiver: Receiver) -> None:
        callbacks: tuple[Json, ...] = (
            {},
            {"callback_url": receiver.url},
            {"callback_url": f"{receiver.url}/own"},
        )
        for more in callbacks:
            interview = answered(client, begin(client, **more), text=DANGER)
            held.append(interview["interview_id"])
        answered(client, begin(client), stop=True)

    events = told(tmp_path, ask, 4, DANGER_CALLBACK_URL="{url}")
    assert {event["type"] for event in events} == {"interview.held"}
    # One of them has an address beside it.
    found = sorted(event["data"]["interview_id"] for event in events)
    assert found == sorted([*held, held[2]])


def test_person_who_is_asked_on_the_page_is_reported_at_once(tmp_path: Path) -> None:
    def ask(client: httpx.Client, _: Receiver) -> None:
        token = asked_on_page(client, assessed(client))[1]
        with person_at(client) as person:
            opened(person, token)
            state = person.get("/interview/state").json()
            assert answered_by_link(person, state, text=DANGER).json()["state"] == "safety_hold"

    (event,) = told(tmp_path, ask, 1, DANGER_CALLBACK_URL="{url}")
    assert (event["type"], event["data"]["level"]) == ("interview.held", "high")


def test_receiver_is_told_once_that_an_interview_is_over(tmp_path: Path) -> None:
    over: list[Json] = []

    def ask(client: httpx.Client, receiver: Receiver) -> None:
        interview = begin(client, callback_url=receiver.url)
        interview = answered(client, interview, text="canary, I sleep well.")
        over.append(answered(client, interview, stop=True))
        client.post(f"/v1/interviews/{interview['interview_id']}/report")

    (event,) = told(tmp_path, ask, 1)
    assert event["type"] == "interview.finished"
    assert event["data"].pop("ended_at") == event["timestamp"]
    assert event["data"] == {
        "interview_id": over[0]["interview_id"],
        "protocol": "phq8",
        "turn": 1,
        "end_reason": "stopped",
    }


def test_receiver_is_told_at_once_and_not_at_the_next_look(tmp_path: Path) -> None:
    """Each look comes two seconds after the one before, and each try is followed by one."""

    waited: list[float] = []

    def ask(client: httpx.Client, receiver: Receiver) -> None:
        for number in range(1, 5):
            answered(client, begin(client, callback_url=receiver.url), text=DANGER)
            held_at = time.monotonic()
            wait_until(lambda number=number: len(receiver.calls) == number)  # type: ignore[misc]
            waited.append(time.monotonic() - held_at)

    told(tmp_path, ask, 4)
    # The first loads what sends them; on a busy machine any but one may be late.
    assert min(waited[1:]) < 1.5


def test_address_that_cannot_be_told_begins_no_interview(client: httpx.Client) -> None:
    body = {"protocol": "phq8", "callback_url": "https://evil.example/canary"}
    answer = client.post("/v1/interviews", json=body)
    assert_problem(answer, 422, "unusable_input", "JOBS_WEBHOOK_HOSTS")
    assert answer.json()["field"] == "callback_url"
    assert "canary" not in answer.text
    assert listed(client)["total"] == 0


@pytest.mark.parametrize("is_deleted", [False, True])
def test_what_is_to_be_told_is_stored_with_the_hold_and_goes_with_the_interview(
    tmp_path: Path, *, is_deleted: bool
) -> None:
    async def hold(receiver: Receiver) -> None:
        """Hold two interviews where nothing is sent, as in a process that dies then."""
        url = receiver.url
        to = Callback(host=callback_host(url, settings_for(receiver.place)), url=url)
        with closing(stores_in(tmp_path)) as stores:
            rows = stores.open(TENANT).interviews
            service = InterviewService(load_protocols(()), InterviewStore(rows))
            for _ in range(2):
                begun = await service.create("phq8", callback=to)
                submission = AnswerSubmission(
                    question_id="q1", text=DANGER, idempotency_key="k", version=1
                )
                await service.answer(begun.id, submission)
            if is_deleted:
                await service.delete(begun.id)

    def stored() -> bytes:
        return b"".join(path.read_bytes() for path in tmp_path.rglob("*.sqlite*"))

    async def run() -> None:
        async with receiving() as receiver:
            await hold(receiver)
            assert b"token=word" not in stored()
            async with serving(tmp_path, receiver) as service:
                await receiver.came(1 if is_deleted else 2)
                await asyncio.sleep(0.2)
                tried = [one for one in service.events if one["event"] == "webhook_tried"]
        assert len(receiver.calls) == len(tried) == (1 if is_deleted else 2)
        assert {one["outcome"] for one in tried} == {"delivered"}
        assert len({one["interview_hash"] for one in tried}) == len(tried)

    asyncio.run(run())


def test_address_at_another_host_than_was_named_is_never_called(tmp_path: Path) -> None:
    """As where an export was changed before it was imported."""

    async def run() -> None:
        async with receiving() as named, receiving() as other, serving(tmp_path, named) as service:
            store = service.records.stores.open(TENANT)
            begun = InterviewService(load_protocols(()), InterviewStore(store.interviews))
            held = await begun.create("phq8", callback=Callback(host=named.place, url=other.url))
            submission = AnswerSubmission(
                question_id="q1", text=DANGER, idempotency_key="k", version=1
            )
            await begun.answer(held.id, submission)
            async with asyncio.timeout(PATIENCE_SECONDS):
                while not (tried := [one for one in service.events if "outcome" in one]):  # noqa: ASYNC110  a file
                    await asyncio.sleep(0.02)
        assert [one["reason"] for one in tried] == ["host_not_named"]
        assert named.calls == other.calls == []

    asyncio.run(run())


def test_what_was_given_up_of_an_interview_is_listed_without_its_id(tmp_path: Path) -> None:
    def gone(_: int) -> Reaction:
        return Reaction(status=410)

    def hold_and_look(receiver: Receiver) -> tuple[str, str]:
        settings = settings_with(
            tmp_path / "state",
            JOBS_WEBHOOK_HOSTS=receiver.place,
            JOBS_WEBHOOK_SECRET="0123456789abcdef0123456789abcdef",
            JOBS_WEBHOOK_ALLOW_HTTP="true",
        )

        def given_up() -> str:
            return run_here(["jobs", "webhooks", "--json"], tmp_path).out

        with client_of(settings) as client:
            held = answered(client, begin(client, callback_url=receiver.url), text=DANGER)
            wait_until(given_up)
            return held["interview_id"], given_up()

    async def run() -> tuple[str, str]:
        async with receiving(gone) as receiver:
            return await asyncio.to_thread(hold_and_look, receiver)

    interview_id, line = asyncio.run(run())
    assert (json.loads(line)["job_id"], json.loads(line)["reason"]) == (None, "http_410")
    assert interview_id not in line


def test_held_interviews_are_listed_first_a_page_at_a_time(client: httpx.Client) -> None:
    begun = [begin(client) for _ in range(3)]
    held = [answered(client, begin(client), text=DANGER) for _ in range(2)]
    newer = begin(client)
    wanted = [one["interview_id"] for one in (*reversed(held), newer, *reversed(begun))]
    found, cursor = [], None
    while True:
        page = listed(client, limit=2, **({"cursor": cursor} if cursor else {}))
        assert page["total"] == len(wanted)
        found += page["interviews"]
        cursor = page["next"]
        if cursor is None:
            break
        assert len(page["interviews"]) == 2
    assert [one["interview_id"] for one in found] == wanted
    assert "canary" not in json.dumps(found)
    alone = listed(client, state="safety_hold")
    assert [one["state"] for one in alone["interviews"]] == ["safety_hold"] * 2
    assert (alone["total"], alone["next"]) == (2, None)
    for query, field in (({"state": "held"}, "safety_hold"), ({"cursor": "WzBd"}, "cursor")):
        answer = client.get("/v1/interviews", params=query)
        assert answer.status_code == 422
        assert field in answer.text


def test_operator_reads_each_sentence_of_danger_with_its_question(client: httpx.Client) -> None:
    first = answered(client, begin(client), text="some")
    held = answered(client, first, text=DANGER)
    report = read(client, held, "/report")
    for danger in (held["operator"]["danger"], report["danger"]):
        assert danger["statements"] == [
            {
                "turn": 2,
                "question": first["question"]["text"],
                "text": "kill myself",
                "sentence": "I want to kill myself.",
            }
        ]


def test_reopened_interview_puts_the_question_that_waited_and_goes_on(client: httpx.Client) -> None:
    first = begin(client)
    held = answered(client, first, text=DANGER)
    again = reopened(client, held).json()
    assert (again["state"], again["end_reason"]) == ("awaiting", None)
    assert again["spoken"] == "Welcome back. Let us go on where we were."
    question, before = again["question"], first["question"]
    assert question["id"] == "q2"
    for name in ("text", "goal_id", "item", "options", "is_clarifying", "allows_free_text"):
        assert question[name] == before[name]
    (reopening,) = again["operator"]["reopenings"]
    assert (reopening["reason"], reopening["author"]) == (REASON, "local")
    assert again["operator"]["danger"]["level"] == "high"
    assert read(client, again) == again
    while again["question"]["purpose"] == "ask":
        again = answered(client, again, option_id=option(again, score=1))
    (all_right,) = (one for one in again["question"]["options"] if one["kind"] == "confirm")
    again = answered(client, again, option_id=all_right["id"])
    assert (again["state"], again["end_reason"]) == ("done", "all_resolved")
    report = read(client, again, "/report")
    assert report["total"]["total_score"] == 8
    assert report["reopenings"] == [reopening]
    assert report["danger"]["statements"]


def test_reopened_interview_is_asked_as_often_as_any_other(client: httpx.Client) -> None:
    again = reopened(client, answered(client, begin(client), text=DANGER)).json()
    clarifying = answered(client, again, text="some")
    assert clarifying["question"]["is_clarifying"]
    assert clarifying["question"]["item"] == again["question"]["item"]
    stopped = answered(client, clarifying, stop=True)
    reasons = {item["unknown_reason"] for item in stopped["operator"]["items"].values()}
    assert reasons == {"ambiguous_answer", "not_asked"}


def test_only_an_interview_that_is_held_is_reopened_and_only_with_a_reason(
    client: httpx.Client,
) -> None:
    interview = begin(client)
    assert_problem(reopened(client, interview), 409, "interview_not_held", "interview_id")
    held = answered(client, interview, text=DANGER)
    for reason in ("", " \n", "x" * 2_001, None, "canary \ud800"):
        path = f"/v1/interviews/{held['interview_id']}/reopen"
        answer = client.post(
            path,
            content=json.dumps({"reason": reason}),
            headers={"Content-Type": "application/json"},
        )
        assert answer.status_code == 422
        assert "reason" in answer.json()["detail"] + str(answer.json().get("field"))
        assert "canary" not in answer.text
    assert read(client, held) == held
    kept = answered(client, held, text="Please call my sister.")
    assert_problem(posted(client, kept, text="And my mother."), 409, "interview_over")
    assert_problem(
        reopened(client, {"interview_id": "x" * 32}), 404, "interview_not_found", "interview_id"
    )


def test_the_list_says_whose_interview_it_is_and_how_grave(client: httpx.Client) -> None:
    body = {"transcript_text": "Participant: I sleep badly.", "subject": "S-17"}
    stored = client.post("/v1/assessments", json=body).json()["assessment_id"]
    client.post(f"/assessments/{stored}/interview", data={"protocol": "phq8"})
    page = client.get(f"/assessments/{stored}/interview").text
    token = re.findall(r"/interview#([\w-]+)", page)[0]
    client.post("/interview/session", json={"token": token})
    asked = client.get("/interview/state").json()
    sent = {"question_id": asked["question"]["id"], "version": asked["version"], "text": DANGER}
    client.post("/interview/answers", json={**sent, "idempotency_key": "k"})
    front = client.get("/").text
    line = next(row for row in front.split("<tr ") if f'href="/assessments/{stored}"><bdi>' in row)
    now = ">held because of a sign of danger</td>"
    level = '>high</span> <strong class="not-read">1 not yet read</strong></td>'
    assert (level in line, "S-17" in line, now in line) == (True,) * 3
    (path,) = re.findall(r'href="(/interviews/[^"]+)"', line)
    assert f'href="/assessments/{stored}"' in client.get(path).text
    shown = client.get(f"/assessments/{stored}").text
    assert f'href="{path}"' in shown
    assert "An interview about it is under way" in shown
    asked = client.post("/chosen/erase", data={"id": [stored]}).text
    assert "interview under way" in asked
    assert "1 of them has an interview that is not over" in asked
    client.cookies.clear()


@pytest.mark.parametrize(
    ("notice", "said"),
    [
        ("", "It may be that nobody reads this right now."),
        (" A nurse reads this\n until six.", "A nurse reads this until six."),
    ],
)
def test_person_is_told_who_reads_a_held_interview(tmp_path: Path, notice: str, said: str) -> None:
    settings = settings_with(tmp_path, RISK_CRISIS_RESOURCES=RESOURCES, DANGER_NOTICE=notice)
    with client_of(settings) as client:
        told_words = answered(client, begin(client), text=DANGER)["spoken"]
    assert told_words.endswith(f"{RESOURCES}\n{said}")


def test_pages_show_held_interviews_first_and_reopen_one(client: httpx.Client) -> None:
    assert "held" not in client.get("/").text
    held = answered(client, begin(client), text=DANGER)
    path = f"/interviews/{held['interview_id']}"
    front = client.get("/").text
    assert f'href="{path}"' in front
    assert "kill" not in front
    page = re.sub("</?strong>", "", client.get(path).text)
    question, sentence = held["messages"][1]["text"], "I want to kill myself."
    place = page.index('id="interview-danger"')
    assert (
        place < page.index(question, place) < page.index(sentence, place) < page.index("What was")
    )
    for reason, status in ((" ", 422), (REASON, 303), (REASON, 409)):
        answer = client.post(f"{path}/reopen", data={"reason": reason}, follow_redirects=False)
        assert answer.status_code == status
    assert "A person has to look now" in page
    page = client.get(path).text
    assert "A person has to look now" not in page
    assert re.search(rf"Reopened by <bdi>.*{re.escape(REASON)}", page)
    assert "<textarea" not in page
    # Somebody has looked; what was said there stays to be found.
    assert ">waiting for an answer</td>" in (front := client.get("/").text)
    assert path in front
    assert "safety_hold" not in front + page
    gone = client.get(f"/interviews/{'x' * 32}")
    assert (gone.status_code, "there is no interview with this id" in gone.text) == (404, True)
