"""The state machine as `docs/interview.md` has it; `python -m` prints it."""

from collections.abc import Iterator, Sequence
from inspect import getdoc

from ai_psychiatrist.domain.interview import InterviewState
from ai_psychiatrist.interview.machine import TABLE, Event, Transition


def machine_table() -> Iterator[str]:
    """Yield the lines of the table: states that take an event alike share one."""
    alike: dict[tuple[Event, str, str], list[InterviewState]] = {}
    for (state, event), transition in TABLE.items():
        told = event, _what(transition), _leads_to(state, transition)
        alike.setdefault(told, []).append(state)
    yield "| state | event | what is done | leads to |"
    yield "| --- | --- | --- | --- |"
    for (event, what, leads_to), states in alike.items():
        yield f"| {_names(states)} | `{event}` | {what} | {leads_to} |"


def _what(transition: Transition) -> str:
    (sentence, *_) = (getdoc(transition.step) or "").split("\n")
    return sentence.rstrip(".")


def _leads_to(state: InterviewState, transition: Transition) -> str:
    return "–" if transition.leads_to == (state,) else _names(transition.leads_to)


def _names(states: Sequence[InterviewState]) -> str:
    return ", ".join(f"`{one}`" for one in states)


if __name__ == "__main__":
    print("\n".join(machine_table()))  # noqa: T201  what it is run for
