"""Where webhooks may go, how they are signed, what they say, and when they are tried again."""

import math
from datetime import UTC, datetime
from email.utils import format_datetime
from pathlib import Path

import pytest

from ai_psychiatrist.domain.errors import ConfigurationError, InputError
from ai_psychiatrist.jobs.settings import WebhookSettings, callback_host, signing_keys
from ai_psychiatrist.jobs.webhooks import asked_wait, wait_after
from ai_psychiatrist.store.deliveries import MOST_TRIES

SETTINGS = WebhookSettings(
    hosts=(
        "hooks.example.org",
        "hooks.example.org:8443",
        "Bücher.example",
        "127.0.0.1:9",
        "[::1]:9",
    ),
    allow_http=True,
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
    assert callback_host(url, SETTINGS) == place


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
    with pytest.raises(InputError) as caught:
        callback_host(url, SETTINGS)
    assert caught.value.field == "callback_url"
    assert "evil" not in str(caught.value)


def test_plain_http_is_refused_where_the_setting_does_not_allow_it() -> None:
    settings = SETTINGS.model_copy(update={"allow_http": False})
    with pytest.raises(InputError, match="JOBS_WEBHOOK_ALLOW_HTTP"):
        callback_host("http://127.0.0.1:9/x", settings)


def test_where_no_host_is_named_the_setting_is_the_cure() -> None:
    with pytest.raises(InputError, match="JOBS_WEBHOOK_HOSTS"):
        callback_host("https://hooks.example.org/", WebhookSettings(allow_http=True))


@pytest.mark.parametrize(
    "host", ["*", "*.example.org", "a/b", "a@b", "a?b", "a#b", "a b", "a:0", "a:x", ":443", "::1"]
)
def test_what_is_no_host_and_port_is_refused_as_a_setting(host: str) -> None:
    with pytest.raises(ValueError, match="a host is written"):
        WebhookSettings(hosts=(host,))


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
        ("9" * 5_000, math.inf),
        ("Sun, 06 Nov 1994 08:49:37", None),
        (None, None),
    ],
)
def test_what_retry_after_asks_for(written: str | None, seconds: float | None) -> None:
    assert asked_wait(written, now=datetime.fromtimestamp(1_000, UTC)) == seconds
