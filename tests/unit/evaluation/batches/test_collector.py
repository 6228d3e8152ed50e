"""How calls are cut into batches."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_ai.models.test import TestModel

from ai_psychiatrist.evaluation.batches.collector import Collected, Collector
from ai_psychiatrist.ledger.store.batch_book import BatchRequestRow
from ai_psychiatrist.llm.batches import BatchModels, EncodedCall
from ai_psychiatrist.llm.settings import BatchSettings

MOST_BYTES = 67_108_864


class Batched(TestModel):
    """A model whose provider takes seven calls in a batch."""

    @property
    def batch_max_requests(self) -> int | None:
        return 7


class Live(TestModel):
    """A model whose provider takes none."""

    @property
    def batch_max_requests(self) -> int | None:
        return None


def collector() -> Collector:
    models = BatchModels()
    assert models.add("a", Batched())
    assert models.add("b", Batched())
    return Collector(models, BatchSettings(most_calls=5))


def taken(into: Collector, model: str, kin: str, size: int, number: int) -> None:
    custom_id = f"{model}{kin}{number}"
    into.take(
        EncodedCall(model=model, custom_id=custom_id, kin=kin, body="{}", size=size),
        BatchRequestRow(
            custom_id=custom_id, unit_id="u", attempt=1, digest=custom_id, occurrence=0
        ),
    )


def ids(batch: list[Collected]) -> list[str]:
    return [one.call.custom_id for one in batch]


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["a", "b"]),
            st.sampled_from(["x", "y"]),
            st.integers(1, MOST_BYTES + 9),
        ),
        max_size=40,
    )
)
def test_every_call_is_in_one_batch_of_its_kin_within_the_limits(
    calls: list[tuple[str, str, int]],
) -> None:
    collected, batches = collector(), []
    for number, (model, kin, size) in enumerate(calls):
        taken(collected, model, kin, size, number)
        batches += list(collected.full())
    batches += list(collected.all())
    found = [one for batch in batches for one in ids(batch)]
    assert sorted(found) == sorted(f"{m}{k}{at}" for at, (m, k, _) in enumerate(calls))
    for batch in batches:
        assert len({(one.call.model, one.call.kin) for one in batch}) == 1
        assert len(batch) <= 5
        assert len(batch) == 1 or sum(one.call.size for one in batch) <= MOST_BYTES
    assert list(collected.all()) == []


@pytest.mark.parametrize("count", [0, 4])
def test_a_batch_with_room_left_is_held(count: int) -> None:
    collected = collector()
    for number in range(count):
        taken(collected, "a", "x", 10, number)
    assert list(collected.full()) == []
    assert [len(batch) for batch in collected.all()] == ([count] if count else [])


def test_models_without_a_batch_interface_are_not_taken() -> None:
    assert not BatchModels().add("a", Live())
