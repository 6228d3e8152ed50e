"""How calls are cut into batches."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_ai.models.test import TestModel

from ai_psychiatrist.llm.batch_rounds import BatchQueue, QueuedCall
from ai_psychiatrist.llm.batches import BatchModels, EncodedCall
from ai_psychiatrist.llm.settings import BatchSettings
from ai_psychiatrist.store.run_batches import BatchRequestRow

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


def queue() -> BatchQueue:
    models = BatchModels()
    assert models.add("a", Batched())
    assert models.add("b", Batched())
    return BatchQueue(models, BatchSettings(most_calls=5))


def note(into: BatchQueue, model: str, group: str, size: int, number: int) -> None:
    custom_id = f"{model}{group}{number}"
    into.note(
        BatchRequestRow(
            custom_id=custom_id, unit_id="u", attempt=1, digest=custom_id, occurrence=0
        ),
        EncodedCall(model=model, custom_id=custom_id, group=group, body="{}", size=size),
    )


def ids(batch: list[QueuedCall]) -> list[str]:
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
def test_every_call_is_in_one_batch_of_its_group_within_the_limits(
    calls: list[tuple[str, str, int]],
) -> None:
    held, batches = queue(), []
    for number, (model, group, size) in enumerate(calls):
        note(held, model, group, size, number)
        batches += held.full()
    batches += held.all()
    found = [one for batch in batches for one in ids(batch)]
    assert sorted(found) == sorted(f"{m}{g}{at}" for at, (m, g, _) in enumerate(calls))
    for batch in batches:
        assert len({(one.call.model, one.call.group) for one in batch}) == 1
        assert len(batch) <= 5
        assert len(batch) == 1 or sum(one.call.size for one in batch) <= MOST_BYTES
    assert held.all() == []


@pytest.mark.parametrize("count", [0, 4])
def test_a_batch_with_room_left_is_held(count: int) -> None:
    held = queue()
    for number in range(count):
        note(held, "a", "x", 10, number)
    assert held.full() == []
    assert [len(batch) for batch in held.all()] == ([count] if count else [])


def test_models_without_a_batch_interface_are_not_taken() -> None:
    assert not BatchModels().add("a", Live())
