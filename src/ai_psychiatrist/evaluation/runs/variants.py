"""Wordings of prompts under comparison, and repeats of each: every pair is a run of its own."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from ai_psychiatrist.agents.baseline import BASELINE
from ai_psychiatrist.agents.prompts.tasks import (
    JUDGES_TASK,
    SCORING_TASKS,
    TASKS,
    Tasks,
    read_tasks,
)
from ai_psychiatrist.domain.assessment import AssessmentMode
from ai_psychiatrist.domain.errors import InputError

SHIPPED: Final = "shipped"
"""The name of the wording that comes with the program."""

_FIELD: Final = "--prompts"
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """One repeat of a run with one wording of the prompts."""

    name: str
    repeat: int
    """From 1."""
    tasks: Tasks = field(repr=False)

    @property
    def record(self) -> dict[str, object]:
        """What a run records of it."""
        return {"variant": self.name, "repeat": self.repeat}

    @property
    def folder_name(self) -> str:
        """The run's folder in that of all."""
        return f"{self.name}-{self.repeat}"


def variants_of(
    prompts: Sequence[str],
    repeats: int,
    *,
    models: Mapping[str, Sequence[str]],
    mode: AssessmentMode = AssessmentMode.ZERO_SHOT,
    is_judged_together: bool = False,
) -> list[Variant]:
    """Return what `NAME=FILE` or `shipped` ask for, all wordings once before any is repeated.

    `models`: agent → chain of models, which have to read the prompts that are worded otherwise.
    `mode`: that of all runs, which has to ask them; `is_judged_together`: whether they judge all
    metrics in one call.
    Raises `InputError` for names and files that cannot be used.
    """
    wordings: dict[str, Tasks] = {}
    for given in prompts or [SHIPPED]:
        name, has_file, file = given.partition("=")
        if not _NAME.fullmatch(name) or bool(has_file) == (name == SHIPPED):
            msg = (
                f"prompts are given as NAME=FILE, with a name of letters, digits, - and _ other "
                f"than {SHIPPED!r}, or as {SHIPPED!r} alone, but not as {given!r}"
            )
            raise InputError(msg, field=_FIELD)
        if name.casefold() in map(str.casefold, wordings):
            raise InputError(f"prompts are named {name!r} more than once", field=_FIELD)
        wordings[name] = read_tasks(Path(file)) if has_file else TASKS
        _refuse_unasked(name, wordings[name], mode)
        if not is_judged_together and wordings[name][JUDGES_TASK] != TASKS[JUDGES_TASK]:
            msg = (
                f"prompts {name!r} word the task {JUDGES_TASK!r}, which is never asked while each "
                "metric has a call of its own; set JUDGE_CALLS=one, or word the metrics' tasks"
            )
            raise InputError(msg, field=_FIELD)
        _refuse_unread(name, wordings[name], models)
    return [
        Variant(name=name, repeat=number, tasks=tasks)
        for number in range(1, repeats + 1)
        for name, tasks in wordings.items()
    ]


def _refuse_unasked(name: str, tasks: Tasks, mode: AssessmentMode) -> None:
    asked = SCORING_TASKS[mode]
    for task in set(SCORING_TASKS.values()) - {asked}:
        if tasks[task] != TASKS[task] and tasks[asked] == TASKS[asked]:
            msg = (
                f"prompts {name!r} word the task {task!r}, which mode {mode.value} never asks; "
                f"word {asked!r}, or name another --mode"
            )
            raise InputError(msg, field=_FIELD)


def _refuse_unread(name: str, tasks: Tasks, models: Mapping[str, Sequence[str]]) -> None:
    for task in (task for task in tasks if tasks[task] != TASKS[task]):
        agent = "quantitative" if task == "evidence" else next(_agents_of(task, models), None)
        if agent is None:
            msg = f"prompts {name!r} word the task {task!r}, but its agent is off"
            raise InputError(msg, field=_FIELD)
        if set(models[agent]) == {BASELINE}:
            msg = (
                f"prompts {name!r} word the task {task!r}, but the baseline answers it by rules "
                "and reads no prompt; name a model with --model"
            )
            raise InputError(msg, field=_FIELD)


def _agents_of(task: str, models: Mapping[str, Sequence[str]]) -> Iterator[str]:
    return (agent for agent in models if task.startswith(agent))
