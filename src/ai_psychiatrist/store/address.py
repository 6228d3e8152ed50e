"""The address of a PostgreSQL database, from the settings."""

from importlib.util import find_spec
from pathlib import Path
from typing import Final

from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.infrastructure.given_files import expanded, naming_setting, read_regular
from ai_psychiatrist.store.settings import DatabaseSettings

_CURE: Final = (
    "DATABASE_URL is no address of a PostgreSQL database; write for example "
    "postgresql://user:password@host:5432/assessments, or leave it empty for files on this machine"
)
_NO_DRIVER: Final = (
    "DATABASE_URL names a PostgreSQL, which needs the extra: pip install 'ai-psychiatrist[jobs]'"
)
_MOST_PASSWORD_BYTES: Final = 4_096
_KEPT_ALIVE: Final = {
    "connect_timeout": "5",
    "keepalives_idle": "5",
    "keepalives_interval": "2",
    "keepalives_count": "3",
    "tcp_user_timeout": "10000",
}
"""So that a connection whose other machine is gone ends within seconds."""


def address_of(settings: DatabaseSettings) -> URL | None:
    """Return the address with its password, `None` where the settings name none.

    Raises `ConfigurationError` for what is no address, for a password that cannot be read, and
    where the driver is not installed.
    """
    text = settings.url.get_secret_value().strip()
    if not text:
        return None
    url = _parsed(text)
    if find_spec("psycopg") is None:
        raise ConfigurationError(_NO_DRIVER)
    if settings.password_file is not None:
        url = url.set(password=_password(settings.password_file))
    return url.set(query={**_KEPT_ALIVE, **url.query})


def _parsed(text: str) -> URL:
    try:
        url = make_url(text)
    except (ArgumentError, ValueError):
        raise ConfigurationError(_CURE) from None
    if url.get_backend_name() not in {"postgresql", "postgres"} or not url.database:
        raise ConfigurationError(_CURE)
    return url.set(drivername="postgresql+psycopg")


def _password(path: Path) -> str:
    setting = "DATABASE_PASSWORD_FILE"
    with naming_setting(setting):
        written = read_regular(expanded(path, setting=setting), most_bytes=_MOST_PASSWORD_BYTES)
    try:
        return written.decode().strip()
    except UnicodeDecodeError:
        raise ConfigurationError(f"{setting} holds no text in UTF-8") from None
