"""Every setting for people to read: the example file and the tables of the documentation."""

from pydantic import SecretStr

from ai_psychiatrist.config.settings import GROUPS, VARIABLES, Variable


def env_example() -> str:
    """Return the text of `.env.example`: every variable with its meaning and default."""
    lines = ["# Every setting with its default. Copy this file to .env and change what you need."]
    lines += ["# Lists are separated by commas."]
    for name, group in VARIABLES.items():
        lines += ["", f"## {_subject(name)}"]
        for variable in group:
            lines += [f"# {variable.meaning}", f"# {variable.name}={default_text(variable)}"]
    return "\n".join(lines) + "\n"


def settings_tables() -> str:
    """Return every variable as Markdown tables, one for each group."""
    lines: list[str] = []
    for name, group in VARIABLES.items():
        lines += ["", f"**{_subject(name)}**"]
        lines += ["", "| name | default | meaning |", "| --- | --- | --- |"]
        for variable in group:
            default = default_text(variable)
            shown = f"`{default}`" if default else ""
            lines.append(f"| `{variable.name}` | {shown} | {variable.meaning} |")
    return "\n".join(lines[1:]) + "\n"


def default_text(variable: Variable) -> str:
    """Return a default as it would stand in a file."""
    default = variable.info.default
    match default:
        case None | SecretStr() | dict():
            return ""
        case bool():
            return str(default).lower()
        case tuple():
            return ",".join(map(str, default))
        case _:
            return str(default)


def _subject(name: str) -> str:
    """Return what a group is about."""
    return (GROUPS[name].__doc__ or "").strip()
