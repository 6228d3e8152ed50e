"""Settings of the HTTP server."""

import re
from ipaddress import ip_network
from pathlib import Path
from typing import Final

from pydantic import Field, field_validator
from pydantic_settings import SettingsConfigDict

from ai_psychiatrist.infrastructure.options import (
    CommaList,
    Options,
    WebAddress,
    is_of_this_machine,
)

_HOST_NAME: Final = re.compile(r"\*|[\w.-]+|\[?[\da-f]*:[\da-f.:]*:[\da-f.:]*\]?", re.ASCII)
_ORIGIN: Final = re.compile(r"https?://(?:[\w.-]+|\[[\da-fA-F:.]+\])(?::\d+)?", re.ASCII)


class ApiSettings(Options):
    """The HTTP server and its limits."""

    model_config = SettingsConfigDict(env_prefix="API_")

    host: str = Field(
        default="127.0.0.1",
        description="Address to listen on; one that other machines can reach needs AUTH_REQUIRED.",
    )
    allow_unauthenticated: bool = Field(
        default=False,
        description="Serve other machines without keys; logged every hour.",
    )
    port: int = Field(default=8000, ge=0, le=65535, description="Port to listen on; 0: a free one.")
    max_body_bytes: int = Field(
        default=4_194_304, ge=1024, description="Maximum size of a request body."
    )
    max_transcript_chars: int = Field(
        default=400_000,
        ge=1,
        description="Maximum length of a transcript, in characters, for commands as well.",
    )
    request_timeout_seconds: float = Field(
        default=900.0,
        gt=0,
        description="Deadline of a request from its arrival; finished parts are returned.",
    )
    shutdown_seconds: float = Field(
        default=20.0,
        gt=0,
        le=3600,
        description="How long running requests may take when the server shuts down.",
    )
    max_concurrency: int = Field(
        default=64,
        ge=1,
        description=(
            "Maximum assessments at a time; further requests wait for API_SLOT_WAIT_SECONDS."
        ),
    )
    slot_wait_seconds: float = Field(
        default=10.0,
        ge=0,
        description="How long a request waits for a slot; then it gets 503 and Retry-After.",
    )
    max_connections: int = Field(
        default=1000,
        ge=16,
        description="Maximum open connections of `serve`, as far as file descriptors allow.",
    )
    header_timeout_seconds: float = Field(
        default=10.0, gt=0, description="Timeout of `serve` for a whole request header."
    )
    body_timeout_seconds: float = Field(
        default=30.0, gt=0, description="Timeout for a whole request body; then 408."
    )
    answer_timeout_seconds: float = Field(
        default=60.0,
        gt=0,
        description="How long `serve` holds a response for a caller who does not read it.",
    )
    idle_timeout_seconds: int = Field(
        default=5,
        ge=1,
        description="How long `serve` keeps a connection open for the next request.",
    )
    allowed_hosts: CommaList[str] = Field(
        default=(),
        description="Additional names under which callers may reach this server; `*`: any.",
    )
    public_url: WebAddress | None = Field(
        default=None,
        description="Address under which other people reach this server, for its links.",
    )
    cors_origins: CommaList[str] = Field(
        default=(), description="Origins of web pages that may call the API."
    )
    tls_cert_file: Path | None = Field(
        default=None,
        description="PEM file with the certificate of `serve` and its chain: serves HTTPS only.",
    )
    tls_key_file: Path | None = Field(
        default=None,
        description="Key of that certificate; others must not be able to read the file.",
    )
    trusted_proxies: CommaList[str] = Field(
        default=(),
        description="Addresses or networks of proxies whose X-Forwarded-For and -Proto are used.",
    )
    docs: bool = Field(
        default=True, description="Serve /docs and /openapi.json; set false in production."
    )

    @property
    def is_for_this_machine(self) -> bool:
        """Whether only programs of this machine can call."""
        return is_of_this_machine(self.host)

    @field_validator("trusted_proxies")
    @classmethod
    def _are_networks(cls, proxies: tuple[str, ...]) -> tuple[str, ...]:
        for proxy in proxies:
            try:
                network = ip_network(proxy)
            except ValueError:
                msg = "write addresses or networks, such as 10.0.0.7 or 10.0.0.0/24"
                raise ValueError(msg) from None
            if network.prefixlen == 0:
                msg = "a network of all addresses would let every caller write who it is"
                raise ValueError(msg)
        return proxies

    @field_validator("allowed_hosts")
    @classmethod
    def _are_hosts(cls, hosts: tuple[str, ...]) -> tuple[str, ...]:
        if any(not _HOST_NAME.fullmatch(host) for host in hosts):
            msg = "write only names or addresses, such as notes.example, without scheme and port"
            raise ValueError(msg)
        return hosts

    @field_validator("cors_origins")
    @classmethod
    def _are_origins(cls, origins: tuple[str, ...]) -> tuple[str, ...]:
        for origin in origins:
            if "*" in origin or origin == "null":
                msg = "name each origin; * and null would let every page in"
            elif not origin.startswith(("http://", "https://")):
                msg = "an origin begins with https:// or http://, such as https://notes.example"
            elif origin.endswith("/"):
                msg = "write each origin without the slash at its end; browsers send none"
            elif not _ORIGIN.fullmatch(origin):
                msg = "an origin is scheme, name and port without path, query and user"
            else:
                continue
            raise ValueError(msg)
        return origins
