"""The shipped contract: what answers of the agents hold, as pipeline file, schemas and rules.

It is what `validate` checks answers by and what evaluation runs record; the agents themselves apply
the same rules in `item_rules`.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Final

from ai_psychiatrist.agents.item_rules import QuoteUse
from ai_psychiatrist.agents.output_models import ItemScoreOutput
from ai_psychiatrist.domain.evidence import Quote
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.validation.checks.step_validator import StepValidator
from ai_psychiatrist.validation.checks.verdict import Verdict
from ai_psychiatrist.validation.config.pipeline import PipelineConfig, load_pipeline

CONTRACT_FILE: Final = "pipeline.yaml"
_SCORING_AGENTS: Final = frozenset({"ablation", "rescoring"})


def contract_folder() -> Path:
    """Return the folder of the shipped contract."""
    return Path(str(files(__package__)))


@cache
def shipped_contract() -> PipelineConfig:
    """Return the whole contract, with its templates."""
    return load_pipeline(contract_folder() / CONTRACT_FILE)


@cache
def shipped_step(name: str) -> StepValidator:
    """Return the compiled checks of one step of the contract."""
    return StepValidator(shipped_contract().step(name))


def contract_steps(contract: PipelineConfig) -> Mapping[str, StepValidator]:
    """Return the compiled checks of all steps of a contract."""
    return {step.name: StepValidator(step) for step in contract.steps}


def step_of_agent(agent: str) -> str:
    """Return the contract's step for an agent; those that reply in the same form share one."""
    if agent.startswith("judge_"):
        return "judge"
    return "quantitative" if agent in _SCORING_AGENTS else agent


def item_verdict(
    item: Item,
    answer: ItemScoreOutput,
    quotes: Sequence[Quote],
    matches_quote: Callable[[str], bool],
    *,
    step: StepValidator,
    quote_use: QuoteUse,
) -> Verdict:
    """Return what a contract's step for single items says of one item of a scoring reply."""
    facts = [
        {
            "text": quote.text,
            "relevance": quote.relevance.value,
            "polarity": quote.polarity.value,
            "frequency": quote.frequency.value,
            "timeframe": quote.timeframe.value,
            "plain": quote.is_plain,
            "items": quote_use.get(quote.segments, 1),
        }
        for quote in quotes
    ]
    fields: dict[str, object] = {
        "item": item.value,
        "status": "na" if answer.score is None else "scored",
        "score": answer.score,
        "evidence": list(answer.evidence),
        "reason": answer.reason,
        "confidence": answer.confidence,
    }
    return step.check_object(
        fields, context={"quotes": facts}, host={"matches_quote": matches_quote}
    )
