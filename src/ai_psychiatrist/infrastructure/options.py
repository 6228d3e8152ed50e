"""The base of every group of settings, and the kinds of values that several groups have."""

from collections.abc import Mapping
from ipaddress import ip_address
from typing import Annotated, ClassVar, Self, TypeAlias, TypeVar
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, SecretStr, model_validator
from pydantic_settings import BaseSettings, InitSettingsSource, SettingsConfigDict

ValueT = TypeVar("ValueT")


class Options(BaseSettings):
    """One group of settings: frozen, closed, and silent about values.

    Constructing a group reads the environment variables of its prefix; values that are given go
    before them. An empty value means the default.
    """

    model_config = SettingsConfigDict(
        frozen=True,
        extra="forbid",
        hide_input_in_errors=True,
        validate_by_name=True,
        # Lists are separated by commas, and JSON has its own sentence when it cannot be read.
        enable_decoding=False,
    )
    empty_is_none: ClassVar[frozenset[str]] = frozenset()
    """Fields of which an empty value is a value: nothing."""

    @classmethod
    def of(cls, values: Mapping[str, object]) -> Self:
        """Return a group of these values and the defaults, whatever the environment holds."""
        return cls(_build_sources=((InitSettingsSource(cls, dict(values)),), {}))

    @classmethod
    def variable(cls, field: str) -> str:
        """Return the environment variable of a field."""
        return f"{cls.model_config.get('env_prefix', '')}{field}".upper()

    @model_validator(mode="before")
    @classmethod
    def _without_empty_values(cls, values: Mapping[str, object]) -> dict[str, object]:
        stripped = {
            name: value.strip() if isinstance(value, str) else value
            for name, value in values.items()
        }
        return {
            name: None if value == "" else value
            for name, value in stripped.items()
            if value != "" or name in cls.empty_is_none
        }


def _parts(text: object) -> object:
    if not isinstance(text, str):
        return text
    return [part for part in map(str.strip, text.split(",")) if part]


CommaList: TypeAlias = Annotated[tuple[ValueT, ...], BeforeValidator(_parts)]
"""A list that is written with commas between its values."""


def web_address(url: str) -> str:
    """Return an address without the slash at its end; raises `ValueError` for what is none."""
    try:
        parts = urlsplit(url)
        is_whole = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_whole = False
    if not is_whole or any(character.isspace() for character in url):
        msg = "an address begins with http:// or https:// and names a host"
        raise ValueError(msg)
    return url.rstrip("/")


WebAddress = Annotated[str, AfterValidator(web_address)]


def _api_key(key: SecretStr) -> SecretStr:
    text = key.get_secret_value().strip()
    if not all("!" <= character <= "~" for character in text):
        msg = "a key holds no blanks, line breaks or letters beyond ASCII; copy it again"
        raise ValueError(msg)
    return SecretStr(text)


ApiKey = Annotated[SecretStr, AfterValidator(_api_key)]


def is_address_of_others(host: str) -> bool:
    """Return whether it is an address, and one that other machines may reach; names are none."""
    try:
        address = ip_address(host)
    except ValueError:
        return False
    return not (getattr(address, "ipv4_mapped", None) or address).is_loopback


def is_of_this_machine(host: str) -> bool:
    """Return whether a name or an address is one that only programs of this machine can reach."""
    plain = plain_host(host)
    try:
        address = ip_address(plain)
    except ValueError:
        return plain == "localhost"
    return (getattr(address, "ipv4_mapped", None) or address).is_loopback


def plain_host(host: str) -> str:
    """Return a name or an address in the one form in which two that are the same are equal."""
    plain = host.strip("[]").removesuffix(".").lower()
    try:
        return str(ip_address(plain))
    except ValueError:
        return plain
