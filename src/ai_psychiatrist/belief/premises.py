"""By what beliefs are made: a fit holds for the same sources, models, prompts and mode."""

import json
from collections.abc import Iterable, Mapping
from typing import Final

from ai_psychiatrist.belief.votes import SMOOTHING
from ai_psychiatrist.domain.assessment import AssessmentMode
from ai_psychiatrist.domain.belief import BeliefSource
from ai_psychiatrist.infrastructure.digests import plain_digest

_PROMPTS: Final = ("evidence", "quantitative")
_PROMPT_OF: Final = {
    BeliefSource.TOKENS: "belief_tokens",
    BeliefSource.DECISION: "belief_decision",
}
"""Sources that have a prompt of their own."""
_AGENTS: Final = ("quantitative", "rescoring", "belief_tokens", "belief_decision")
_DIGITS: Final = 16


def premises(
    sources: Iterable[BeliefSource],
    *,
    mode: AssessmentMode,
    models: Mapping[str, Iterable[str]],
    prompts: Mapping[str, str],
    rules: str,
    rescorings: int,
    temperature: float,
) -> dict[str, object]:
    """Return what decides on beliefs, as plain values.

    `models`: agent → its chain; `prompts`: name → digest of its wording; those that do not bear on
    beliefs are left out. `rules`: digest of those that read quotes, which vote and give facts.
    """
    named = set(sources) | {BeliefSource.RULES}
    wordings = (*_PROMPTS, *(_PROMPT_OF[source] for source in _PROMPT_OF if source in named))
    made_by: dict[str, object] = {
        "sources": sorted(source.value for source in named),
        "mode": mode.value,
        "models": {agent: list(models[agent]) for agent in _AGENTS if agent in models},
        "prompts": {name: prompts[name] for name in wordings if name in prompts},
        "rules": rules,
        "smoothing": SMOOTHING,
    }
    if BeliefSource.RESCORING in named:
        made_by["rescoring"] = {"count": rescorings, "temperature": temperature}
    return made_by


def digest_of(made_by: Mapping[str, object]) -> str:
    """Return the digest of premises."""
    return plain_digest(json.dumps(made_by, sort_keys=True), length=_DIGITS)
