"""The tasks of all agents: their wordings, digests of them, and files that word them otherwise."""

import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from string import Formatter
from typing import Final, TypeAlias

from ai_psychiatrist.agents.prompts import (
    belief,
    danger,
    judge,
    meta_review,
    qualitative,
    quantitative,
)
from ai_psychiatrist.agents.prompts.shared import DELIMITED, NOTES, PART, SYSTEM, in_template
from ai_psychiatrist.domain.assessment import AssessmentMode
from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.infrastructure.digests import plain_digest
from ai_psychiatrist.infrastructure.given_files import read_regular, reason_of
from ai_psychiatrist.validation.nearest import did_you_mean

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

_SCHEMA_FORMATS: Final = "\n".join(
    (
        quantitative.SCORING_SCHEMA_FORMAT,
        judge.JUDGE_SCHEMA_FORMAT,
        judge.TOGETHER_SCHEMA_FORMAT,
        meta_review.META_REVIEW_SCHEMA_FORMAT,
    )
)
"""What tasks end with where servers hold replies to schemas."""

SCORING_TASKS: Final[Mapping[AssessmentMode, str]] = {
    AssessmentMode.ZERO_SHOT: "quantitative",
    AssessmentMode.FEW_SHOT: "quantitative_references",
    AssessmentMode.RANDOM_REFERENCES: "quantitative_references",
    AssessmentMode.DESCRIPTIONS_ONLY: "quantitative_descriptions",
}
"""The task that asks for the scores in each mode."""


def asked_tasks(
    tasks: Tasks,
    mode: AssessmentMode,
    *,
    is_judged_together: bool,
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
        "schema_formats": _SCHEMA_FORMATS,
        "delimiter": DELIMITED,
        "belief_decision": belief.DECISION,
    }
    return {name: plain_digest(f"{SYSTEM}\n{wording}") for name, wording in wordings.items()}


PART_DIGESTS: Final = {
    name: plain_digest(f"{SYSTEM}\n{wording}")
    for name, wording in (("part", PART), ("notes", NOTES))
}
"""Those of what stands before parts of a long interview, and before the notes on them."""

_MOST_BYTES: Final = 1 << 20
_FIELD: Final = "--prompts"
_BLOCK: Final = re.compile(r"\{([A-Za-z_]+)\}")
_UNWRITABLE: Final = re.compile(r"'''|[\x00-\x08\x0b-\x1f\x7f]")


def read_tasks(path: Path) -> dict[str, str]:
    """Return the tasks of all agents, with those that a file words otherwise in their place.

    A key is a task's name, its value the whole text, which keeps the task's first line and the
    blocks in braces, such as `{findings}`; all other braces are text. Raises `InputError` that
    names file, task and cure.
    """
    try:
        content = read_regular(path, most_bytes=_MOST_BYTES)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {reason_of(error)}", field=_FIELD) from None
    return tasks_in(content, path)


def tasks_in(content: bytes, path: Path) -> dict[str, str]:
    """Return the tasks of all agents as the content of a file words them; raises `InputError`."""
    try:
        found = tomllib.loads(content.decode("utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        line = f": {error}" if isinstance(error, tomllib.TOMLDecodeError) else ""
        raise InputError(f"{path} is no TOML file{line}", field=_FIELD) from None
    if not found:
        raise InputError(f"{path} words no task; there are {', '.join(TASKS)}", field=_FIELD)
    for name, text in found.items():
        complaint = _complaint(name, text)
        if complaint is not None:
            raise InputError(f"{path}: {complaint}", field=_FIELD)
    return {**TASKS, **{name: _template(text) for name, text in found.items()}}


def task_lines(tasks: Tasks) -> Iterable[str]:
    """Yield the lines of the file that words tasks as they are."""
    for name, template in tasks.items():
        text = template.format_map({block: f"{{{block}}}" for block in _blocks(template)})
        yield f"{name} = '''\n{text}'''\n\n"


def _complaint(name: str, text: object) -> str | None:
    """Return what is wrong with a task and how to correct it."""
    if name not in TASKS:
        guess = did_you_mean(name, TASKS)
        return f"there is no task {name!r}{guess}; there are {', '.join(TASKS)}"
    if not isinstance(text, str) or _UNWRITABLE.search(text):
        return f"task {name!r} is no text, or holds ''' or control characters"
    first_line = TASKS[name].partition("\n")[0]
    if text.partition("\n")[0] != first_line or not text.partition("\n")[2].strip():
        return f"task {name!r} does not begin with the line {first_line!r} and then its text"
    wanted, given = _blocks(TASKS[name]), set(_BLOCK.findall(text))
    for unknown in sorted(given - wanted):
        guess = did_you_mean(unknown, wanted)
        return f"task {name!r} has no block {{{unknown}}}{guess}"
    for missing in sorted(wanted - given):
        return f"task {name!r} lacks the block {{{missing}}}, for what it is to read"
    return None


def _blocks(template: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(template) if name}


def _template(text: str) -> str:
    """Return a text as a template, in which braces of the text itself are doubled."""
    return "".join(
        f"{{{part}}}" if number % 2 else in_template(part)
        for number, part in enumerate(_BLOCK.split(text))
    )
