"""Who did what leaves a row before it is answered, and nothing is shown where no row can be."""

import json
import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi.routing import iter_route_contexts

from ai_psychiatrist.api.app import create_app
from ai_psychiatrist.api.audited_actions import (
    ACTIONS,
    ACTIONS_WHERE_STORED,
    RouteKey,
)
from tests.integration.command_here import run_here
from tests.integration.running_app import client_of, settings_with
from tests.integration.stored import TEXT

FORGE_HEAD = "UPDATE keys.audit_heads SET n = n + 1000"
MEND_HEAD = "UPDATE keys.audit_heads SET n = n - 1000"
REMOVE_HEAD = "DELETE FROM keys.audit_heads"
EDIT_END = "UPDATE audit SET seal = '' WHERE n = (SELECT max(n) FROM audit)"
REMOVE_END = "DELETE FROM audit WHERE n = (SELECT max(n) FROM audit)"
DOCS = Path(__file__).parents[2] / "docs" / "privacy.md"
NO_INTERVIEW = "A" * 32
NOISE = b"nothing of use " * 400
NO_KEYS = "ALTER TABLE keys.access_keys RENAME TO gone"
KEY_OPTIONS = ("--name", "ward", "--scope", "read")
_UNDER_TWO_NAMES = {
    RouteKey("GET", "/health"): "about the service",
    RouteKey("GET", "/healthz"): "about the service",
    RouteKey("GET", "/readyz"): "about the service",
    RouteKey("GET", "/metrics"): "about the service",
}
UNTRACED = {
    **_UNDER_TWO_NAMES,
    **{
        RouteKey(method, "/v1" + path): reason
        for (method, path), reason in _UNDER_TWO_NAMES.items()
    },
    RouteKey("GET", "/v1/jobs/{job_id}"): "how far it is, asked by an id that nobody guesses",
    RouteKey(
        "GET", "/v1/jobs/{job_id}/events"
    ): "how far it is, asked by an id that nobody guesses",
    RouteKey("GET", "/v1/batches/{batch_id}"): "how far it is, asked by an id that nobody guesses",
    RouteKey("GET", "/v1/session"): "who one is oneself",
    RouteKey("POST", "/v1/transcripts/preview"): "stores nothing",
    RouteKey("GET", "/new"): "an empty form",
    RouteKey("GET", "/login"): "an empty form",
    RouteKey("POST", "/chosen/export"): "leads to the export, which has a row",
    RouteKey("GET", "/interview"): "the same to everybody",
    RouteKey(
        "GET", "/assessments/{assessment_id}/interview/progress"
    ): "whether there is more to be shown, asked every few seconds",
    RouteKey("GET", "/danger/progress"): "whether there is more to be shown, asked as often",
    RouteKey("GET", "/static/{digest}/{name}"): "about the service",
    RouteKey("GET", "/openapi.json"): "about the service",
    RouteKey("GET", "/docs"): "about the service",
    RouteKey("GET", "/docs/{name}"): "about the service",
}
"""Every other route, and why it leaves no row."""


@pytest.fixture
def client(tmp_path: Path) -> Iterator[httpx.Client]:
    """A server whose state lies where the commands of the same folder look for it."""
    with client_of(settings_with(tmp_path / "state", MODEL_DEFAULT="baseline")) as one:
        yield one


def begin(client: httpx.Client) -> str:
    """Begin an interview and return its id."""
    answer = client.post("/v1/interviews", json={"protocol": "phq8"})
    assert answer.status_code == 201, answer.text
    interview_id: str = answer.json()["interview_id"]
    return interview_id


def edit(folder: Path, *statements: str) -> None:
    """Change the files of a state folder as an attacker would who has no key."""
    with closing(sqlite3.connect(folder / "state" / "store.sqlite")) as connection, connection:
        connection.execute("ATTACH ? AS keys", (str(folder / "state" / "keys.sqlite"),))
        for trigger in ("audit_never_change", "audit_is_never_deleted"):
            connection.execute(f"DROP TRIGGER IF EXISTS {trigger}")
        for statement in statements:
            connection.execute(statement)


def shown(folder: Path, *options: str) -> list[dict[str, Any]]:
    """Return the rows that the command prints."""
    done = run_here(["audit", "show", "--json", *options], folder)
    assert done.code == 0, done.err
    return [json.loads(line) for line in done.out.splitlines()]


def test_every_route_leaves_a_row_or_says_why_it_leaves_none() -> None:
    routes = {
        RouteKey(method, str(route.path))
        for route in iter_route_contexts(create_app(settings_with(Path())).routes)
        for method in getattr(route, "methods", None) or ()
        if method != "HEAD"
    }
    traced = ACTIONS | ACTIONS_WHERE_STORED
    assert routes - traced.keys() - UNTRACED.keys() == set()
    assert not traced.keys() & UNTRACED.keys()


def test_what_is_done_to_an_interview_is_told_by_the_command(
    client: httpx.Client, tmp_path: Path
) -> None:
    interview_id = begin(client)
    client.get(f"/v1/interviews/{interview_id}")
    client.delete(f"/v1/interviews/{interview_id}")
    client.get(f"/v1/interviews/{interview_id}")
    rows = shown(tmp_path)
    assert [(row["action"], row["outcome"]) for row in rows] == [
        ("interview_begun", "begun"),
        ("interview_begun", "201"),
        ("interview_seen", "200"),
        ("interview_erased", "begun"),
        ("interview_erased", "204"),
        ("interview_seen", "404"),
    ]
    assert {row["actor"] for row in rows} == {"local"}
    assert len({row["object"] for row in rows[1:]}) == 1
    assert interview_id not in json.dumps(rows)
    assert shown(tmp_path, "--record", interview_id) == rows[1:]
    assert shown(tmp_path, "--limit", "2") == rows[-2:]


def test_who_lists_jobs_and_so_levels_of_danger_is_told(
    client: httpx.Client, tmp_path: Path
) -> None:
    assert client.get("/v1/jobs").status_code == 200
    rows = shown(tmp_path)
    assert [(row["action"], row["outcome"]) for row in rows] == [("assessments_listed", "200")]


def test_the_log_is_checked_by_the_command(client: httpx.Client, tmp_path: Path) -> None:
    client.get(f"/v1/interviews/{NO_INTERVIEW}")
    head = run_here(["audit", "head"], tmp_path).out.strip()
    assert head.startswith("1:")
    whole = run_here(["audit", "verify", "--head", head], tmp_path)
    against = "checked against the head that is kept here"
    assert (whole.code, whole.out) == (
        0,
        f"local: holds, head {head}; {against} and the head given\n",
    )
    alone = run_here(["audit", "verify"], tmp_path)
    assert (alone.code, alone.out) == (0, f"local: holds, head {head}; {against}\n")
    other = run_here(["audit", "verify", "--head", f"2:{'0' * 64}"], tmp_path)
    assert (other.code, other.out) == (1, "local: row 2: missing\n")
    wrong = run_here(["audit", "verify", "--head", "last"], tmp_path)
    assert wrong.code == 2
    assert "NUMBER:DIGEST" in wrong.err


def test_nothing_is_shown_or_changed_where_the_log_takes_no_row(
    client: httpx.Client, tmp_path: Path
) -> None:
    interview_id = begin(client)
    edit(tmp_path, FORGE_HEAD)
    for method in ("GET", "DELETE"):
        answer = client.request(method, f"/v1/interviews/{interview_id}")
        assert answer.status_code == 503
        assert answer.json()["code"] == "audit_unavailable"
        assert answer.headers["retry-after"] == "60"
        assert "question" not in answer.text
    assert client.get("/healthz").status_code == 200
    edit(tmp_path, MEND_HEAD)
    assert client.get(f"/v1/interviews/{interview_id}").status_code == 200


def test_an_id_that_is_made_of_words_is_not_written_down(
    client: httpx.Client, tmp_path: Path
) -> None:
    client.get("/v1/interviews/quillaya")
    client.head("/v1/interviews/quillaya")
    assert [row["outcome"] for row in shown(tmp_path)] == ["404", "404"]
    for path in (tmp_path / "state").rglob("*"):
        assert path.is_dir() or b"quillaya" not in path.read_bytes()


def test_logins_and_those_that_fail_leave_rows_without_the_key(tmp_path: Path) -> None:
    settings = settings_with(tmp_path / "state", MODEL_DEFAULT="baseline", AUTH_REQUIRED="true")
    made = run_here(
        ["keys", "create", "--name", "ward", "--scope", "read", "--tenant", "one"], tmp_path
    )
    key = made.out.strip()
    with client_of(settings) as client:
        assert client.post("/v1/session", json={"key": f"{key}x"}).status_code == 401
        form = client.post("/v1/session", data={"key": f"{key}x"})
        assert form.status_code == 303
        assert client.post("/v1/session", json={"key": key}).status_code == 201
    refused = shown(tmp_path, "--tenant", "_nobody")
    assert [(row["actor"], row["action"], row["outcome"]) for row in refused] == [
        ("nobody", "logins_refused", "2")
    ]
    rows = [row for row in shown(tmp_path, "--tenant", "one") if row["actor"] != "command"]
    assert [(row["action"], row["outcome"]) for row in rows] == [("session_begun", "201")]
    assert rows[0]["actor"].startswith("key:")
    assert key not in json.dumps([*refused, *rows])


def test_logins_that_fail_again_and_again_are_not_heard(tmp_path: Path) -> None:
    settings = settings_with(tmp_path / "state", MODEL_DEFAULT="baseline", AUTH_REQUIRED="true")
    with client_of(settings) as client:
        tries = [client.post("/v1/session", json={"key": "aip_a_b"}) for _ in range(11)]
        assert [one.status_code for one in tries] == [401] * 10 + [429]
        assert tries[-1].json()["code"] == "too_many_logins"
        assert 0 < int(tries[-1].headers["retry-after"]) <= 301
        assert client.get("/healthz").status_code == 200
    assert [row["outcome"] for row in shown(tmp_path, "--tenant", "_nobody")] == ["11"]


@pytest.mark.parametrize(
    ("method", "sent"),
    [
        ("POST", {"json": {"key": 1}}),
        ("POST", {"json": []}),
        ("POST", {"content": b"{"}),
        ("POST", {"data": {"rater": "A"}}),
        ("DELETE", {}),
    ],
    ids=["a key that is none", "a list", "no JSON", "a form", "an end of no session"],
)
def test_whatever_strangers_send_is_counted_and_written_down_once(
    tmp_path: Path, method: str, sent: dict[str, Any]
) -> None:
    """Else the disk would be theirs to fill."""
    settings = settings_with(tmp_path / "state", MODEL_DEFAULT="baseline", AUTH_REQUIRED="true")
    with client_of(settings) as client:
        for _ in range(10):
            assert client.request(method, "/v1/session", **sent).status_code in {303, 401, 400, 422}
        assert run_here(["audit", "verify"], tmp_path).out == "There is no audit log yet.\n"
        answer = client.post("/v1/session", json={"key": "aip_a_b"})
        assert answer.json()["code"] == "too_many_logins"
    assert [(row["action"], row["outcome"]) for row in shown(tmp_path, "--tenant", "_nobody")] == [
        ("logins_refused", "11")
    ]


def test_what_strangers_are_refused_is_not_lost_where_the_log_takes_no_row(
    tmp_path: Path,
) -> None:
    settings = settings_with(tmp_path / "state", MODEL_DEFAULT="baseline", AUTH_REQUIRED="true")
    assert run_here(["keys", "create", *KEY_OPTIONS], tmp_path).code == 0
    edit(tmp_path, "INSERT INTO keys.audit_heads VALUES ('_nobody', 0, '', 'forged')")
    with client_of(settings) as client:
        assert client.post("/v1/session", json={"key": "aip_a_b"}).status_code == 401
        edit(tmp_path, "DELETE FROM keys.audit_heads WHERE tenant = '_nobody'")
    assert [row["outcome"] for row in shown(tmp_path, "--tenant", "_nobody")] == ["1"]


def test_keys_made_and_revoked_by_command_leave_rows(tmp_path: Path) -> None:
    made = run_here(["keys", "create", "--name", "quillaya", "--scope", "read", "--json"], tmp_path)
    assert made.code == 0, made.err
    assert run_here(["keys", "revoke", json.loads(made.out)["id"]], tmp_path).code == 0
    rows = shown(tmp_path)
    assert [(row["actor"], row["action"], row["outcome"]) for row in rows] == [
        ("command", "key_created", "begun"),
        ("command", "key_created", "done"),
        ("command", "key_revoked", "begun"),
        ("command", "key_revoked", "done"),
    ]
    assert "quillaya" not in json.dumps(rows)


@pytest.mark.parametrize("path", ["/full_pipeline", "/v1/assess/quantitative"])
def test_an_assessment_that_the_settings_store_leaves_rows(tmp_path: Path, path: str) -> None:
    settings = settings_with(tmp_path / "state", MODEL_DEFAULT="baseline", STORE_ASSESSMENTS="true")
    with client_of(settings) as client:
        made = client.post(path, json={"transcript_text": TEXT})
        client.get(f"/v1/assessments/{made.json()['assessment_id']}")
    begun, done, seen = shown(tmp_path)
    assert [row["action"] for row in (begun, done)] == ["assessment_made"] * 2
    assert [row["outcome"] for row in (begun, done)] == ["begun", "200"]
    assert done["object"] == seen["object"] != ""


def test_an_assessment_that_is_not_stored_leaves_no_row(
    client: httpx.Client, tmp_path: Path
) -> None:
    assert client.post("/full_pipeline", json={"transcript_text": TEXT}).status_code == 200
    assert run_here(["audit", "verify"], tmp_path).out == "There is no audit log yet.\n"


def test_what_the_commands_do_to_stored_assessments_leaves_rows(
    client: httpx.Client, tmp_path: Path
) -> None:
    subject = {"transcript_text": TEXT, "subject": "S1"}
    one, _ = (client.post("/v1/assessments", json=subject).json() for _ in range(2))
    before = len(shown(tmp_path))
    listed = run_here(["records", "list", "--json"], tmp_path).out.splitlines()
    subject_id = json.loads(listed[0])["subject_id"]
    for words in (
        ["erase", one["assessment_id"]],
        ["erase", "--subject", subject_id],
        ["sweep"],
        ["rotate-key"],
        ["export", "--out", str(tmp_path / "all.jsonl")],
        ["import", str(tmp_path / "all.jsonl")],
    ):
        done = run_here(["records", *words], tmp_path)
        assert done.code == 0, done.err
    assert run_here(["records", "erase", one["assessment_id"]], tmp_path).code != 0
    rows = [(row["action"], row["outcome"]) for row in shown(tmp_path)[before:]]
    assert rows == [
        *(("assessment_erased", "begun"), ("assessment_erased", "done")),
        *(("subject_erased", "begun"), ("subject_erased", "done")),
        *(("records_swept", "begun"), ("records_swept", "done")),
        *(("encryption_key_rotated", "begun"), ("encryption_key_rotated", "done")),
        *(("records_exported", "begun"), ("records_exported", "done")),
        *(("records_imported", "begun"), ("records_imported", "done")),
        *(("assessment_erased", "begun"), ("assessment_erased", "failed")),
    ]
    assert run_here(["audit", "verify"], tmp_path).code == 0


BROKEN = pytest.mark.parametrize(
    "spoil",
    [EDIT_END, REMOVE_END, FORGE_HEAD, REMOVE_HEAD],
    ids=["edited", "cut off", "forged head", "head gone"],
)


def test_the_broken_log_of_one_tenant_hides_no_other_from_the_check(tmp_path: Path) -> None:
    for tenant in ("a-ward", "b-ward", "c-ward"):
        made = run_here(["keys", "create", *KEY_OPTIONS, "--tenant", tenant], tmp_path)
        assert made.code == 0, made.err
    edit(
        tmp_path,
        "UPDATE audit SET actor = CAST(x'ff' AS TEXT) WHERE tenant = 'a-ward'",
        "DELETE FROM audit WHERE tenant = 'b-ward'",
    )
    done = run_here(["audit", "verify"], tmp_path)
    broken, empty, whole = done.out.splitlines()
    assert (done.code, done.err) == (1, "")
    assert broken == "a-ward: unreadable"
    assert empty == "b-ward: rows 1-2: missing"
    assert whole.startswith("c-ward: holds, head 2:")


@BROKEN
def test_a_key_is_revoked_whatever_became_of_the_log(tmp_path: Path, spoil: str) -> None:
    made = [
        json.loads(run_here(["keys", "create", *KEY_OPTIONS, "--json"], tmp_path).out) for _ in "12"
    ]
    edit(tmp_path, spoil)
    done = run_here(["keys", "revoke", made[0]["id"]], tmp_path)
    assert (done.code, done.out) == (1, f"revoked {made[0]['id']}\n")
    (told,) = done.err.splitlines()
    assert told.startswith("warning: done, but the audit log took no row: ")
    listed = run_here(["keys", "list", "--json"], tmp_path)
    assert listed.code == 0
    states = {key["id"]: key["state"] for key in json.loads(listed.out)}
    assert states == {made[0]["id"]: "revoked", made[1]["id"]: "live"}
    assert run_here(["keys", "revoke", "000000000000"], tmp_path).code == 2
    refused = run_here(["keys", "create", *KEY_OPTIONS], tmp_path)
    assert (refused.code, refused.out) == (2, "")


@BROKEN
def test_records_are_erased_whatever_became_of_the_log_and_nothing_else_is_done(
    tmp_path: Path, spoil: str
) -> None:
    settings = settings_with(tmp_path / "state", MODEL_DEFAULT="baseline")
    with client_of(settings) as client:
        for subject in "123":
            body = {"transcript_text": TEXT, "subject": subject}
            assert client.post("/v1/assessments", json=body).status_code == 201
    lines = [json.loads(line) for line in _listed(tmp_path)]
    edit(tmp_path, spoil)
    for words in ([lines[0]["assessment_id"]], ["--subject", lines[1]["subject_id"]]):
        done = run_here(["records", "erase", *words], tmp_path)
        assert (done.code, done.out.startswith("erased 1 assessment")) == (1, True)
        assert len(done.err.splitlines()) == 1
    assert [json.loads(line)["assessment_id"] for line in _listed(tmp_path)] == [
        lines[2]["assessment_id"]
    ]
    for words in (["sweep"], ["rotate-key"], ["export", "--out", "all.jsonl"]):
        assert run_here(["records", *words], tmp_path).code == 2


def _listed(folder: Path) -> list[str]:
    return run_here(["records", "list", "--json"], folder).out.splitlines()


@BROKEN
def test_a_server_whose_log_takes_no_row_is_not_ready(tmp_path: Path, spoil: str) -> None:
    settings = settings_with(tmp_path / "state", MODEL_DEFAULT="baseline")
    with client_of(settings) as client:
        assert client.get("/v1/jobs").status_code == 200
        assert client.get("/readyz").status_code == 200
    edit(tmp_path, spoil)
    with client_of(settings) as client:
        ready = client.get("/readyz")
        assert (ready.status_code, ready.json()["code"]) == (503, "audit_unavailable")
        assert client.get("/v1/jobs").status_code == 503


@pytest.mark.parametrize(
    ("spoil", "code"),
    [
        (lambda state: (state / "store.sqlite").write_bytes(NOISE), "assessments_unavailable"),
        (lambda state: (state / "keys.sqlite").write_bytes(NOISE), "assessments_unavailable"),
        (lambda state: (state / "records.key").chmod(0o644), "audit_unavailable"),
    ],
    ids=["store", "keys", "key of seals"],
)
def test_a_server_that_is_not_ready_names_the_part(
    tmp_path: Path, spoil: Callable[[Path], object], code: str
) -> None:
    assert run_here(["keys", "create", *KEY_OPTIONS], tmp_path).code == 0
    settings = settings_with(tmp_path / "state", MODEL_DEFAULT="baseline")
    with client_of(settings) as client:
        spoil(tmp_path / "state")
        ready = client.get("/readyz")
        assert (ready.status_code, ready.json()["code"]) == (503, code)


def test_a_server_that_loses_its_keys_while_it_runs_is_not_ready(tmp_path: Path) -> None:
    with client_of(settings_with(tmp_path / "state", MODEL_DEFAULT="baseline")) as client:
        assert client.get("/v1/jobs").status_code == 200
        edit(tmp_path, NO_KEYS)
        ready = client.get("/readyz")
        assert (ready.status_code, ready.json()["code"]) == (503, "entrance_unusable")


def test_a_log_that_takes_no_row_is_begun_anew_as_the_documentation_says(tmp_path: Path) -> None:
    assert run_here(["keys", "create", *KEY_OPTIONS], tmp_path).code == 0
    edit(tmp_path, REMOVE_HEAD)
    assert run_here(["keys", "create", *KEY_OPTIONS], tmp_path).code == 2
    (statements,) = re.findall(r"```sql\n(.*?)```", DOCS.read_text("utf-8"), re.DOTALL)
    state = tmp_path / "state"
    with closing(sqlite3.connect(state / "store.sqlite")) as connection:
        connection.execute(
            "CREATE TRIGGER IF NOT EXISTS audit_is_never_deleted BEFORE DELETE ON audit "
            "BEGIN SELECT 1; END"
        )
        attached = statements.replace("'keys.sqlite'", f"'{state / 'keys.sqlite'}'")
        connection.executescript(attached)
    assert run_here(["keys", "create", *KEY_OPTIONS], tmp_path).code == 0
    assert run_here(["audit", "verify"], tmp_path).out.startswith("local: holds, head 2:")
    with (
        closing(sqlite3.connect(state / "store.sqlite")) as connection,
        pytest.raises(sqlite3.IntegrityError, match="append-only"),
    ):
        connection.execute("DELETE FROM audit")
