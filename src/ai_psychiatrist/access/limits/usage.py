"""What was used, what may be used, and which limit stands in the way."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from typing import Self

from ai_psychiatrist.access.limits.settings import LimitSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Of one credential on one day."""

    requests: int = 0
    calls: int = 0
    tokens: int = 0
    characters: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            requests=self.requests + other.requests,
            calls=self.calls + other.calls,
            tokens=self.tokens + other.tokens,
            characters=self.characters + other.characters,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Reached:
    """A limit that does not allow what is wanted."""

    setting: str
    limit: int
    left: int
    """What may still be used today."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The most of each; 0: any number."""

    most: Usage

    @classmethod
    def of(cls, settings: LimitSettings) -> Self:
        """Return the limits of the settings."""
        most = Usage(
            requests=settings.requests_per_day,
            calls=settings.calls_per_day,
            tokens=settings.tokens_per_day,
            characters=settings.characters_per_day,
        )
        return cls(most=most)

    @property
    def are_set(self) -> bool:
        """Whether there is any limit."""
        return self.most != Usage()

    def reached(self, used: Usage, wanted: Usage) -> Reached | None:
        """Return the first limit that does not allow what is wanted beside what was used."""
        for name, limit, before, more in self._each(used, wanted):
            if limit and more and before + more > limit:
                setting = f"LIMIT_{name.upper()}_PER_DAY"
                return Reached(setting=setting, limit=limit, left=max(0, limit - before))
        return None

    def _each(self, used: Usage, wanted: Usage) -> Iterator[tuple[str, int, int, int]]:
        for name in Usage.__slots__:
            yield name, getattr(self.most, name), getattr(used, name), getattr(wanted, name)


def seconds_to_midnight(now: datetime) -> int:
    """Return how long a day of UTC still has, at least 1."""
    tomorrow = now.astimezone(UTC).date() + timedelta(days=1)
    midnight = datetime.combine(tomorrow, time(), UTC)
    return max(1, int((midnight - now).total_seconds()) + 1)
