"""A ceiling that is reached stops the run, whatever becomes of the calls under way."""

import asyncio
from contextlib import suppress
from decimal import Decimal
from typing import Any

import pytest
from tests.patience import PATIENCE_SECONDS

from ai_psychiatrist.evaluation.pricing import spending
from ai_psychiatrist.evaluation.pricing.spending import CostLimit


def purse() -> CostLimit:
    # No call is charged here: what was spent is said outright.
    unpriced: Any = None
    return CostLimit(ceiling=Decimal(1), spent=Decimal(0), prices=unpriced, unit_usd=Decimal(1))


def stopped(held: CostLimit, working: Any) -> None:
    async def run() -> None:
        await asyncio.wait_for(held.until_stopped(working), PATIENCE_SECONDS)

    asyncio.run(run())


def test_a_call_that_is_broken_off_does_not_keep_the_run_from_its_end() -> None:
    held = purse()

    async def call(begun: asyncio.Event) -> None:
        async with held.admitted():
            begun.set()
            await asyncio.Event().wait()

    async def working() -> None:
        begun = asyncio.Event()
        under_way = asyncio.create_task(call(begun))
        await begun.wait()
        held.spent = Decimal(2)
        refused = asyncio.create_task(call(asyncio.Event()))
        await asyncio.sleep(0)
        assert not held.stopped.is_set()
        under_way.cancel()
        await refused

    stopped(held, working())
    assert held.is_holding


def test_work_that_takes_its_end_for_something_else_is_ended_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(spending, "_CANCEL_AGAIN_SECONDS", 0.01)
    held = purse()
    held.spent = Decimal(2)

    async def working() -> None:
        for _ in range(3):
            with suppress(asyncio.CancelledError):
                async with held.admitted():
                    pass
        await asyncio.Event().wait()

    stopped(held, working())
    assert held.stopped.is_set()


def test_what_fails_while_there_is_money_is_raised() -> None:
    async def working() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        stopped(purse(), working())
