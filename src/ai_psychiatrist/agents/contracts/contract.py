"""The checks that agents' answers go through beyond their form, compiled once."""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path

from ai_psychiatrist.agents.contracts.shipped_step import CONTRACT_FILE
from ai_psychiatrist.agents.definition import ABLATION, QUANTITATIVE, RESCORING
from ai_psychiatrist.validation.checks.step_validator import StepValidator
from ai_psychiatrist.validation.config.pipeline import PipelineConfig, load_pipeline


def contract_folder() -> Path:
    """Return the folder of the shipped contract."""
    return Path(str(files("ai_psychiatrist.agents.contracts")))


@cache
def shipped_contract() -> PipelineConfig:
    """Return the contract that the service and the evaluation share."""
    return load_pipeline(contract_folder() / CONTRACT_FILE)


def contract_steps(contract: PipelineConfig) -> Mapping[str, StepValidator]:
    """Return the compiled checks of all steps of a contract."""
    return {step.name: StepValidator(step) for step in contract.steps}


def step_of_agent(agent: str) -> str:
    """Return the contract's step for an agent; those that reply in the same form share one."""
    if agent.startswith("judge_"):
        return "judge"
    return QUANTITATIVE.name if agent in {ABLATION.name, RESCORING.name} else agent
