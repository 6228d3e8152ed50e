"""How webhooks are signed, after the convention of Standard Webhooks."""

import base64
import binascii
import hashlib
import hmac
from typing import TYPE_CHECKING, Final

from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.infrastructure.given_files import read_regular, reason_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ai_psychiatrist.jobs.webhooks.settings import WebhookSettings

LEAST_BYTES: Final = 32
_MOST_FILE_BYTES: Final = 4_096
_MOST_KEYS: Final = 2
_ENCODED: Final = "whsec_"
_CURE: Final = "make one with `openssl rand -hex 32`"


def signature(event_id: str, seconds: int, body: bytes, keys: "Sequence[bytes]") -> str:
    """Return the value of `Webhook-Signature`: one signature for each key.

    `seconds`: since 1970, as `Webhook-Timestamp` says.
    """
    signed = b".".join((event_id.encode(), str(seconds).encode(), body))
    digests = (hmac.digest(key, signed, hashlib.sha256) for key in keys)
    return " ".join(f"v1,{base64.b64encode(digest).decode()}" for digest in digests)


def signing_keys(settings: "WebhookSettings") -> "tuple[bytes, ...]":
    """Return what webhooks are signed with, none where no host may get one.

    Raises `ConfigurationError`, naming the variable, where hosts are named and no secret is, and
    for a secret that is too short.
    """
    if not settings.hosts:
        return ()
    name, text = _written(settings)
    secrets = text.split()
    if not 0 < len(secrets) <= _MOST_KEYS:
        msg = f"{name} holds one secret, or two while the one takes the other's place; {_CURE}"
        raise ConfigurationError(msg)
    return tuple(_key(name, secret) for secret in secrets)


def _written(settings: "WebhookSettings") -> tuple[str, str]:
    secret = settings.secret.get_secret_value()
    if settings.secret_file is None:
        if not secret:
            msg = f"JOBS_WEBHOOK_HOSTS needs JOBS_WEBHOOK_SECRET, too: webhooks are signed; {_CURE}"
            raise ConfigurationError(msg)
        return "JOBS_WEBHOOK_SECRET", secret
    if secret:
        msg = "set JOBS_WEBHOOK_SECRET or JOBS_WEBHOOK_SECRET_FILE, not both"
        raise ConfigurationError(msg)
    name = "JOBS_WEBHOOK_SECRET_FILE"
    try:
        return name, read_regular(settings.secret_file, most_bytes=_MOST_FILE_BYTES).decode()
    except OSError as error:
        msg = f"{name} cannot be read: {reason_of(error)}"
    except UnicodeDecodeError:
        msg = f"{name} holds no text; {_CURE}"
    raise ConfigurationError(msg)


def _key(name: str, secret: str) -> bytes:
    key = secret.encode()
    if secret.startswith(_ENCODED):
        try:
            key = base64.b64decode(secret.removeprefix(_ENCODED), validate=True)
        except binascii.Error:
            key = b""
    if len(key) < LEAST_BYTES:
        msg = f"{name} holds a secret of less than {LEAST_BYTES} bytes; {_CURE}"
        raise ConfigurationError(msg)
    return key
