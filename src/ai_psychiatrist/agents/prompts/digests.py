"""The tasks of all agents, and digests that tell whether two results come from the same wording."""

from collections.abc import Mapping
from typing import Final, TypeAlias

from ai_psychiatrist.agents.prompts import (
    belief,
    danger,
    judge,
    meta_review,
    qualitative,
    quantitative,
)
from ai_psychiatrist.agents.prompts.shared import DELIMITED, SYSTEM
from ai_psychiatrist.domain.assessment import AssessmentMode
from ai_psychiatrist.infrastructure.digests import plain_digest

Tasks: TypeAlias = Mapping[str, str]
"""Name of a task → its template; it begins with the name of its agent."""

JUDGES_TASK: Final = "judges"
"""The task that asks for all metrics of the findings at once."""

TASKS: Final[Tasks] = {
    "qualitative": qualitative.ASSESS,
    "qualitative_refine": qualitative.REFINE,
    "evidence": quantitative.EVIDENCE,
    "quantitative": quantitative.SCORING,
    "quantitative_references": quantitative.SCORING_REFERENCES,
    "quantitative_descriptions": quantitative.SCORING_DESCRIBED,
    **{f"judge_{metric.value}": template for metric, template in judge.JUDGE.items()},
    JUDGES_TASK: judge.TOGETHER,
    "meta_review": meta_review.META_REVIEW,
    "danger": danger.DANGER,
    "belief_tokens": belief.TOKENS,
}

SCORING_TASKS: Final[Mapping[AssessmentMode, str]] = {
    AssessmentMode.ZERO_SHOT: "quantitative",
    AssessmentMode.FEW_SHOT: "quantitative_references",
    AssessmentMode.RANDOM_REFERENCES: "quantitative_references",
    AssessmentMode.DESCRIPTIONS_ONLY: "quantitative_descriptions",
}
"""The task that asks for the scores in each mode."""


def asked_tasks(
    tasks: Tasks,
    mode: AssessmentMode = AssessmentMode.ZERO_SHOT,
    *,
    is_judged_together: bool = False,
) -> dict[str, str]:
    """Return what is asked in a mode; whichever wording asks for scores is `quantitative`.

    `is_judged_together`: whether one call asks for all metrics; a metric that it misses is asked
    for alone, so that the other wordings are there either way.
    """
    others = {*SCORING_TASKS.values(), *(() if is_judged_together else (JUDGES_TASK,))}
    asked = {name: text for name, text in tasks.items() if name not in others}
    return asked | {"quantitative": tasks[SCORING_TASKS[mode]]}


def prompt_digests(
    tasks: Tasks,
    mode: AssessmentMode = AssessmentMode.ZERO_SHOT,
    *,
    is_judged_together: bool = False,
) -> dict[str, str]:
    """Return the digest of each wording that models are asked in."""
    wordings = {
        **asked_tasks(tasks, mode, is_judged_together=is_judged_together),
        "qualitative_verbatim": tasks["qualitative"] + qualitative.ONLY_VERBATIM,
        "delimiter": DELIMITED,
        "belief_decision": belief.DECISION,
    }
    return {name: plain_digest(f"{SYSTEM}\n{wording}") for name, wording in wordings.items()}


PROMPT_DIGESTS: Final = {mode: prompt_digests(TASKS, mode) for mode in AssessmentMode}
"""Those of the wordings that come with the program, each metric judged in a call of its own."""
PROMPT_DIGESTS_TOGETHER: Final = {
    mode: prompt_digests(TASKS, mode, is_judged_together=True) for mode in AssessmentMode
}
"""The same, all metrics judged in one call."""
