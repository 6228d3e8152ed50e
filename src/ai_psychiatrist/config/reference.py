"""Every setting for people to read: the example file and the tables of the documentation."""

from pydantic import SecretStr

from ai_psychiatrist.config.groups import Settings
from ai_psychiatrist.config.variables import Variable, variables


def env_example() -> str:
    """Return the text of `.env.example`: every variable with its meaning and default."""
    lines = ["# Every setting with its default. Copy this file to .env and change what you need."]
    group = ""
    for variable in variables():
        if variable.group != group:
            group = variable.group
            model = Settings.model_fields[group].annotation
            lines += ["", f"## {(model.__doc__ or '').strip()}" if model else ""]
        lines.append(f"# {variable.meaning}")
        lines.append(f"# {variable.name}={default_text(variable)}")
    return "\n".join(lines) + "\n"


def settings_tables() -> str:
    """Return every variable as Markdown tables, one for each group."""
    lines: list[str] = []
    group = ""
    for variable in variables():
        if variable.group != group:
            group = variable.group
            model = Settings.model_fields[group].annotation
            prefix = "" if group == "features" else f"{group.upper()}_"
            lines += ["", f"### `{prefix}`" if prefix else "### Others", ""]
            lines += [(model.__doc__ or "").strip() if model else "", ""]
            lines += ["| name | default | meaning |", "| --- | --- | --- |"]
        default = default_text(variable)
        shown = f"`{default}`" if default else "empty"
        lines.append(f"| `{variable.name}` | {shown} | {variable.meaning} |")
    return "\n".join(lines).strip() + "\n"


def default_text(variable: Variable) -> str:
    """Return a default as it would stand in a file."""
    default = variable.info.default
    match default:
        case None | SecretStr():
            return ""
        case bool():
            return str(default).lower()
        case tuple():
            return ",".join(map(str, default))
        case _:
            return str(default)
