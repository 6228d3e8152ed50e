"""A link opens one interview to one browser: exchanged once, until it ends, and nothing else."""

import json
import re
import sqlite3
import time
import uuid
from base64 import urlsafe_b64decode
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest

from ai_psychiatrist.api.app import create_app
from ai_psychiatrist.domain.access import Scope
from ai_psychiatrist.interview import protocol as protocols
from tests.fakes.access import key_for
from tests.integration.command_here import run_here
from tests.integration.running_app import RunningApp, client_at, client_of, settings_with
from tests.integration.test_mounted_app import host_of

Json = dict[str, Any]
HELP = "Call 000, the line of this test."
SETTINGS = {
    "MODEL_DEFAULT": "baseline",
    "RISK_CRISIS_RESOURCES": HELP,
    "INTERVIEW_JOIN_SECONDS": "0.1",
}
GUESSED = "A" * 32
COOKIE = "aip_interview"
OF_PERSON = {
    "": "state version spoken question messages progress changeable can_retry help texts",
    "question": "id text options allows_free_text most_characters noted closing",
    "question.options": "id text kind",
    "messages": "id speaker text turn",
    "progress": "number of",
}


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """The state folder where a command finds it as well."""
    return tmp_path / "state"


@pytest.fixture
def operator(state: Path) -> Iterator[httpx.Client]:
    """A client with a key of a server that asks for one."""
    with client_of(settings_with(state, AUTH_REQUIRED="true", **SETTINGS)) as client:
        client.headers["X-API-Key"] = key_for(state, *Scope).text
        yield client


def begun(client: httpx.Client, **body: object) -> tuple[str, str]:
    """Begin an interview with a link; return its id and the token."""
    answer = client.post("/v1/interviews", json={"protocol": "phq8", "link": True, **body})
    assert answer.status_code == 201, answer.text
    told = answer.json()
    address, _, token = told["link"]["address"].partition("#")
    assert address == f"{client.base_url}/interview"
    return told["interview_id"], token


def person_at(client: httpx.Client) -> httpx.Client:
    """Return a browser of somebody who has no credential."""
    return client_at(str(client.base_url))


def opened(person: httpx.Client, token: str, key: str | None = None) -> httpx.Response:
    return person.post(
        "/interview/session", json={"token": token, "idempotency_key": key or str(uuid.uuid4())}
    )


def answered(person: httpx.Client, state: Json, **wish: object) -> httpx.Response:
    sent = {"idempotency_key": str(uuid.uuid4()), "version": state["version"], **wish}
    return person.post("/interview/answers", json={"question_id": state["question"]["id"], **sent})


def problem(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["code"]


def test_a_link_opens_its_interview_to_the_first_browser_and_nothing_else(
    operator: httpx.Client,
) -> None:
    interview_id, token = begun(operator)
    with person_at(operator) as person, person_at(operator) as another:
        assert problem(person.get("/interview/state")) == (410, "link_refused")
        answer = opened(person, token)
        value, *flags = answer.headers["set-cookie"].split("; ")
        assert (answer.status_code, value.partition("=")[0]) == (204, COOKIE)
        (lasts,) = (flag for flag in flags if flag.startswith("Max-Age="))
        assert 259_100 < int(lasts.partition("=")[2]) <= 259_200
        assert {flag.casefold() for flag in flags if flag != lasts} == {
            *("httponly", "samesite=strict", "path=/interview")
        }
        assert token not in value
        assert person.get("/interview/state").json()["progress"] == {"number": 1, "of": 8}
        assert opened(person, token).status_code == 204
        used, guessed, malformed = (opened(another, one) for one in (token, GUESSED, "ä"))
        assert used.status_code == 410
        assert used.text == guessed.text == malformed.text
        another.cookies.set(COOKIE, f"{'0' * 24}.{'A' * 43}", path="/interview")
        assert another.get("/interview/state").text == used.text
        for name in ("aip_session", "X-API-Key"):
            shown = {name: value.partition("=")[2]}
            cookies, headers = (shown, {}) if name == "aip_session" else ({}, shown)
            with person_at(operator) as thief:
                thief.cookies.update(cookies)
                seen = thief.get(f"/v1/interviews/{interview_id}", headers=headers)
                assert problem(seen) == (401, "unauthenticated")
        assert problem(person.get(f"/v1/interviews/{interview_id}"))[0] == 401
    assert problem(operator.get("/interview/state")) == (410, "link_refused")


def test_a_lost_reply_is_given_again_to_the_page_that_asked(operator: httpx.Client) -> None:
    _, token = begun(operator)
    with person_at(operator) as person:
        first = opened(person, token, "k1").headers["set-cookie"]
        person.cookies.clear()
        again = opened(person, token, "k1").headers["set-cookie"]
        # Its time may have been counted down by a second meanwhile.
        assert len({re.sub(r" Max-Age=\d+;", "", cookie) for cookie in (first, again)}) == 1
        state = person.get("/interview/state").json()
        sent = {"option_id": "a2", "idempotency_key": "k2"}
        one, two = (answered(person, state, **sent) for _ in range(2))
        assert (one.status_code, one.text) == (200, two.text)
        assert one.json()["version"] == state["version"] + 1


def test_the_person_sees_the_words_of_the_interview_and_nothing_made_of_them(
    operator: httpx.Client,
) -> None:
    score = {"score": 3, "evidence": [{"text": "never to be shown"}]}
    assessment = {"items": {"PHQ8_Sleep": score, "PHQ8_Tired": {"score": None}}}
    _, token = begun(operator, assessment=assessment)
    with person_at(operator) as person:
        opened(person, token)
        state = person.get("/interview/state").json()
        assert state["progress"] == {"number": 1, "of": 7}
        said = answered(person, state, text="some days", append=True).json()
        held = answered(person, said, text="I want to kill myself.", append=True)
    for shown in (state, said, held.json()):
        for path, names in OF_PERSON.items():
            found: Any = [shown]
            for name in filter(None, path.split(".")):
                found = [one[name] for one in found if one[name] is not None]
                found = [
                    one for some in found for one in (some if isinstance(some, list) else [some])
                ]
            assert all(one.keys() == set(names.split()) for one in found), path
        assert "never to be shown" not in json.dumps(shown)
    assert (held.json()["state"], held.json()["question"]["options"]) == ("safety_hold", [])
    assert HELP in held.json()["spoken"]
    assert "high" not in held.text


def test_pausing_ending_and_going_on(operator: httpx.Client) -> None:
    interview_id, token = begun(operator)
    with person_at(operator) as person:
        opened(person, token)
        state = person.get("/interview/state").json()
        paused = answered(person, state, pause=True).json()
        assert (paused["state"], paused["question"]["text"]) == (
            "paused",
            state["question"]["text"],
        )
        went_on = answered(person, paused, option_id="a5").json()
        assert (went_on["state"], went_on["progress"]["number"]) == ("awaiting", 2)
        assert answered(person, went_on, retry=True).json()["version"] == went_on["version"]
        over = answered(person, went_on, stop=True).json()
        assert (over["state"], over["question"]) == ("done", None)
        assert problem(answered(person, went_on, option_id="a1")) == (409, "interview_over")
    for path in ("link", "answers"):
        body = {"question_id": "q", "option_id": "a1", "idempotency_key": "k", "version": 1}
        answer = operator.post(f"/v1/interviews/{interview_id}/{path}", json=body)
        assert problem(answer) == (409, "interview_over")


def test_behind_a_proxy_with_tls_address_and_cookie_are_of_its_name(state: Path) -> None:
    settings = settings_with(
        state, API_ALLOWED_HOSTS="ask.example", API_TRUSTED_PROXIES="127.0.0.1", **SETTINGS
    )
    with client_of(settings) as client:
        client.headers.update({"Host": "ask.example", "X-Forwarded-Proto": "https"})
        told = client.post("/v1/interviews", json={"protocol": "phq8", "link": True}).json()
        address, _, token = told["link"]["address"].partition("#")
        given = opened(client, token).headers["set-cookie"]
        assert address == "https://ask.example/interview"
        assert given.startswith("__Secure-interview=")
        assert {"Secure", "HttpOnly", "Path=/interview"} <= set(given.split("; "))
        cookie = given.partition("=")[2].partition(";")[0]
        for name, status in (("__Secure-interview", 200), (COOKIE, 410)):
            shown = client.get("/interview/state", headers={"Cookie": f"{name}={cookie}"})
            assert shown.status_code == status


def test_mounted_in_another_application_it_stays_under_its_path(state: Path) -> None:
    with client_of(host_of(phq8=create_app(settings_with(state, **SETTINGS)))) as client:
        told = client.post("/phq8/v1/interviews", json={"protocol": "phq8", "link": True}).json()
        address, _, token = told["link"]["address"].partition("#")
        assert address == f"{client.base_url}/phq8/interview"
        assert 'data-root="/phq8"' in client.get("/phq8/interview").text
        given = client.post("/phq8/interview/session", json={"token": token}).headers["set-cookie"]
        assert "Path=/phq8/interview" in given.split("; ")
        assert client.get("/phq8/interview/state").json()["state"] == "awaiting"


def _revoke(operator: httpx.Client, path: str, _: Path) -> None:
    assert operator.delete(f"{path}/link").status_code == 204


def _replace(operator: httpx.Client, path: str, _: Path) -> None:
    assert operator.post(f"{path}/link").json().keys() == {"address", "expires_at"}


def _erase(operator: httpx.Client, path: str, _: Path) -> None:
    assert operator.delete(path).status_code == 204


def _expire(_: httpx.Client, __: str, state: Path) -> None:
    with closing(sqlite3.connect(state / "keys.sqlite")) as keys, keys:
        keys.execute("UPDATE access_keys SET expires_at = ?", (int(time.time()),))


def _revoke_by_command(_: httpx.Client, path: str, state: Path) -> None:
    done = run_here(["interview", "link", path.rpartition("/")[2], "--revoke"], state.parent)
    assert (done.code, done.out) == (0, "")


@pytest.mark.parametrize("is_opened", [False, True], ids=["unopened", "opened"])
@pytest.mark.parametrize("end", [_revoke, _replace, _erase, _expire, _revoke_by_command])
def test_a_link_that_has_ended_opens_nothing(
    state: Path, end: Callable[[httpx.Client, str, Path], None], *, is_opened: bool
) -> None:
    with client_of(settings_with(state, **SETTINGS)) as operator:
        interview_id, token = begun(operator)
        with person_at(operator) as person, person_at(operator) as another:
            if is_opened:
                assert opened(person, token, "k").status_code == 204
            end(operator, f"/v1/interviews/{interview_id}", state)
            assert problem(person.get("/interview/state")) == (410, "link_refused")
            assert problem(opened(person, token, "k")) == (410, "link_refused")
            assert problem(opened(another, token)) == (410, "link_refused")
    if end is _erase:
        with closing(sqlite3.connect(state / "keys.sqlite")) as keys:
            assert keys.execute("SELECT count(*) FROM access_keys").fetchone() == (0,)


def test_it_goes_on_after_the_server_was_started_anew(state: Path) -> None:
    settings = settings_with(state, **SETTINGS)
    with RunningApp(settings) as app, client_at(app.url) as person:
        _, token = begun(person)
        opened(person, token)
        before = person.get("/interview/state").text
        cookies = dict(person.cookies)
    with RunningApp(settings) as app, client_at(app.url) as person:
        person.cookies.update(cookies)
        after = person.get("/interview/state")
        assert after.text == before
        assert answered(person, after.json(), option_id="a1").status_code == 200


def test_guesses_are_few_and_disturb_nobody_who_is_in(operator: httpx.Client) -> None:
    _, token = begun(operator)
    with person_at(operator) as person, person_at(operator) as guesser:
        opened(person, token)
        refused = [opened(guesser, GUESSED).status_code for _ in range(11)]
        assert refused == [410] * 10 + [429]
        assert "Retry-After" in opened(guesser, token).headers
        assert person.get("/interview/state").status_code == 200


@pytest.mark.parametrize(
    "headers",
    [{"Sec-Fetch-Site": "cross-site"}, {"Origin": "https://evil.example"}],
    ids=["fetch", "origin"],
)
def test_a_page_of_another_site_can_send_nothing(
    operator: httpx.Client, headers: dict[str, str]
) -> None:
    _, token = begun(operator)
    with person_at(operator) as person:
        answer = person.post("/interview/session", json={"token": token}, headers=headers)
        assert problem(answer) == (403, "cross_site")
        opened(person, token)
        state = person.get("/interview/state").json()
        person.headers.update(headers)
        assert problem(answered(person, state, option_id="a1")) == (403, "cross_site")


def test_the_page_is_the_same_to_everybody_and_forbids_what_it_does_not_need(
    operator: httpx.Client,
) -> None:
    _, token = begun(operator)
    with person_at(operator) as person:
        before = person.get("/interview")
        opened(person, token)
        page = person.get("/interview")
    assert page.text == before.text == operator.get("/interview").text
    assert HELP in page.text
    assert page.headers["cache-control"] == "no-store"
    assert "script-src 'self'" in page.headers["content-security-policy"]
    assert "noscript" in page.text


def test_another_language_is_a_file(state: Path, tmp_path: Path) -> None:
    source = Path(protocols.__file__).parent.parent / "protocols" / "phq8" / "protocol.yaml"
    page = "page: {language: de, title: Ein paar Fragen, refused: Dieser Link gilt nicht.}"
    text = source.read_text("utf-8").replace("id: phq8", f"id: phq8-de\n{page}", 1)
    (tmp_path / "de").mkdir()
    (tmp_path / "de" / "protocol.yaml").write_text(text, "utf-8")
    settings = settings_with(state, INTERVIEW_PROTOCOLS=str(tmp_path / "de"), **SETTINGS)
    with client_of(settings) as client:
        _, token = begun(client, protocol="phq8-de")
        shown = client.get("/interview").text
        opened(client, token)
        texts = client.get("/interview/state").json()["texts"]
    assert '<p lang="de">Dieser Link gilt nicht.</p>' in shown
    assert '<p lang="en">This link does not open' in shown
    assert (texts["language"], texts["title"], texts["send"]) == ("de", "Ein paar Fragen", "Send")


def test_who_opened_and_answered_leaves_rows(operator: httpx.Client, tmp_path: Path) -> None:
    interview_id, token = begun(operator)
    with person_at(operator) as person:
        opened(person, token)
        answered(person, person.get("/interview/state").json(), option_id="a1")
    operator.delete(f"/v1/interviews/{interview_id}/link")
    done = run_here(["audit", "show", "--json"], tmp_path)
    rows = [json.loads(line) for line in done.out.splitlines()]
    of_person = [
        (one["action"], one["outcome"]) for one in rows if one["actor"].startswith("interview:")
    ]
    assert of_person == [
        ("interview_opened", "204"),
        ("interview_seen", "200"),
        ("interview_answered", "begun"),
        ("interview_answered", "200"),
    ]
    assert ("interview_link_revoked", "204") in [(one["action"], one["outcome"]) for one in rows]
    listed = run_here(["keys", "list"], tmp_path)
    assert len(listed.out.splitlines()) == 1
    known = (done.out + listed.out, operator.get("/interview").text)
    assert not [text for text in known if token in text or interview_id in text]


@pytest.mark.parametrize(
    ("options", "settings", "starts"),
    [
        ((), {}, "http://127.0.0.1:8000/interview#"),
        ((), {"API_PUBLIC_URL": "https://ask.example/a/"}, "https://ask.example/a/interview#"),
        (("--url", "https://b.example"), {}, "https://b.example/interview#"),
    ],
    ids=["this_machine", "setting", "option"],
)
def test_the_command_makes_a_link(
    tmp_path: Path, options: Sequence[str], settings: dict[str, str], starts: str
) -> None:
    begin = run_here(["interview", "--protocol", "phq8", "--json"], tmp_path, stdin=b"")
    interview_id = json.loads(begin.out)["interview"]["interview_id"]
    done = run_here(["interview", "link", interview_id, *options], tmp_path, settings)
    assert (done.code, done.out.startswith(starts)) == (0, True), done.err
    token = done.out.strip().partition("#")[2]
    with client_of(settings_with(tmp_path / "state", **SETTINGS)) as client:
        assert opened(client, token).status_code == 204
        assert client.get("/interview/state").json()["state"] == "paused"


@pytest.mark.parametrize("options", [["A" * 32], ["ID", "--url", "nowhere"]], ids=["id", "url"])
def test_the_command_says_what_is_wrong(tmp_path: Path, options: list[str]) -> None:
    begin = run_here(["interview", "--protocol", "phq8", "--json"], tmp_path, stdin=b"")
    interview_id = json.loads(begin.out)["interview"]["interview_id"]
    given = [interview_id if one == "ID" else one for one in options]
    done = run_here(["interview", "link", *given], tmp_path)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("error: ")


def assessed(client: httpx.Client, subject: str = "B-17") -> str:
    """Store an assessment; return where its pages are."""
    body = {"transcript_text": "Participant: I sleep badly, most nights.", "subject": subject}
    made = client.post("/v1/assessments", json=body)
    assert made.status_code == 201, made.text
    return f"/assessments/{made.json()['assessment_id']}"


_ASKS = "The clinic on the hill asks; questions to the front desk."


def asked_on_page(client: httpx.Client, path: str) -> tuple[str, str]:
    """Ask the person by the page; return the page and the token that it shows."""
    client.get(path, params={"show": "result"})
    sent = client.post(f"{path}/interview", data={"protocol": "phq8", "asked_by": _ASKS})
    assert (sent.status_code, sent.headers["Location"]) == (303, f"{path}/interview"), sent.text
    page = client.get(f"{path}/interview")
    (token,) = re.findall(r"/interview#([\w-]{32})", page.text)
    return page.text, token


def test_the_page_of_an_assessment_says_what_came_from_the_interview(state: Path) -> None:
    with client_of(settings_with(state, **SETTINGS)) as client:
        path = assessed(client)
        assert "Ask the person" in client.get(path).text
        assert client.get(f"{path}/interview").status_code == 303
        page, first = asked_on_page(client, path)
        assert "B-17" in page
        page, token = asked_on_page(client, path)
        with person_at(client) as person:
            assert opened(person, first).status_code == 410
            opened(person, token)
            found = person.get("/interview/state").json()
            assert found["progress"] == {"number": 1, "of": 7}
            assert found["spoken"].endswith(_ASKS)
            before = client.get(f"{path}/interview/progress").json()
            found = answered(person, found, option_id="a4").json()
            assert client.get(f"{path}/interview/progress").json() != before
            followed = client.get(f"{path}/interview").text
            assert "Nearly every day" in followed
            assert token not in followed
            answered(person, found, stop=True)
        shown = client.get(path).text
        assert "It is over." in shown
        assert shown.count("<td>transcript</td>") == 1
        assert shown.count(">interview, answer 1</a>") == 1
        assert "Ask the person again" in shown
        assert "about what is still unknown (" in shown
        assert "each item has the answer of the latest interview that answered it." in shown
        assert client.post(f"{path}/interview/revoke").status_code == 303
        assert "link revoked" in client.get(f"{path}/interview").text


@pytest.mark.parametrize("is_reported", [False, True])
def test_before_a_link_is_made_the_page_says_who_is_notified_of_danger(
    state: Path, *, is_reported: bool
) -> None:
    reported = {
        "DANGER_CALLBACK_URL": "https://ward.example/danger",
        "JOBS_WEBHOOK_HOSTS": "ward.example",
        "JOBS_WEBHOOK_SECRET": "0123456789abcdef" * 2,
    }
    with client_of(settings_with(state, **(reported if is_reported else {}))) as client:
        path = assessed(client)
        before = client.get(path, params={"show": "result"}).text
        page, _ = asked_on_page(client, path)
        for shown in (before, page):
            assert ("Nobody is notified of danger" in shown) is not is_reported
            assert ("DANGER_CALLBACK_URL" in shown) is not is_reported
        assert "Link not opened yet" in page
        shown = client.get(path).text
        assert "Link not opened yet" in shown
        assert "asked about, and not answered" not in page + shown
        assert "items asked about" not in page + shown


@pytest.mark.parametrize("is_public", [False, True])
def test_a_link_that_only_this_machine_opens_says_so(state: Path, *, is_public: bool) -> None:
    public = {"API_PUBLIC_URL": "https://interviews.example"} if is_public else {}
    with client_of(settings_with(state, **public)) as client:
        page, _ = asked_on_page(client, assessed(client))
        assert ("no other device can open it. Set API_PUBLIC_URL" in page) is not is_public


def test_a_person_with_unread_danger_is_asked_only_after_a_confirmation_that_names_it(
    state: Path,
) -> None:
    body = {"transcript_text": "Participant: I want to kill myself. I sleep badly, most nights."}
    with client_of(settings_with(state)) as client:
        made = client.post("/v1/assessments", json=body).json()["assessment_id"]
        path = f"/assessments/{made}"
        page = client.get(path, params={"show": "result"}).text
        assert "1 statement of danger in the transcript (high) is not yet read" in page
        refused = client.post(f"{path}/interview", data={"protocol": "phq8"})
        assert (refused.status_code, "nobody has confirmed reading" in refused.text) == (409, True)
        assert client.get("/v1/interviews").json()["total"] == 0
        agreed = {"protocol": "phq8", "knows_danger": "true"}
        assert client.post(f"{path}/interview", data=agreed).status_code == 303
        client.post(f"/v1{path}/acknowledgements", json={})
        assert "knows_danger" not in client.get(path).text


def test_the_address_of_a_new_link_is_shown_once_and_no_reload_makes_another(state: Path) -> None:
    with client_of(settings_with(state, **SETTINGS)) as client:
        path = f"{assessed(client)}/interview"
        sent = client.post(path, data={"protocol": "phq8"})
        page = client.get(path)
        (token,) = re.findall(r"/interview#([\w-]{32})", page.text)
        (sealed,) = re.findall(r"aip_new_link=\"?([\w=-]+)", sent.headers["set-cookie"])
        assert token not in f"{sent.headers}{urlsafe_b64decode(sealed)!r}"
        assert f"Path={path}; SameSite=strict" in sent.headers["set-cookie"]
        assert "Max-Age=0" in page.headers["set-cookie"]
        again = client.get(path)
        assert token not in again.text
        assert "was shown once" in again.text
        assert ">New link</button>" in again.text
        # Sent by another link than the present one, or broken, the cookie shows nothing.
        client.post(path, data={"protocol": "phq8"})
        for brought in (sealed, "x", "é"):
            client.cookies.clear()
            shown = client.get(path, headers={b"Cookie": f"aip_new_link={brought}".encode()})
            assert (shown.status_code, "/interview#" in shown.text) == (200, False)
        assert problem(opened(client, token)) == (410, "link_refused")


@pytest.mark.parametrize("what", ["assessments", "subjects"])
def test_what_is_erased_takes_the_interview_about_it_along(state: Path, what: str) -> None:
    with client_of(settings_with(state, **SETTINGS)) as client:
        path = assessed(client)
        _, token = asked_on_page(client, path)
        (listed,) = client.get("/v1/assessments").json()["assessments"]
        key = listed["assessment_id" if what == "assessments" else "subject_id"]
        assert client.delete(f"/v1/{what}/{key}").status_code == 204
        assert problem(opened(client, token)) == (410, "link_refused")
    with closing(sqlite3.connect(state / "store.sqlite")) as file:
        file.execute("ATTACH ? AS keys", (str(state / "keys.sqlite"),))
        left = file.execute(
            "SELECT id_hash FROM interviews UNION SELECT id FROM access_keys"
            " UNION SELECT id FROM keys.subjects"
        )
        assert left.fetchall() == []


@pytest.mark.parametrize(
    ("scopes", "status", "leads_to"),
    [
        ({Scope.REVIEW, Scope.ASSESS}, 303, ""),
        ({Scope.REVIEW, Scope.READ, Scope.ASSESS}, 303, ""),
        ({Scope.READ}, 403, None),
    ],
    ids=["rater", "rater_who_reads", "reader"],
)
def test_nobody_learns_scores_by_asking(
    state: Path, operator: httpx.Client, scopes: set[Scope], status: int, leads_to: str | None
) -> None:
    path = assessed(operator)
    asked_on_page(operator, path)
    with person_at(operator) as other:
        other.headers["X-API-Key"] = key_for(state, *scopes).text
        answer = other.post(f"{path}/interview", data={"protocol": "phq8"})
        assert answer.status_code == status
        if leads_to is not None:
            assert answer.headers["Location"] == path + leads_to
            assert other.get(f"{path}/interview").headers["Location"] == path
            assert "Tired" not in other.get(path).text
