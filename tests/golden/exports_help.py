"""What the commands say of themselves: help, usage errors, version, settings and schema."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from ai_psychiatrist import __version__
from tests.golden.answer import Answer, Json, folder_masks, text_answer
from tests.golden.ways import run, scratch

_LISTED: Final = re.compile(r"^  ([a-z][a-z-]*)(?:  |$)", re.MULTILINE)
_ODD: Final[dict[str, Sequence[str]]] = {
    "nothing": (),
    "unknown_command": ("asess", "interview.txt"),
    "unknown_option": ("--verbose",),
    "unknown_command_of_group": ("records", "show", "x"),
    "group_alone": ("records",),
    "option_without_value": ("export", "a.json", "--format"),
    "option_twice": ("export", "a.json", "--format", "csv", "--format", "xml"),
    "number_that_is_none": ("audit", "show", "--limit", "many"),
    "number_out_of_range": ("audit", "show", "--limit", "0"),
    "misspelt_setting": ("records", "list"),
}


def answers() -> Iterator[Answer]:
    """Yield help of every command, what wrong calls are told, and what is printed of the whole."""
    with scratch() as folder:
        helps = dict(_helps(folder, ()))
        for path, text in helps.items():
            yield Answer(name="/".join(("help", *path)) or "help", value=text_answer(text))
        yield from _wrong_calls(folder, helps)
        ended = run(["--version"], folder)
        yield Answer(name="version", value=ended.value, masks={__version__: "<version>"})
        for name, options in {"env": [], "markdown": ["--markdown"]}.items():
            value = run(["settings", *options], folder).value
            yield Answer(name=f"settings/{name}", value=value)
        yield Answer(name="schema", value=run(["schema"], folder).value)


def _helps(folder: Path, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the help of a command and of all that it lists, each by the words that call it."""
    ended = run([*path, "--help"], folder)
    assert (ended.code, ended.err) == (0, ""), path
    yield path or ("ai-psychiatrist",), ended.out
    _, _, listed = ended.out.partition("\nCommands:\n")
    for name in _LISTED.findall(listed.partition("\n\n")[0]):
        yield from _helps(folder, (*path, name))


def _wrong_calls(folder: Path, helps: dict[tuple[str, ...], str]) -> Iterator[Answer]:
    unknown: dict[str, Json] = {}
    missing: dict[str, Json] = {}
    for path, text in helps.items():
        name = "/".join(path)
        if "\nCommands:\n" in text:
            continue
        unknown[name] = run([*path, "--nope"], folder).value
        if "[required]" in text:
            missing[name] = run(path, folder).value
    yield Answer(name="usage/unknown_option", value=unknown)
    yield Answer(name="usage/nothing_given", value=missing)
    for name, arguments in _ODD.items():
        settings = {"STORE_KEEP_DAY": "3"} if name == "misspelt_setting" else None
        value = run(arguments, folder, settings).value
        yield Answer(name=f"usage/{name}", value=value, masks=folder_masks(folder))
