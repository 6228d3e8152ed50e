"""Rules for tests of re-validation."""

import json
from collections.abc import Mapping

from ai_psychiatrist.domain.failures import FailureStage
from ai_psychiatrist.pipelines.pipeline_run import StepChecks
from ai_psychiatrist.validation.checks.verdict import UnitError, Verdict


def at_most(
    limit: int,
    *,
    crashes_on: frozenset[str] = frozenset(),
    ruleset_digest: str = "rules",
    contexts: dict[str, bytes | None] | None = None,
) -> StepChecks:
    """Answers are objects whose score is at most `limit`; some units make the rules crash.

    `contexts`: takes what the rules were given for each unit.
    """

    def check(unit_id: str, raw: str, context: bytes | None) -> Verdict:
        if contexts is not None:
            contexts[unit_id] = context
        if unit_id in crashes_on:
            raise ZeroDivisionError(raw)
        value = parsed(raw)
        if value is None:
            return refused(FailureStage.PARSE, "parse_no_json")
        score = value.get("score")
        if isinstance(score, int) and score <= limit:
            return Verdict(value={"score": score})
        return refused(FailureStage.VALIDATION, f"at_most_{limit}")

    return StepChecks(check=check, ruleset_digest=ruleset_digest, schema_digest="schema")


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
