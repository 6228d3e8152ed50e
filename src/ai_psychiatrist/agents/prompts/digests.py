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
from ai_psychiatrist.infrastructure.digests import plain_digest

Tasks: TypeAlias = Mapping[str, str]
"""Name of a task → its template; the name of the agent, but for `qualitative_refine`."""

TASKS: Final[Tasks] = {
    "qualitative": qualitative.ASSESS,
    "qualitative_refine": qualitative.REFINE,
    "evidence": quantitative.EVIDENCE,
    "quantitative": quantitative.SCORING,
    **{f"judge_{metric.value}": template for metric, template in judge.JUDGE.items()},
    "meta_review": meta_review.META_REVIEW,
    "danger": danger.DANGER,
    "belief_tokens": belief.TOKENS,
}


def prompt_digests(tasks: Tasks) -> dict[str, str]:
    """Return the digest of each wording that models are asked in."""
    wordings = {
        **tasks,
        "qualitative_verbatim": tasks["qualitative"] + qualitative.ONLY_VERBATIM,
        "delimiter": DELIMITED,
        "belief_decision": belief.DECISION,
    }
    return {name: plain_digest(f"{SYSTEM}\n{wording}") for name, wording in wordings.items()}


PROMPT_DIGESTS: Final = prompt_digests(TASKS)
