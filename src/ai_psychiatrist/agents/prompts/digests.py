"""Digests of the prompts' wording: they tell whether two results come from the same prompts."""

from typing import Final

from ai_psychiatrist.agents.prompts import judge, meta_review, qualitative, quantitative
from ai_psychiatrist.agents.prompts.shared import DELIMITED, SYSTEM
from ai_psychiatrist.infrastructure.digests import plain_digest

PROMPT_DIGESTS: Final = {
    name: plain_digest(f"{SYSTEM}\n{template}")
    for name, template in {
        "qualitative": qualitative.ASSESS,
        "qualitative_verbatim": qualitative.ASSESS + qualitative.ONLY_VERBATIM,
        "qualitative_refine": qualitative.REFINE,
        "evidence": quantitative.EVIDENCE,
        "quantitative": quantitative.SCORING,
        **{f"judge_{metric.value}": template for metric, template in judge.JUDGE.items()},
        "meta_review": meta_review.META_REVIEW,
        "delimiter": DELIMITED,
    }.items()
}
