"""One step of the shipped contract by itself: its lint, which tests do, would run at each start."""

from functools import cache
from importlib.resources import files
from typing import Final

import orjson
import yaml

from ai_psychiatrist.validation.checks.step_config import RuleBlock, StepConfig
from ai_psychiatrist.validation.checks.step_validator import StepValidator

CONTRACT_FILE: Final = "pipeline.yaml"


@cache
def shipped_step(name: str) -> StepValidator:
    """Return the compiled checks of a step of the contract."""
    return StepValidator(read_step(name))


def read_step(name: str) -> StepConfig:
    """Read a step with its schema, without its template."""
    folder = files(__package__)
    # The safe loader of the library in C: a fifth of the time of the one in Python.
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    contract = yaml.load(folder.joinpath(CONTRACT_FILE).read_bytes(), Loader=loader)  # noqa: S506
    schemas = contract["schemas"]
    file = schemas["files"][name]
    (entry,) = (step for step in contract["pipeline"]["steps"] if step["name"] == name)
    return StepConfig(
        name=name,
        scope=entry.get("scope", "llm"),
        schema=orjson.loads(folder.joinpath(schemas["schema_dir"], file).read_bytes()),
        schema_name=file,
        rules=RuleBlock.model_validate(contract["validation"][name]),
    )
