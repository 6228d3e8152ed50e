"""The tasks of all agents, and digests that tell whether two results come from the same wording."""

from collections.abc import Mapping
from typing import Final

from ai_psychiatrist.agents.prompts import danger, judge, meta_review, qualitative, quantitative
from ai_psychiatrist.agents.prompts.shared import DELIMITED, SYSTEM
from ai_psychiatrist.infrastructure.digests import plain_digest

TASKS: Final[Mapping[str, str]] = {
    "qualitative": qualitative.ASSESS,
    "qualitative_refine": qualitative.REFINE,
    "evidence": quantitative.EVIDENCE,
    "quantitative": quantitative.SCORING,
    **{f"judge_{metric.value}": template for metric, template in judge.JUDGE.items()},
    "meta_review": meta_review.META_REVIEW,
    "danger": danger.DANGER,
}
PROMPT_DIGESTS: Final = {
    name: plain_digest(f"{SYSTEM}\n{wording}")
    for name, wording in {
        **TASKS,
        "qualitative_verbatim": qualitative.ASSESS + qualitative.ONLY_VERBATIM,
        "delimiter": DELIMITED,
    }.items()
}
