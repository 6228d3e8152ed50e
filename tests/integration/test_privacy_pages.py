"""What is said on the pages stays on them: logs, headers, addresses and files hold none of it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final
from urllib.parse import quote

import httpx

from tests.integration.canary import CANARY, INTERVIEW, assert_silent
from tests.integration.command import Serving
from tests.integration.running_app import client_at
from tests.patience import wait_until

ROUTES: Final = (
    "/",
    "/agreement",
    "/assessments/{assessment_id}",
    "/chosen/erase",
    "/chosen/export",
    "/chosen/rate",
    "/danger/progress",
    "/find",
    "/assessments/{assessment_id}/rate",
    "/assessments/{assessment_id}/acknowledge",
    "/assessments/{assessment_id}/adjudicate",
    "/interviews/{interview_id}",
    "/interviews/{interview_id}/reopen",
    "/interviews/{interview_id}/acknowledge",
    "/assessments/{assessment_id}/interview",
    "/assessments/{assessment_id}/interview/progress",
    "/assessments/{assessment_id}/interview/revoke",
    "/login",
    "/logout",
    "/new",
    "/next",
    "/static/{digest}/{name}",
    "/v1/assessments/{assessment_id}/html",
    "/v1/transcripts/preview",
)
"""What is driven here."""
_PAGES = ("/", "/new", "/login", "/login?refused=1", "/agreement", "/next", "/static/none/none")


def test_pages_keep_what_was_said_to_themselves(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    with Serving(home, {"LOG_LEVEL": "DEBUG", "LOG_FORMAT": "json"}) as serving:
        with client_at(serving.url) as client:
            shown = _use_everything(client)
        done = serving.stop()
    assert CANARY in shown
    assert_silent(done.out, done.err)
    paths = list(home.rglob("*"))
    assert_silent(*map(str, paths))
    assert_silent(*(path.read_text("utf-8", "replace") for path in paths if path.is_file()))


def _use_everything(client: httpx.Client) -> str:
    form = {"text": INTERVIEW, "subject": CANARY}
    begun = client.post("/new", data=form | {"action": "assess"})
    assert begun.status_code == 303
    place = begun.headers["Location"]
    wait_until(lambda: "under way" not in client.get(place).text)
    answers = [
        begun,
        client.post("/new", data=form | {"action": "preview", "label": CANARY, "role": CANARY}),
        client.post("/new", data={"text": CANARY * 2, "action": CANARY}),
        client.post("/new", content=CANARY),
        client.post("/v1/transcripts/preview", json={"transcript_text": INTERVIEW}),
        client.post("/v1/transcripts/preview", json={"transcript_text": f"{CANARY}: a\nB: b"}),
        client.post("/v1/transcripts/preview", json={CANARY: CANARY}),
        client.post(
            "/v1/assessments",
            content=INTERVIEW.encode(),
            headers={"Content-Type": "text/plain", "X-Subject": quote(CANARY)},
        ),
        *(client.get(page, params={"q": CANARY}) for page in _PAGES),
        *(client.get(place + part) for part in ("", "/rate", "/adjudicate", "?show=result")),
        client.post(f"{place}/acknowledge", data={"statement": CANARY, "note": CANARY}),
        client.post(f"{place}/acknowledge", data={"note": CANARY, "from": CANARY}),
        client.get(f"/v1{place}/html"),
        client.post(f"{place}/interview", data={"protocol": CANARY}),
        client.post(f"{place}/interview", data={"action": CANARY}),
        client.get(f"{place}/interview", params={"q": CANARY}),
        client.get(f"{place}/interview/progress"),
        client.get("/danger/progress", params={"q": CANARY}),
        client.get(f"/assessments/{CANARY}/interview/progress"),
        client.post(f"/assessments/{CANARY}/interview", data={CANARY: CANARY}),
        client.post(f"{place}/interview/revoke", data={CANARY: CANARY}),
        client.get(f"/assessments/{CANARY}"),
        *_held_interview(client),
        client.get("/"),
        *(client.post("/find", data={"subject": name}) for name in (CANARY, f"{CANARY}?")),
        client.get("/v1/assessments", headers={"X-Subject": quote(CANARY)}),
        *(
            client.post(f"/chosen/{does}", data={"id": one, "as": CANARY, "word": CANARY})
            for does in ("export", "rate", "erase")
            for one in (place.rpartition("/")[2], CANARY)
        ),
        client.get(f"/interviews/{CANARY}"),
        client.post(f"/interviews/{CANARY}/reopen", data={"reason": CANARY}),
        client.post(f"/interviews/{CANARY}/acknowledge", data={"note": CANARY}),
        client.post("/logout", data={"csrf": CANARY}),
    ]
    for answer in answers:
        assert answer.status_code != 500
        assert_silent(str(dict(answer.headers)))
        if "json" in answer.headers.get("Content-Type", "") and answer.is_error:
            assert_silent(answer.text.replace(f'"{CANARY}"', ""))
    return client.get(place).text


def _held_interview(client: httpx.Client) -> Iterator[httpx.Response]:
    """Hold an interview for what is said in it, and let it go on."""
    begun = client.post("/v1/interviews", json={"protocol": "phq8"}).json()["interview_id"]
    said = {"text": f"I want to kill myself, {CANARY}.", "idempotency_key": "k", "version": 1}
    yield client.post(f"/v1/interviews/{begun}/answers", json={"question_id": "q1", **said})
    for place in ("1-0-1", CANARY, ""):
        given = {"statement": place, "note": CANARY, "from": CANARY}
        yield client.post(f"/interviews/{begun}/acknowledge", data=given)
    for reason in (" ", CANARY * 2_000, CANARY, CANARY):
        yield client.get(f"/interviews/{begun}")
        yield client.post(f"/interviews/{begun}/reopen", data={"reason": reason})
    shown = client.get(f"/interviews/{begun}")
    assert f"{CANARY}</bdi>" in shown.text
    yield shown
