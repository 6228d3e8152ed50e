"""Counts of a day, and logins that fail."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ai_psychiatrist.access.limits.day_counts import DayCounts
from ai_psychiatrist.access.limits.failed_logins import (
    MOST_FAILURES,
    WINDOW_SECONDS,
    FailedLogins,
)
from ai_psychiatrist.access.limits.usage import Limits, Usage, seconds_to_midnight
from ai_psychiatrist.domain.access import LOCAL

MORNING = datetime(2026, 3, 4, 9, tzinfo=UTC)


def test_a_new_day_begins_with_nothing_used(tmp_path: Path) -> None:
    times = [MORNING]
    counts = DayCounts(
        path=tmp_path / "limits.sqlite", limits=Limits(most=Usage(requests=1)), now=lambda: times[0]
    )
    one = Usage(requests=1)
    assert counts.take(LOCAL, one) is None
    reached = counts.take(LOCAL, one)
    assert reached is not None
    assert (reached.setting, reached.limit, reached.left) == ("LIMIT_REQUESTS_PER_DAY", 1, 0)
    times[0] += timedelta(days=1)
    assert counts.take(LOCAL, one) is None
    counts.close()


@pytest.mark.parametrize(
    ("now", "seconds"),
    [
        (datetime(2026, 3, 4, 0, tzinfo=UTC), 86_401),
        (datetime(2026, 3, 4, 23, 59, 59, tzinfo=UTC), 2),
        (datetime(2026, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC), 1),
    ],
)
def test_the_day_ends_at_midnight_utc(now: datetime, seconds: int) -> None:
    assert seconds_to_midnight(now) == seconds


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
