"""A TOML file that words tasks of agents otherwise, and one to begin such a file with."""

import re
import tomllib
from collections.abc import Iterable
from pathlib import Path
from string import Formatter
from typing import Final

from ai_psychiatrist.agents.prompts.digests import TASKS, Tasks
from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.infrastructure.given_files import read_regular, reason_of
from ai_psychiatrist.validation.nearest import did_you_mean

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
        found = tomllib.loads(read_regular(path, most_bytes=_MOST_BYTES).decode("utf-8-sig"))
    except OSError as error:
        raise InputError(f"{path} cannot be read: {reason_of(error)}", field=_FIELD) from None
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
    """Return what is wrong with a task and how it is mended."""
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
        f"{{{part}}}" if number % 2 else part.replace("{", "{{").replace("}", "}}")
        for number, part in enumerate(_BLOCK.split(text))
    )
