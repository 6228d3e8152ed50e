import asyncio

from tests.fakes.captured_events import captured_events

from ai_psychiatrist.domain.failures import (
    FailureCategory,
    FailureCode,
    FailureRecord,
    FailureSeverity,
)
from ai_psychiatrist.infrastructure.logging import collect_failures, record_failure


def record(stage: str) -> None:
    record_failure(
        FailureCategory.AGENT_FAILED,
        FailureSeverity.ERROR,
        "No model of the chain gave an acceptable reply.",
        stage=stage,
        code=FailureCode.TIMED_OUT,
        participant_id=300,
        extracted_count=2,
    )


def test_failure_is_collected_with_its_context() -> None:
    with collect_failures() as failures:
        record("evidence")
    assert failures == [
        FailureRecord(
            category=FailureCategory.AGENT_FAILED,
            severity=FailureSeverity.ERROR,
            message="No model of the chain gave an acceptable reply.",
            stage="evidence",
            code=FailureCode.TIMED_OUT,
            context={"extracted_count": 2},
        )
    ]


def test_failure_is_logged_in_codes() -> None:
    with captured_events() as events:
        record("evidence")
    assert events == [
        {
            "event": "failure_recorded",
            "log_level": "warning",
            "category": "agent_failed",
            "severity": "error",
            "stage": "evidence",
            "code": "timed_out",
            "participant_id": 300,
            "extracted_count": 2,
        }
    ]


def test_failures_of_tasks_are_collected_where_the_tasks_were_started() -> None:
    async def assess(name: str) -> list[str]:
        with collect_failures() as failures:
            async with asyncio.TaskGroup() as group:
                for part in ("findings", "scores"):
                    group.create_task(fail_later(f"{name}_{part}"))
        return [failure.stage for failure in failures]

    async def fail_later(stage: str) -> None:
        await asyncio.sleep(0)
        record(stage)

    async def both() -> list[list[str]]:
        return list(await asyncio.gather(assess("one"), assess("two")))

    assert asyncio.run(both()) == [
        ["one_findings", "one_scores"],
        ["two_findings", "two_scores"],
    ]


def test_inner_block_collects_for_itself() -> None:
    with collect_failures() as outer:
        record("before")
        with collect_failures() as inner:
            record("inside")
        record("after")
    assert [failure.stage for failure in outer] == ["before", "after"]
    assert [failure.stage for failure in inner] == ["inside"]
