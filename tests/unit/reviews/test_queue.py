from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest

from ai_psychiatrist.domain.record_state import RecordState
from ai_psychiatrist.domain.review import ReviewPhase
from ai_psychiatrist.reviews.queue import draw, information, is_random, queue
from ai_psychiatrist.store.records import Figures, ListedRecord, RecordSummary

SEED = "clinic-a"
START = datetime(2026, 1, 1, tzinfo=UTC)


def candidates(count: int) -> list[ListedRecord]:
    return [
        ListedRecord(
            summary=RecordSummary(
                id=f"case-{place}",
                created_at=START + timedelta(minutes=place),
                subject_id=f"subject-{place}",
                state=RecordState.FINISHED,
                reason=None,
                figures=Figures(unknown_items=place % 5, width=place % 25),
                unread=None,
                raters=0,
            ),
            phase=ReviewPhase.UNSEEN,
            is_hidden=False,
        )
        for place in range(count)
    ]


def ids(cases: Iterable[ListedRecord]) -> list[str]:
    return [case.summary.id for case in cases]


def rated(case: ListedRecord) -> ListedRecord:
    return replace(case, phase=ReviewPhase.REVEALED)


def test_a_tenth_is_random_and_the_same_whenever_it_is_asked_for() -> None:
    ids = [f"case-{place}" for place in range(10_000)]
    drawn = [one for one in ids if is_random(one, seed=SEED)]
    assert 900 <= len(drawn) <= 1_100
    assert drawn == [one for one in ids if is_random(one, seed=SEED)]
    assert drawn != [one for one in ids if is_random(one, seed="clinic-b")]


def test_the_random_tenth_knows_nothing_of_what_the_program_says() -> None:
    drawn = [one for one in candidates(20_000) if is_random(one.summary.id, seed=SEED)]
    mean = sum(map(information, drawn)) / len(drawn)
    assert mean == pytest.approx(sum(map(information, candidates(20_000))) / 20_000, rel=0.03)


def test_the_most_informative_cases_come_first_but_for_the_random_ones() -> None:
    order = queue(candidates(500), seed=SEED)
    assert sorted(one.summary.id for one in order) == sorted(
        one.summary.id for one in candidates(500)
    )
    uncertain = [one for one in order if not is_random(one.summary.id, seed=SEED)]
    assert all(information(one) >= information(other) for one, other in pairwise(uncertain))
    drawn = [
        draw(one.summary.id, seed=SEED) for one in order if is_random(one.summary.id, seed=SEED)
    ]
    assert drawn == sorted(drawn)
    assert sum(is_random(one.summary.id, seed=SEED) for one in order[:100]) == 10


def test_whoever_always_takes_the_first_case_gets_a_tenth_of_random_ones() -> None:
    cases = {one.summary.id: one for one in candidates(300)}
    taken = []
    for _ in range(100):
        first = queue(list(cases.values()), seed=SEED)[0]
        taken.append(first.summary.id)
        cases[first.summary.id] = rated(first)
    assert len(set(taken)) == 100
    assert sum(is_random(one, seed=SEED) for one in taken) == 10


def test_begun_cases_come_first_committed_ones_never_and_seen_ones_last() -> None:
    phases = [ReviewPhase.REVEALED, ReviewPhase.SEEN, ReviewPhase.UNSEEN, ReviewPhase.BLIND]
    cases = [replace(case, phase=phase) for case, phase in zip(candidates(4), phases, strict=True)]
    assert [one.phase for one in queue(cases, seed=SEED)] == [
        ReviewPhase.BLIND,
        ReviewPhase.UNSEEN,
        ReviewPhase.SEEN,
    ]


def test_a_case_without_any_score_tells_most() -> None:
    known, unknown = candidates(2)
    failed = replace(unknown, summary=replace(unknown.summary, figures=Figures()))
    assert information(failed) > information(known)


def test_random_cases_alone_and_no_case_at_all_are_a_queue_too() -> None:
    only = [one for one in candidates(300) if is_random(one.summary.id, seed=SEED)]
    assert len(queue(only, seed=SEED)) == len(only)
    assert queue([], seed=SEED) == ()
