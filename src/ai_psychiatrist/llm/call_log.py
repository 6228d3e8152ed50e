"""The model calls of one assessment or turn: those made, and how many may still be made."""

import asyncio
from collections import Counter
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Final, Protocol, Self

from ai_psychiatrist.domain.errors import ModelCallFailed
from ai_psychiatrist.domain.failures import Attempt, FailureCode
from ai_psychiatrist.llm.call_store import CallStore
from ai_psychiatrist.llm.first_call import FirstCallAhead

DEFAULT_MAX_CALLS: Final = 60


class CallBudget:
    """Calls that may be made; a part of them can be set aside for one purpose."""

    def __init__(self, calls: int) -> None:
        self.left = calls

    def spend(self) -> None:
        """Take one call; raises `ModelCallFailed` when none is left."""
        if self.left <= 0:
            raise ModelCallFailed(FailureCode.CALL_BUDGET_SPENT)
        self.left -= 1

    def set_aside(self, calls: int) -> "CallBudget":
        """Move so many calls, or what is left, into a budget of their own."""
        taken = max(0, min(calls, self.left))
        self.left -= taken
        return CallBudget(taken)

    def in_parts(self, count: int) -> list["CallBudget"]:
        """Divide all that is left; the first parts are one call larger where it has to be."""
        return [self.set_aside(-(-self.left // remaining)) for remaining in range(count, 0, -1)]

    def take_back(self, other: "CallBudget") -> None:
        """Take over what is left of another budget."""
        self.left += other.left
        other.left = 0


class Clock(Protocol):
    """Whatever counts the time of the work that the calls belong to."""

    def paused(self) -> AbstractContextManager[None]:
        """Stop counting inside the block."""
        ...


class _NoClock:
    def paused(self) -> AbstractContextManager[None]:
        return nullcontext()


@dataclass(frozen=True, slots=True, kw_only=True)
class CallLog:
    """What the calls of one assessment share, whichever agent makes them."""

    budget: CallBudget = field(default_factory=lambda: CallBudget(DEFAULT_MAX_CALLS))
    store: CallStore | None = None
    """Where calls are kept and found again; without one nothing is kept."""
    attempts: list[Attempt] = field(default_factory=list)
    """In the order in which they ended."""
    deadline: float | None = None
    """When the work ends whatever has come, in the time of the event loop."""
    clock: Clock = field(default_factory=_NoClock)
    """Stands still while a call waits for its turn at the backend."""
    ahead: FirstCallAhead | None = None
    """Lets the first call to a model go alone; `None` where all go as they come."""
    made: Counter[str] = field(default_factory=Counter, repr=False)
    """How often each call was made, by its digest."""
    asked: Counter[str] = field(default_factory=Counter, repr=False)
    """How often each agent was asked for an output."""

    @classmethod
    def of(cls, max_calls: int = DEFAULT_MAX_CALLS, *, store: CallStore | None = None) -> Self:
        """Return an empty log with a budget of so many calls."""
        return cls(budget=CallBudget(max_calls), store=store)

    def has_time_for(self, seconds: float) -> bool:
        """Return whether the deadline is further away than so many seconds."""
        return self.deadline is None or asyncio.get_running_loop().time() + seconds < self.deadline
