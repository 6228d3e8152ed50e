"""What the agents found in one answer."""

from dataclasses import dataclass

from ai_psychiatrist.agents.interview.outputs import DriftReply, FactReply, GoalUpdateReply
from ai_psychiatrist.domain.failures import FailureCode


@dataclass(frozen=True, slots=True, kw_only=True)
class Digest:
    """The parts that were wanted; none of them where one has failed."""

    facts: tuple[FactReply, ...] = ()
    drift: DriftReply | None = None
    goal_updates: tuple[GoalUpdateReply, ...] = ()
    failure: FailureCode | None = None
