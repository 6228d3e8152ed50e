"""The state machine as `docs/interview.md` has it, a table and a picture; `python -m` prints it."""

from collections.abc import Iterator
from inspect import getdoc

from ai_psychiatrist.domain.interview import InterviewState
from ai_psychiatrist.interview.machine import TABLE, Transition


def machine_table() -> Iterator[str]:
    """Yield the lines of the table, one pair of state and event each."""
    yield "| state | event | what is done | leads to |"
    yield "| --- | --- | --- | --- |"
    for (state, event), transition in TABLE.items():
        leads_to = ", ".join(f"`{one}`" for one in transition.leads_to)
        yield f"| `{state}` | `{event}` | {_what(transition)} | {leads_to} |"


def diagram() -> Iterator[str]:
    """Yield the lines of a Mermaid state diagram; where nothing changes no arrow is drawn."""
    yield "```mermaid"
    yield "stateDiagram-v2"
    yield f"    [*] --> {InterviewState.PREPARING}"
    arrows: dict[tuple[str, str], list[str]] = {}
    for (state, event), transition in TABLE.items():
        for following in transition.leads_to:
            if transition.leads_to != (state,):
                arrows.setdefault((state, following), []).append(event)
    for (before, after), events in arrows.items():
        yield f"    {before} --> {after}: {', '.join(events)}"
    for state in (InterviewState.DONE, InterviewState.SAFETY_HOLD):
        yield f"    {state} --> [*]"
    yield "```"


def _what(transition: Transition) -> str:
    (sentence, *_) = (getdoc(transition.step) or "").split("\n")
    return sentence.rstrip(".")


if __name__ == "__main__":
    print("\n".join([*machine_table(), "", *diagram()]))  # noqa: T201  what it is run for
