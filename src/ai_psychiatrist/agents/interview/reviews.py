"""What a question has to keep to in its interview: a goal that is named, words not said yet."""

from collections.abc import Sequence

from ai_psychiatrist.agents.interview.checks import same_words
from ai_psychiatrist.agents.interview.outputs import QuestionOutput
from ai_psychiatrist.domain.failures import RejectionCode
from ai_psychiatrist.domain.interview import InterviewView
from ai_psychiatrist.llm.agent_calls import Review
from ai_psychiatrist.llm.replies import ModelOutput, ReplyRejected


def kept_to(view: InterviewView, target_goal_ids: Sequence[str]) -> Review:
    """Refuse questions for other goals than those named, and those asked before.

    Updates of goals that there are not are no reason to refuse the others: they are dropped and
    counted where updates are applied.
    """

    async def review(output: ModelOutput) -> None:
        if not isinstance(output, QuestionOutput):
            return
        if output.target_goal_id not in target_goal_ids:
            rule = f"has to be one of: {', '.join(target_goal_ids) or 'none, there is no goal'}"
            raise _refused(RejectionCode.UNKNOWN_ID, "target_goal_id", rule)
        if same_words(output.question) in map(same_words, view.said_before):
            rule = "was asked before in these words; ask something else"
            raise _refused(RejectionCode.NOT_DISTINCT, "question", rule)

    return review


def _refused(code: RejectionCode, place: str, rule: str) -> ReplyRejected:
    return ReplyRejected(code, f"Mend this: {place} {rule}.", {place: rule})
