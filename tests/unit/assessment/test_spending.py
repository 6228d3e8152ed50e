"""What an assessment may spend is shared out so that nothing optional starves what is needed."""

import asyncio
from random import Random

import pytest
from tests.fakes.permuting_loop import run_permuted
from tests.fakes.replies import judge_text
from tests.sweeps import DEADLINES, LATENCIES
from tests.unit.assessment.assessed import Server, assess, good, untimed

from ai_psychiatrist.assessment.budgets import share_out
from ai_psychiatrist.domain.assessment import Assessment, AssessmentStatus
from ai_psychiatrist.domain.errors import ModelCallFailed
from ai_psychiatrist.domain.failures import AttemptOutcome, FailureCode
from ai_psychiatrist.llm.calls import CallBudget


def left(
    max_calls: int, *, most_scores: int = 10, most_review: int = 5, most_danger: int = 5
) -> tuple[int, int, int, int]:
    shares = share_out(
        max_calls, most_scores=most_scores, most_review=most_review, most_danger=most_danger
    )
    return (
        shares.scores.left,
        shares.danger.left,
        shares.meta_review.left,
        shares.narrative.left,
    )


@pytest.mark.parametrize(
    ("max_calls", "shares"),
    [
        pytest.param(60, (10, 5, 5, 40), id="plenty"),
        pytest.param(25, (10, 2, 5, 8), id="no_refinement"),
        pytest.param(19, (10, 1, 3, 5), id="some_retries_of_the_review"),
        pytest.param(13, (6, 1, 1, 5), id="some_retries_of_scores"),
        pytest.param(9, (2, 1, 1, 5), id="one_call_each"),
        pytest.param(5, (2, 1, 1, 1), id="no_judge"),
        pytest.param(3, (2, 1, 0, 0), id="no_review"),
        pytest.param(2, (2, 0, 0, 0), id="scores_alone"),
        pytest.param(0, (0, 0, 0, 0), id="nothing"),
    ],
)
def test_what_is_needed_is_served_first(max_calls: int, shares: tuple[int, int, int, int]) -> None:
    assert left(max_calls) == shares
    assert sum(shares) == max_calls


def half_failing(task: str, prompt: str, number: int) -> str:
    """Reply well, but neither about the second part's evidence nor about danger in the first."""
    failing = {"evidence": "Part 2 of", "danger": "Part 1 of"}
    return "no idea" if failing.get(task, "\0") in prompt else good(task, prompt, number)


@pytest.mark.sweep
@pytest.mark.parametrize("max_calls", [60, 9])
def test_parts_of_a_long_interview_come_to_the_same_in_any_order(
    max_calls: int, *, is_whole: bool
) -> None:
    results = set()
    for seed in range(LATENCIES.size(is_whole=is_whole)):
        server = Server(half_failing, Random(seed))  # noqa: S311  no secret
        work = assess(server, max_calls=max_calls, part_characters=160)
        results.add(untimed(run_permuted(work, seed)))
    (result,) = results
    assert '"parts": 2' in result
    assert '"context": {"part": 2}' in result


def test_part_that_is_not_wanted_gets_nothing() -> None:
    assert left(20, most_scores=0, most_review=0, most_danger=0) == (0, 0, 0, 20)


def test_scoring_again_takes_of_what_only_refinement_would_use() -> None:
    shares = share_out(60, most_scores=10, most_review=5, most_danger=5, most_ablation=20)
    assert (shares.ablation.left, shares.narrative.left) == (17, 23)
    shares = share_out(25, most_scores=10, most_review=5, most_danger=5, most_ablation=20)
    assert (shares.ablation.left, shares.narrative.left) == (1, 7)


def test_meta_review_may_spend_what_the_others_leave() -> None:
    shares = share_out(60, most_scores=10, most_review=5, most_danger=5)
    assert shares.for_meta_review().left == 55
    assert (shares.scores.left, shares.narrative.left, shares.danger.left) == (0, 0, 5)


@pytest.mark.parametrize("calls", range(10))
def test_parts_of_a_budget_are_equal_but_for_one_call(calls: int) -> None:
    budget = CallBudget(calls)
    with budget.shared(4) as shares:
        parts = [part.left for part in shares]
        assert budget.left == 0
    assert sum(parts) == calls
    assert max(parts) - min(parts) <= 1
    assert budget.left == calls


def test_spent_budget_is_a_typed_failure() -> None:
    budget = CallBudget(1)
    budget.spend()
    with pytest.raises(ModelCallFailed) as failed:
        budget.spend()
    assert failed.value.code is FailureCode.CALL_BUDGET_SPENT


def never_content(task: str, prompt: str, number: int) -> str:
    """Judge each round a little better, and never well enough."""
    if task.startswith("judge_"):
        return judge_text("1" if number < 3 else "2" if number < 5 else "3")
    return good(task, prompt, number)


def unruly(task: str, prompt: str, number: int) -> str:
    """Reply with prose at first, so that every call has to be made again."""
    return "I would rather not." if number == 1 else never_content(task, prompt, number)


@pytest.mark.parametrize(
    ("answer", "max_calls"),
    [
        (never_content, 8),
        (never_content, 14),
        (never_content, 60),
        (unruly, 14),
        (unruly, 22),
        (unruly, 60),
    ],
)
def test_refinement_never_costs_scores_or_review(answer: object, max_calls: int) -> None:
    server = Server(answer, Random(0))  # type: ignore[arg-type]  # noqa: S311
    assessed: Assessment = run_permuted(assess(server, max_calls=max_calls), 0)
    assert assessed.quantitative is not None
    assert assessed.quantitative.accepted
    assert assessed.meta_review is not None
    assert server.calls == len(assessed.attempts) <= max_calls


@pytest.mark.sweep
@pytest.mark.parametrize("answer", [never_content, unruly])
@pytest.mark.parametrize("max_calls", [11, 23, 60])
def test_latency_decides_nothing(answer: object, max_calls: int, is_whole: bool) -> None:
    results = set()
    for seed in range(LATENCIES.size(is_whole=is_whole)):
        server = Server(answer, Random(seed))  # type: ignore[arg-type]  # noqa: S311
        results.add(untimed(run_permuted(assess(server, max_calls=max_calls), seed)))
    assert len(results) == 1


def test_hanging_narrative_leaves_time_for_the_meta_review() -> None:
    class Hanging(Server):
        async def reply(self, prompt: str) -> str:
            if "Task: qualitative" in prompt:
                self.calls += 1
                await asyncio.Event().wait()
            return await super().reply(prompt)

    server = Hanging(good, Random(0))  # noqa: S311
    assessed: Assessment = run_permuted(assess(server, deadline_seconds=60.0), 0)
    assert assessed.status is AssessmentStatus.PARTIAL
    assert assessed.meta_review is not None
    assert {one.stage for one in assessed.failures} == {"findings", "judgement"}
    assert server.calls == len(assessed.attempts)


def blank_explanation(task: str, prompt: str, number: int) -> str:
    """Explain one metric by a blank that not every library takes for one."""
    return (
        "Explanation:\u00a0\nScore: 4" if task == "judge_coherence" else good(task, prompt, number)
    )


@pytest.mark.sweep
@pytest.mark.parametrize("answer", [good, unruly, blank_explanation])
def test_every_call_is_an_attempt_wherever_the_deadline_falls(
    answer: object, is_whole: bool
) -> None:
    for seed in range(DEADLINES.size(is_whole=is_whole)):
        server = Server(answer, Random(seed))  # type: ignore[arg-type]  # noqa: S311
        deadline = Random(seed).uniform(0.05, 60.0)  # noqa: S311
        assessed: Assessment = run_permuted(assess(server, deadline_seconds=deadline), seed)
        assert len(assessed.attempts) == server.calls
        for attempt in assessed.attempts:
            assert (attempt.outcome is AttemptOutcome.ACCEPTED) == (attempt.code is None)
