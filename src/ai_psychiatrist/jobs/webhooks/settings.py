"""Settings of webhooks: to which hosts they go, and what they are signed with."""

import base64
import re
from contextlib import suppress
from pathlib import Path
from typing import Final

from pydantic import Field, SecretStr, field_validator
from pydantic_settings import SettingsConfigDict

from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.infrastructure.given_files import read_regular, reason_of
from ai_psychiatrist.infrastructure.options import CommaList, Options

LEAST_SECRET_BYTES: Final = 32
_HOST: Final = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?|[0-9a-f:.]*:[0-9a-f:.]*")
_UNSEEN: Final = re.compile(r"[\x00-\x20\x7f\\]")


class WebhookSettings(Options):
    """Who is told of the ends of jobs, and how the messages are signed."""

    model_config = SettingsConfigDict(env_prefix="JOBS_WEBHOOK_")

    hosts: CommaList[str] = Field(
        default=(),
        description="Hosts that a `callback_url` may name, as `host` or `host:port`; empty: none.",
    )
    secret: SecretStr = Field(
        default=SecretStr(""),
        description="Signs webhooks: 32 bytes or more; a second one after a blank signs, too.",
    )
    secret_file: Path | None = Field(
        default=None, description="File of the secret, or of two, one a line; instead of it."
    )
    allow_http: bool = Field(
        default=False,
        description="Take `http://` for hosts of this machine, too; all others need https.",
    )
    keep_days: int = Field(
        default=14,
        ge=1,
        le=3_650,
        description="Days that a webhook is remembered after it was delivered or given up.",
    )

    @field_validator("hosts")
    @classmethod
    def _with_ports(cls, hosts: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(map(_named_host, hosts)))


def signing_keys(settings: WebhookSettings) -> tuple[bytes, ...]:
    """Return what webhooks are signed with, none where no host may get one.

    Raises `ConfigurationError`, naming the variable, where hosts are named and no secret is, and
    for a secret that is too short.
    """
    if not settings.hosts:
        return ()
    name, text = "JOBS_WEBHOOK_SECRET", settings.secret.get_secret_value().encode()
    if settings.secret_file is not None:
        if text:
            msg = "set JOBS_WEBHOOK_SECRET or JOBS_WEBHOOK_SECRET_FILE, not both"
            raise ConfigurationError(msg)
        name = "JOBS_WEBHOOK_SECRET_FILE"
        try:
            text = read_regular(settings.secret_file, most_bytes=4_096)
        except OSError as error:
            msg = f"{name} cannot be read: {reason_of(error)}"
            raise ConfigurationError(msg) from None
    keys = tuple(map(_key, text.split()))
    if len(keys) not in {1, 2} or min(map(len, keys)) < LEAST_SECRET_BYTES:
        msg = (
            f"JOBS_WEBHOOK_HOSTS needs {name}, for webhooks are signed: one secret, or two while "
            f"the one takes the other's place, and none of less than {LEAST_SECRET_BYTES} bytes; "
            "make one with `openssl rand -hex 32`"
        )
        raise ConfigurationError(msg)
    return keys


def _key(secret: bytes) -> bytes:
    encoded = secret.removeprefix(b"whsec_")
    with suppress(ValueError):
        return secret if encoded == secret else base64.b64decode(encoded, validate=True)
    return b""


def _named_host(host: str) -> str:
    named = None if re.search(r"[/?#@]", host) else host_of(f"https://{host}")
    if named is None:
        msg = "a host is written `hooks.example.org` or `hooks.example.org:8443`, with no wildcard"
        raise ValueError(msg)
    return named


def host_of(address: str) -> str | None:
    """Return host and port of an address, as the client reads it that will follow it.

    So nobody can make the check read one host and the client another. `None` where it cannot.
    """
    import httpx2  # noqa: PLC0415  only who makes callbacks needs it

    try:
        url = httpx2.URL(address)
    except httpx2.InvalidURL:
        return None
    host = url.raw_host.decode("ascii")
    port = {"https": 443, "http": 80}.get(url.scheme, 0) if url.port is None else url.port
    if _UNSEEN.search(address) or not _HOST.fullmatch(host) or not 0 < port < 1 << 16:
        return None
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
