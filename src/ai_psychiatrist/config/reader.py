"""Read groups of settings from the environment, from `.env` and from a folder of secrets."""

import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pydantic import AliasChoices, ValidationError
from pydantic.fields import FieldInfo
from pydantic_settings import (
    EnvSettingsSource,
    PydanticBaseSettingsSource,
    SecretsSettingsSource,
    SettingsError,
)

from ai_psychiatrist.config.names import read_env_file, require_known_names
from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.infrastructure.options import Options

ENV_FILE: Final = Path(".env")
_SECRETS_DIR: Final = "DATA_SECRETS_DIR"
_BEFORE_OUR_WORDS: Final = "Value error, "
"""What Pydantic puts before the message of a validator."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable:
    """One environment variable and the field it sets."""

    name: str
    group: str
    field: str
    info: FieldInfo

    @property
    def meaning(self) -> str:
        """What the field says of itself, in a sentence."""
        return self.info.description or ""

    @property
    def names(self) -> tuple[str, ...]:
        """Its name, and those under which the library of a provider reads it."""
        alias = self.info.validation_alias
        choices = alias.choices if isinstance(alias, AliasChoices) else ()
        return tuple(dict.fromkeys((self.name, *map(str, choices))))


def variables_of(groups: Mapping[str, type[Options]]) -> Iterator[Variable]:
    """Yield the environment variables of groups, in their order."""
    for name, group in groups.items():
        for field, info in group.model_fields.items():
            yield Variable(name=_variable_name(group, field), group=name, field=field, info=info)


def read_groups(
    groups: Mapping[str, type[Options]],
    environment: Mapping[str, str] | None = None,
    dotenv: Path | None = ENV_FILE,
) -> dict[str, Options]:
    """Return name → group. The environment goes before `.env`, and that before secrets.

    Raises `ConfigurationError`, naming variables and never values, for a misspelt or retired name
    and for values that do not fit.
    """
    given, file = os.environ if environment is None else environment, read_env_file(dotenv)
    known = [name for variable in variables_of(groups) for name in variable.names]
    require_known_names(known, given, file)
    empty_counts = {
        _variable_name(group, field) for group in groups.values() for field in group.empty_is_none
    }
    texts = [_set_texts(values, empty_counts) for values in (given, file.values)]
    secrets_dir = _secrets_dir(texts)
    read: dict[str, Options] = {}
    problems: dict[str, str] = {}
    for name, group in groups.items():
        try:
            read[name] = group(_build_sources=(_sources(group, texts, secrets_dir), {}))
        except ValidationError as error:
            problems |= _problems(group, error)
        except SettingsError:
            problems[_SECRETS_DIR] = f"a file of it for a {name.upper()} setting cannot be read"
    if problems:
        lines = (f"{name}: {problem}" for name, problem in problems.items())
        raise ConfigurationError("\n".join(lines)) from None
    return read


def _variable_name(group: type[Options], field: str) -> str:
    return f"{group.model_config.get('env_prefix', '')}{field}".upper()


def _set_texts(values: Mapping[str, str], empty_counts: Collection[str]) -> dict[str, str]:
    return {
        name.lower(): text
        for name, text in values.items()
        if text.strip() or name.upper() in empty_counts
    }


def _secrets_dir(texts: Iterable[Mapping[str, str]]) -> Path | None:
    named = next((said[key] for said in texts if (key := _SECRETS_DIR.lower()) in said), None)
    if named is None:
        return None
    folder = Path(named.strip()).expanduser()
    if not folder.is_dir():
        msg = f"{_SECRETS_DIR} is no folder; make it, or leave the setting out"
        raise ConfigurationError(msg)
    return folder


def _sources(
    group: type[Options], texts: Iterable[Mapping[str, str]], secrets_dir: Path | None
) -> tuple[PydanticBaseSettingsSource, ...]:
    sources: list[PydanticBaseSettingsSource] = []
    for said in texts:
        source = EnvSettingsSource(group)
        source.env_vars = said
        sources.append(source)
    return (*sources, SecretsSettingsSource(group, secrets_dir=secrets_dir))


def _problems(group: type[Options], error: ValidationError) -> dict[str, str]:
    """Return variable → what is wrong with its value, the first thing of each."""
    found: dict[str, str] = {}
    for problem in error.errors(include_input=False, include_url=False, include_context=False):
        field = str(problem["loc"][0])
        name = _variable_name(group, field) if field in group.model_fields else field
        found.setdefault(name, problem["msg"].removeprefix(_BEFORE_OUR_WORDS))
    return found
