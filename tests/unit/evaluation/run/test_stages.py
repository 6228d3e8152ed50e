from collections.abc import Sequence

import pytest

from ai_psychiatrist.domain.failures import (
    Attempt,
    AttemptOutcome,
    CallPath,
    FailureCode,
    FailureStage,
    RejectionCode,
    stage_of_code,
)
from ai_psychiatrist.evaluation.runs.unit import stage_of_unit


def attempts(*codes: tuple[str, RejectionCode | FailureCode | None]) -> Sequence[Attempt]:
    return [
        Attempt(
            agent=agent,
            model="m",
            path=CallPath.AGENT,
            outcome=AttemptOutcome.ACCEPTED if code is None else AttemptOutcome.REJECTED,
            code=code,
            prompt_digest="",
            reply_characters=0,
            repaired=False,
            coercions=0,
            input_tokens=None,
            output_tokens=None,
            duration_ms=0.0,
        )
        for agent, code in codes
    ]


@pytest.mark.parametrize(
    ("code", "stage"),
    [
        (None, None),
        (RejectionCode.NO_JSON, FailureStage.PARSE),
        (RejectionCode.SCORE_INVALID, FailureStage.SCHEMA_VALIDATION),
        (RejectionCode.RULE_BROKEN, FailureStage.VALIDATION),
        (FailureCode.TIMED_OUT, FailureStage.PROVIDER),
        (FailureCode.DEADLINE_EXCEEDED, FailureStage.PIPELINE_INTERNAL),
    ],
    ids=str,
)
def test_code_has_its_stage(
    code: RejectionCode | FailureCode | None, stage: FailureStage | None
) -> None:
    assert stage_of_code(code) is stage


def test_unit_fails_where_its_first_agent_without_output_did() -> None:
    failed = attempts(
        ("evidence", RejectionCode.NO_JSON),
        ("evidence", None),
        ("quantitative", RejectionCode.SCORE_INVALID),
        ("meta_review", FailureCode.TIMED_OUT),
    )
    assert stage_of_unit(failed) is FailureStage.SCHEMA_VALIDATION


def test_unit_whose_calls_all_ended_well_failed_in_the_program() -> None:
    assert stage_of_unit(attempts(("evidence", None))) is FailureStage.PIPELINE_INTERNAL
