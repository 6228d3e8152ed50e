"""Rules for tests of re-validation."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from ai_psychiatrist.domain.failures import FailureStage
from ai_psychiatrist.validation.checks.verdict import UnitError, Verdict


@dataclass(frozen=True, kw_only=True)
class AtMost:
    """Answers are objects whose score is at most `limit`; some units make the rules crash."""

    limit: int
    crashes_on: frozenset[str] = frozenset()
    ruleset_digest: str = "rules"
    schema_digest: str = "schema"
    contexts: dict[str, bytes | None] = field(default_factory=dict)
    """What the rules were given for each unit."""

    def check(self, unit_id: str, raw: str, context: bytes | None) -> Verdict:
        """Return the verdict on an answer."""
        self.contexts[unit_id] = context
        if unit_id in self.crashes_on:
            raise ZeroDivisionError(raw)
        value = parsed(raw)
        if value is None:
            return refused(FailureStage.PARSE, "parse_no_json")
        score = value.get("score")
        if isinstance(score, int) and score <= self.limit:
            return Verdict(value={"score": score})
        return refused(FailureStage.VALIDATION, f"at_most_{self.limit}")


def parsed(raw: str) -> Mapping[str, object] | None:
    """Return an answer as an object."""
    try:
        value = json.loads(raw)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def refused(stage: FailureStage, rule: str) -> Verdict:
    """Return a verdict against an answer."""
    return Verdict(value=None, stage=stage, errors=(UnitError(rule=rule, message="too high"),))
