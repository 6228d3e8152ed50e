"""What an output has to keep to in its interview: ids that are listed, questions not asked yet."""

from collections.abc import Sequence

from ai_psychiatrist.agents.interview.checks import same_words
from ai_psychiatrist.agents.interview.outputs import (
    DigestOutput,
    GoalUpdatesOutput,
    QuestionOutput,
)
from ai_psychiatrist.domain.failures import RejectionCode
from ai_psychiatrist.domain.interview import InterviewView, MessageSpeaker
from ai_psychiatrist.llm.agent_calls import Review
from ai_psychiatrist.llm.output import ModelOutput
from ai_psychiatrist.llm.rejection import ReplyRejected


def kept_to(view: InterviewView, target_goal_ids: Sequence[str]) -> Review:
    """Refuse updates of unknown goals, questions for other goals, and those asked before."""
    known = [goal.id for goal in view.goals]
    asked = {
        same_words(message.text)
        for message in view.messages
        if message.speaker is MessageSpeaker.INTERVIEWER
    }
    if view.question is not None:
        asked.add(same_words(view.question.text))

    async def review(output: ModelOutput) -> None:
        match output:
            case GoalUpdatesOutput() | DigestOutput():
                for at, update in enumerate(output.goal_updates):
                    _require_listed(update.goal_id, known, f"goal_updates[{at}].goal_id")
            case QuestionOutput():
                _require_listed(output.target_goal_id, target_goal_ids, "target_goal_id")
                if same_words(output.question) in asked:
                    rule = "was asked before in these words; ask something else"
                    raise _refused(RejectionCode.NOT_DISTINCT, "question", rule)

    return review


def _require_listed(goal_id: str, listed: Sequence[str], place: str) -> None:
    if goal_id not in listed:
        rule = f"has to be one of: {', '.join(listed) or 'none, there is no goal'}"
        raise _refused(RejectionCode.UNKNOWN_ID, place, rule)


def _refused(code: RejectionCode, place: str, rule: str) -> ReplyRejected:
    return ReplyRejected(code, f"Mend this: {place} {rule}.", {place: rule})
