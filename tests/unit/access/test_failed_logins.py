"""Logins that fail."""

import pytest

from ai_psychiatrist.access.failed_logins import (
    MOST_FAILURES,
    WINDOW_SECONDS,
    FailedLogins,
)


def test_an_address_is_not_heard_after_so_many_failures_until_the_time_is_over() -> None:
    clock = [0.0]
    failures = FailedLogins(clock=lambda: clock[0])
    for _ in range(MOST_FAILURES):
        assert failures.seconds_to_wait("192.0.2.1") == 0
        failures.failed("192.0.2.1")
    assert failures.seconds_to_wait("192.0.2.1") == WINDOW_SECONDS + 1
    assert failures.seconds_to_wait("192.0.2.2") == 0
    clock[0] = WINDOW_SECONDS
    assert failures.seconds_to_wait("192.0.2.1") == 0


def test_a_login_that_succeeds_forgets_the_failures() -> None:
    failures = FailedLogins()
    for _ in range(MOST_FAILURES - 1):
        failures.failed("192.0.2.1")
    failures.succeeded("192.0.2.1")
    failures.failed("192.0.2.1")
    assert failures.seconds_to_wait("192.0.2.1") == 0


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("2001:db8::1", "2001:db8::ffff:2"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("", "no address"),
    ],
)
def test_addresses_of_one_network_count_as_one(first: str, second: str) -> None:
    failures = FailedLogins()
    for _ in range(MOST_FAILURES):
        failures.failed(first)
    assert failures.seconds_to_wait(second) > 0


def test_memory_stays_bounded_whatever_addresses_come() -> None:
    failures = FailedLogins()
    for number in range(10_050):
        failures.failed(f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}")
    assert len(failures._by_network) == 10_000
