"""Where webhooks may go, how they are signed, what they say, and when they are tried again."""

import base64
import json
from datetime import UTC, datetime
from email.utils import format_datetime
from pathlib import Path

import pytest

from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.domain.record_state import RecordState
from ai_psychiatrist.jobs.engine import JobEnd, JobRef
from ai_psychiatrist.jobs.webhooks.event import event_body
from ai_psychiatrist.jobs.webhooks.places import CallbackRefused, destination_of, named_place
from ai_psychiatrist.jobs.webhooks.schedule import MOST_TRIES, asked_wait, wait_after
from ai_psychiatrist.jobs.webhooks.settings import WebhookSettings
from ai_psychiatrist.jobs.webhooks.signing import signature, signing_keys

PLACES = tuple(
    map(
        named_place,
        ("hooks.example.org", "hooks.example.org:8443", "Bücher.example", "127.0.0.1:9", "[::1]:9"),
    )
)
SECRET = "0123456789abcdef0123456789abcdef"


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("https://hooks.example.org/a?b=c@d", "hooks.example.org:443"),
        ("HTTPS://Hooks.Example.ORG:443", "hooks.example.org:443"),
        ("https://hooks.example.org:8443/", "hooks.example.org:8443"),
        ("https://bücher.example/", "xn--bcher-kva.example:443"),
        ("https://xn--bcher-kva.example/", "xn--bcher-kva.example:443"),
        ("http://127.0.0.1:9/x", "127.0.0.1:9"),
        ("http://[::1]:9/x", "[::1]:9"),
    ],
)
def test_address_of_a_named_host_is_taken(url: str, place: str) -> None:
    assert destination_of(url, PLACES, allows_http=True).place == place


@pytest.mark.parametrize(
    "url",
    [
        "https://other.example/",
        "https://hooks.example.org.evil.example/",
        "https://evil.hooks.example.org/",
        "https://hooks.example.org./",
        "https://hooks.example.org:444/",
        "http://hooks.example.org/",
        "http://hooks.example.org:443/",
        "https://user@hooks.example.org/",
        "https://@hooks.example.org/",
        "https://hooks.example.org@evil.example/",
        "https://hooks.example.org\\@evil.example/",
        "https://evil.example\\@hooks.example.org/",
        "https://hooks.example.org/#part",
        "https://hooks.example.org/#",
        "https://hooks.example.org /",
        "https://hooks.example.org/\r\nHost: evil",
        "https://hooks.example.org:0/",
        "https://hooks.example.org:99999/",
        "https://0x7f.1:9/",
        "http://2130706433:9/",
        "//hooks.example.org/",
        "ftp://hooks.example.org/",
        "//127.0.0.1:9/",
        "ftp://127.0.0.1:9/",
        "file:///etc/passwd",
        "https://",
        "",
        "https://hooks.example.org/" + "a" * 2_048,
    ],
)
def test_any_other_address_is_refused_without_being_quoted(url: str) -> None:
    with pytest.raises(CallbackRefused) as caught:
        destination_of(url, PLACES, allows_http=True)
    assert caught.value.field == "callback_url"
    assert "evil" not in str(caught.value)


def test_plain_http_is_refused_where_the_setting_does_not_allow_it() -> None:
    with pytest.raises(CallbackRefused, match="JOBS_WEBHOOK_ALLOW_HTTP"):
        destination_of("http://127.0.0.1:9/x", PLACES, allows_http=False)


def test_where_no_host_is_named_the_setting_is_the_cure() -> None:
    with pytest.raises(CallbackRefused, match="JOBS_WEBHOOK_HOSTS"):
        destination_of("https://hooks.example.org/", (), allows_http=True)


@pytest.mark.parametrize(
    "host", ["*", "*.example.org", "a/b", "a@b", "a?b", "a#b", "a b", "a:0", "a:x", ":443", "::1"]
)
def test_what_is_no_host_and_port_is_refused_as_a_setting(host: str) -> None:
    with pytest.raises(ValueError, match="a host is written"):
        WebhookSettings(hosts=(host,))


def test_signature_is_that_of_the_convention() -> None:
    """The values are those that the convention's own library makes."""
    made = signature(
        "msg_p5jXN8AQM9LWM0D4loKWxJek",
        1_614_265_330,
        b'{"test": 2432232314}',
        [base64.b64decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")],
    )
    assert made == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_each_of_two_secrets_signs() -> None:
    both = signature("msg_1", 1, b"{}", [b"a" * 32, b"b" * 32]).split(" ")
    assert both == [signature("msg_1", 1, b"{}", [letter * 32]) for letter in (b"a", b"b")]


def test_secrets_are_read_from_the_setting_or_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "secret"
    file.write_text(f"{SECRET}\nwhsec_{'QUFB' * 11}\n")
    keys = signing_keys(WebhookSettings(hosts=("a.example",), secret_file=file))
    assert keys == (SECRET.encode(), b"AAA" * 11)
    settings = WebhookSettings.model_validate({"hosts": ["a.example"], "secret": SECRET})
    assert signing_keys(settings) == (SECRET.encode(),)
    assert SECRET not in repr(settings)


@pytest.mark.parametrize(
    ("secret", "says"),
    [
        pytest.param("", "needs JOBS_WEBHOOK_SECRET", id="none"),
        pytest.param("short", "less than 32 bytes", id="short"),
        pytest.param("whsec_" + "QUFB" * 10, "less than 32 bytes", id="short when decoded"),
        pytest.param("whsec_" + "!" * 60, "less than 32 bytes", id="no base64"),
        pytest.param(" ".join([SECRET] * 3), "one secret, or two", id="three"),
    ],
)
def test_hosts_without_a_usable_secret_are_refused(secret: str, says: str) -> None:
    settings = WebhookSettings.model_validate({"hosts": ["a.example"], "secret": secret})
    with pytest.raises(ConfigurationError, match=says) as caught:
        signing_keys(settings)
    assert SECRET not in str(caught.value)


def test_two_places_of_the_secret_are_refused(tmp_path: Path) -> None:
    written = {"hosts": ["a.example"], "secret": SECRET, "secret_file": tmp_path / "none"}
    with pytest.raises(ConfigurationError, match="not both"):
        signing_keys(WebhookSettings.model_validate(written))
    with pytest.raises(ConfigurationError, match="JOBS_WEBHOOK_SECRET_FILE cannot be read"):
        signing_keys(WebhookSettings.model_validate({**written, "secret": ""}))


def test_body_names_the_job_and_its_end() -> None:
    end = JobEnd(
        job=JobRef(tenant="clinic", id="j-1"),
        state=RecordState.FAILED,
        reason="timed_out",
        created_at=datetime.fromtimestamp(1_700_000_000.25, UTC),
        ended_at=datetime.fromtimestamp(1_700_000_090.25, UTC),
    )
    body = event_body("msg_1", end, batch="b-1")
    assert json.loads(body) == {
        "id": "msg_1",
        "type": "job.failed",
        "timestamp": "2023-11-14T22:14:50.250Z",
        "data": {
            "job_id": "j-1",
            "batch_id": "b-1",
            "state": "failed",
            "reason": "timed_out",
            "created_at": "2023-11-14T22:13:20.250Z",
            "ended_at": "2023-11-14T22:14:50.250Z",
        },
    }


def test_twelve_tries_take_about_a_day() -> None:
    waits = [wait_after(tries, draw=lambda: 0.5) for tries in range(1, MOST_TRIES)]
    assert waits[0] == 5.0
    assert max(waits) == 6 * 3_600.0
    assert waits == sorted(waits)
    assert 20 * 3_600 < sum(waits) < 24 * 3_600


@pytest.mark.parametrize("tries", [1, 5, 11, 12])
def test_waits_are_spread_by_a_fifth(tries: int) -> None:
    middle = wait_after(tries, draw=lambda: 0.5)
    assert wait_after(tries, draw=lambda: 0.0) == pytest.approx(middle * 0.8)
    assert wait_after(tries, draw=lambda: 1.0) == pytest.approx(middle * 1.2)


def test_receiver_that_asks_for_longer_is_waited_for_up_to_a_day() -> None:
    assert wait_after(1, 600.0) == 600.0
    assert wait_after(1, 1e9) == 86_400.0
    assert wait_after(1, 0.0) < 7.0


@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        ("120", 120.0),
        (" 7 ", 7.0),
        (format_datetime(datetime.fromtimestamp(1_060, UTC), usegmt=True), 60.0),
        (format_datetime(datetime.fromtimestamp(10, UTC), usegmt=True), 0.0),
        ("soon", None),
        ("-5", None),
        ("²", None),
        ("9" * 5_000, 999_999_999.0),
        (None, None),
    ],
)
def test_what_retry_after_asks_for(written: str | None, seconds: float | None) -> None:
    assert asked_wait(written, now=1_000.0) == seconds
