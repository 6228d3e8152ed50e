"""Counts of what a campaign met."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from tests.integration.soundness import Json


@dataclass(slots=True)
class Tally:
    """Counts by title and name."""

    assessments: int = 0
    repeated: int = 0
    interviews: int = 0
    turns: int = 0
    """Answers that interviews took."""
    seconds: float = 0.0
    """Time of the slowest assessment."""
    counts: dict[str, Counter[str]] = field(default_factory=dict)

    def count(self, title: str, name: str, number: int = 1) -> None:
        """Add to one count."""
        self.counts.setdefault(title, Counter())[name] += number

    def add(self, other: "Tally") -> None:
        """Add the counts of another tally."""
        self.assessments += other.assessments
        self.repeated += other.repeated
        self.interviews += other.interviews
        self.turns += other.turns
        self.seconds = max(self.seconds, other.seconds)
        for title, counter in other.counts.items():
            self.counts.setdefault(title, Counter()).update(counter)

    def add_result(self, status: int, body: Json) -> None:
        """Count what a result or a problem says."""
        self.assessments += 1
        self.count("HTTP status", str(status))
        if status == 200:
            self.count("assessment", body["status"])
            self.count("risk level", body["risk"]["level"])
        if isinstance(body["attempts"], list):
            for attempt in body["attempts"]:
                self.count("attempt outcome", attempt["outcome"])
                self.count("attempt code", attempt["code"] or "none (accepted)")
        for failure in body["failures"]:
            self.count("failure code", str(failure["code"]))
        scores = body.get("quantitative", body) or {}
        for item in (scores.get("items") or {}).values():
            self.count("item", "unknown" if item["score"] is None else f"score {item['score']}")
            if item["unknown_reason"]:
                self.count("unknown reason", item["unknown_reason"])

    def lines(self) -> Iterator[str]:
        """Yield the counts as text."""
        yield (
            f"{self.assessments} assessments, {self.repeated} of them repeated, the slowest took "
            f"{self.seconds:.2f} s"
        )
        yield f"{self.interviews} interviews of {self.turns} turns"
        for title, counter in sorted(self.counts.items()):
            yield f"\n{title} ({counter.total()})"
            yield from (f"  {name:<28}{number:>10}" for name, number in counter.most_common())
