"""A program that is killed at any write boundary loses no answer and works none in twice."""

import asyncio
import os
import signal
from pathlib import Path

import pytest
from tests.crash.boundaries import Boundaries, write_count
from tests.unit.interview.built import Desk, desk, files_of_new_store
from tests.unit.interview.scripted_agents import ScriptedAgents

from ai_psychiatrist.domain.interview import InterviewState, MessageSpeaker
from ai_psychiatrist.domain.interview_items import ProposalOutcome
from ai_psychiatrist.interview.service import AnswerSubmission

SAID = "I was worn to the bone, as good as ever."
TAKEN = {"frequency": "nearly_every_day", "words": "as good as ever"}


def agents() -> ScriptedAgents:
    """Return agents that take the answer for a frequency."""
    return ScriptedAgents({"match_frequency": [TAKEN]})


def submission(version: int) -> AnswerSubmission:
    """Return the one answer that is given, before the kill and after it."""
    return AnswerSubmission(
        question_id="q1", idempotency_key="the-answer", version=version, text=SAID
    )


async def sit(at: Desk, protocol: str) -> None:
    """Begin an interview and answer once."""
    begun = await at.begin(protocol)
    await at.service.answer(begun.id, submission(begun.version))


def killed(folder: Path, protocol: str, kill_at: int | None, *, is_first: bool) -> bool:
    """Run the interview in a child that does not survive one boundary.

    `is_first`: whether it makes the tables of its store as well.
    """
    # Made before the child counts what it writes itself.
    files_of_new_store()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            boundaries = Boundaries(kill_at)
            boundaries.watch()
            with desk(folder, agents(), is_first=is_first) as at:
                asyncio.run(sit(at, protocol))
            write_count(folder.with_suffix(".count"), boundaries)
            code = 0
        finally:
            # Whatever happens, the child must not go on with the tests of its parent.
            os._exit(code)
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    assert code in {0, -signal.SIGKILL}
    return code != 0


async def go_on(at: Desk) -> InterviewState | None:
    """Do what a client does that got no reply: resume, and send the same answer again.

    Returns the state in which the kill left the interview, `None` where it left none.
    """
    listed = await at.service.list()
    if not listed:
        return None
    found = await at.service.retry(str(listed[0].interview_id))
    assert found.state is InterviewState.AWAITING
    at.snapshot = await at.service.answer(found.id, submission(found.version))
    stored = at.store.load(found.id)
    said = [one for one in stored.messages if one.speaker is MessageSpeaker.PARTICIPANT]
    assert [message.text for message in said] == [SAID]
    assert (stored.turn, stored.readings) == (1, ())
    assert len(stored.facts) + len(stored.proposals) == len(stored.progress or stored.acts) == 1
    assert all(one.outcome is ProposalOutcome.OPEN for one in stored.proposals)
    assert (await at.read()).question is not None
    return listed[0].state


@pytest.mark.parametrize(
    ("protocol", "left_behind"),
    [
        (
            "phq8",
            {None, InterviewState.AWAITING, InterviewState.DIGESTING},
        ),
        (
            "incident",
            {
                None,
                InterviewState.PREPARING,
                InterviewState.AWAITING,
                InterviewState.DIGESTING,
            },
        ),
    ],
)
@pytest.mark.sweep
def test_an_answer_is_worked_in_once_wherever_the_program_was_killed(
    protocol: str, left_behind: set[InterviewState | None], tmp_path: Path, is_whole: bool
) -> None:
    assert not killed(tmp_path / "whole", protocol, None, is_first=is_whole)
    boundaries = int((tmp_path / "whole.count").read_text(encoding="ascii"))
    found = set()
    for boundary in range(1, boundaries + 1):
        folder = tmp_path / f"killed{boundary}"
        assert killed(folder, protocol, boundary, is_first=is_whole)
        with desk(folder, agents(), is_first=is_whole) as at:
            found.add(asyncio.run(go_on(at)))
    assert found == left_behind
