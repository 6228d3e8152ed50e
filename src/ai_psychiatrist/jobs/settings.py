"""Settings of jobs, and of webhooks: to which hosts they go, and what they are signed with."""

import base64
import re
from contextlib import suppress
from pathlib import Path
from typing import Final

from pydantic import Field, SecretStr, field_validator
from pydantic_settings import SettingsConfigDict

from ai_psychiatrist.domain.callback import Callback
from ai_psychiatrist.domain.errors import ConfigurationError, InputError
from ai_psychiatrist.infrastructure.given_files import naming_setting, read_regular
from ai_psychiatrist.infrastructure.options import CommaList, Options, is_of_this_machine

LEAST_SECRET_BYTES: Final = 32
_HOST: Final = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?|[0-9a-f:.]*:[0-9a-f:.]*")
_UNSEEN: Final = re.compile(r"[\x00-\x20\x7f\\]")
_USER: Final = re.compile(r"[^/]*//[^/?#]*@")
MOST_URL_CHARACTERS: Final = 2_048


class JobSettings(Options):
    """How assessments run in the background."""

    model_config = SettingsConfigDict(env_prefix="JOBS_")

    concurrency: int = Field(
        default=4,
        ge=0,
        le=1_000,
        description="Maximum jobs of a process at a time; 0: a server leaves all jobs to workers.",
    )
    per_tenant: int = Field(
        default=0,
        ge=0,
        description="Maximum jobs of one tenant at a time, over all processes; 0: no limit.",
    )
    timeout_seconds: float = Field(
        default=3_600.0, gt=0, description="Time limit of one job; finished parts are kept."
    )
    reap_seconds: float = Field(
        default=15.0,
        ge=5.0,
        description=(
            "With DATABASE_URL: a process without a sign of life for so long counts as "
            "dead, and others resume its jobs."
        ),
    )


class WebhookSettings(Options):
    """Which hosts are notified of ended jobs and held interviews, and how webhooks are signed."""

    model_config = SettingsConfigDict(env_prefix="JOBS_WEBHOOK_")

    hosts: CommaList[str] = Field(
        default=(),
        description="Hosts that a `callback_url` may name, as `host` or `host:port`; empty: none.",
    )
    secret: SecretStr = Field(
        default=SecretStr(""),
        description=(
            "Secret that signs webhooks: 32 bytes or more; a second one after a blank signs, too."
        ),
    )
    secret_file: Path | None = Field(
        default=None,
        description=(
            "File with the secret, or two secrets, one a line; instead of JOBS_WEBHOOK_SECRET."
        ),
    )
    allow_http: bool = Field(
        default=False,
        description="Allow `http://` for hosts of this machine; all others need https.",
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
        with naming_setting(name):
            text = read_regular(settings.secret_file, most_bytes=4_096)
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
    named = "" if re.search(r"[/?#@]", host) else host_of(f"https://{host}")
    if not named:
        msg = "a host is written `hooks.example.org` or `hooks.example.org:8443`, with no wildcard"
        raise ValueError(msg)
    return named


def danger_callback(address: SecretStr, settings: WebhookSettings) -> Callback | None:
    """Return the address that is notified of all danger, `None` where there is none.

    Raises `ConfigurationError`, which quotes none of it, for what no `callback_url` may be.
    """
    url = address.get_secret_value()
    if not url:
        return None
    try:
        return Callback(host=callback_host(url, settings), url=url)
    except InputError as error:
        msg = str(error).replace("callback_url", "DANGER_CALLBACK_URL", 1)
        raise ConfigurationError(msg) from None


def callback_host(address: str, settings: WebhookSettings) -> str:
    """Return host and port of a `callback_url`; raises `InputError`, which quotes none of it."""
    host = host_of(address) if len(address) <= MOST_URL_CHARACTERS else ""
    is_here = settings.allow_http and is_of_this_machine(host.rpartition(":")[0])
    schemes = ("https://", "http://") if is_here else ("https://",)
    faults = {
        "cannot be used here: JOBS_WEBHOOK_HOSTS names no host": (not settings.hosts),
        f"is no address of at most {MOST_URL_CHARACTERS} characters that begins with https://": (
            not host
        ),
        "may have no user, password or fragment: leave out what is before @ or after #": (
            _USER.match(address) is not None or "#" in address
        ),
        "has to begin with https://; JOBS_WEBHOOK_ALLOW_HTTP allows http:// for this machine": (
            not address.lower().startswith(schemes)
        ),
        "names a host and port that JOBS_WEBHOOK_HOSTS does not name: add it there": (
            host not in settings.hosts
        ),
    }
    for fault, is_so in faults.items():
        if is_so:
            raise InputError(f"callback_url {fault}", field="callback_url")
    return host


def host_of(address: str) -> str:
    """Return host and port of an address, as the client reads it that will follow it.

    So nobody can make the check read one host and the client another. Empty where it cannot.
    """
    import httpx2  # noqa: PLC0415  only who makes callbacks needs it

    try:
        url = httpx2.URL(address)
    except httpx2.InvalidURL:
        return ""
    host = url.raw_host.decode("ascii")
    port = {"https": 443, "http": 80}.get(url.scheme, 0) if url.port is None else url.port
    if _UNSEEN.search(address) or not _HOST.fullmatch(host) or not 0 < port < 1 << 16:
        return ""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
