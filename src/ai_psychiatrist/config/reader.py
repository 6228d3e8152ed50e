"""The one reader of the environment; values are never shown, because some of them are keys."""

import os
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from ai_psychiatrist.config.earlier_names import instead_of
from ai_psychiatrist.config.env_file import EnvFile, is_plain_name, read_env_file
from ai_psychiatrist.config.groups import Settings
from ai_psychiatrist.config.variables import Variable, variables
from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.infrastructure.logging import get_logger

logger = get_logger(__name__)

_LIKENESS: Final = 0.9
_LIKENESS_IN_GROUP: Final = 0.85
"""Where the first word is right; another one may be right elsewhere, such as APP_PORT."""
_OTHER_NAMES: Final = {
    "GEMINI_API_KEY": "GOOGLE_API_KEY",
    "GOOGLE_GEMINI_BASE_URL": "GOOGLE_BASE_URL",
}
"""Names under which a provider's own library reads a variable of ours."""
_BEFORE_OUR_WORDS: Final = "Value error, "
"""What Pydantic puts before the message of a validator."""


def load_settings(
    environment: Mapping[str, str] | None = None, dotenv: Path | None = Path(".env")
) -> Settings:
    """Read the settings from the environment, which goes before the file `.env`.

    An empty value counts as not set. Raises `ConfigurationError` for a misspelt name or a value
    that does not fit, naming the variable and never the value.
    """
    given = _named_as_here(os.environ if environment is None else environment)
    file = read_env_file(dotenv)
    filed = _named_as_here(file.values)
    known = {variable.name: variable for variable in variables()}
    names = [name for name in dict.fromkeys([*given, *filed]) if name.upper() not in known]
    earlier = instead_of(name for name in names if is_plain_name(name.upper()))
    if earlier:
        logger.warning("earlier_settings_ignored", reason=earlier)
    unknown = [name for name in names if name not in earlier]
    _refuse_misspelt(known, unknown, file)
    _warn_of_unknown([name for name in unknown if name in filed], file)
    values: dict[str, dict[str, str | list[str]]] = {}
    for name, text in {**_not_empty(filed), **_not_empty(given)}.items():
        if name in known:
            variable = known[name]
            values.setdefault(variable.group, {})[variable.field] = variable.read(text)
    try:
        return Settings.model_validate(values)
    except ValidationError as error:
        raise ConfigurationError(_explain(error)) from None


def _named_as_here(values: Mapping[str, str]) -> dict[str, str]:
    """Return the values with our names in place of other ones; where both are set, ours wins."""
    ours = {_OTHER_NAMES[name]: text for name, text in values.items() if name in _OTHER_NAMES}
    return ours | {name: text for name, text in values.items() if name not in _OTHER_NAMES}


def _not_empty(values: Mapping[str, str]) -> dict[str, str]:
    return {name.upper(): text for name, text in values.items() if text.strip()}


def _refuse_misspelt(known: Mapping[str, Variable], names: list[str], file: EnvFile) -> None:
    problems = [
        f"{_name_or_place(name, file)} is not a setting; did you mean {nearest}?"
        for name in names
        if (nearest := _nearest(name.upper(), known)) is not None
    ]
    if problems:
        raise ConfigurationError("\n".join(problems))


def _name_or_place(name: str, file: EnvFile) -> str:
    """Return a name that is almost one of ours, or its place where a key may be glued to it."""
    if is_plain_name(name.upper()):
        return name
    line = file.lines.get(name)
    return "a variable of the environment" if line is None else f"line {line} of the env file"


def _warn_of_unknown(names: list[str], file: EnvFile) -> None:
    shown = {name for name in names if is_plain_name(name) and name not in file.bare}
    for name in sorted(shown):
        logger.warning("setting_ignored", name=name, reason="unknown_name_in_env_file")
    strays = {file.lines[name] for name in names if name not in shown}
    for line in sorted(strays.union(file.unread_lines)):
        logger.warning("setting_ignored", line=line, reason="no_setting_in_line_of_env_file")


def _nearest(name: str, known: Mapping[str, Variable]) -> str | None:
    group = [other for other in known if other.partition("_")[0] == name.partition("_")[0]]
    close = get_close_matches(name, group, n=1, cutoff=_LIKENESS_IN_GROUP)
    return next(iter(close or get_close_matches(name, known, n=1, cutoff=_LIKENESS)), None)


def _explain(error: ValidationError) -> str:
    names = {(variable.group, variable.field): variable.name for variable in variables()}
    lines = []
    for problem in error.errors(include_input=False, include_url=False, include_context=False):
        place = tuple(map(str, problem["loc"]))
        name = names.get((place[0], place[1])) if len(place) > 1 else None
        said = problem["msg"].removeprefix(_BEFORE_OUR_WORDS)
        lines.append(f"{name or '.'.join(place)}: {said}")
    return "\n".join(lines)
