"""Certificate and key of the server, checked before it starts."""

import ssl
from pathlib import Path
from typing import NoReturn

from ai_psychiatrist.config import ApiSettings
from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.infrastructure.given_files import naming_setting, open_regular
from ai_psychiatrist.infrastructure.private_files import require_secret


def require_usable_tls(settings: ApiSettings) -> None:
    """Look at certificate and key, where they are named.

    Raises `ConfigurationError` for files that cannot be used together, or that others can use.
    """
    certificate, key = settings.tls_cert_file, settings.tls_key_file
    if certificate is None and key is None:
        return
    if certificate is None or key is None:
        msg = "API_TLS_CERT_FILE and API_TLS_KEY_FILE belong together: set both, or neither"
        raise ConfigurationError(msg)
    _refuse_unreadable(certificate, "API_TLS_CERT_FILE")
    _refuse_unreadable(key, "API_TLS_KEY_FILE")
    require_secret(key.stat(), setting="API_TLS_KEY_FILE")
    try:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key, password=_no_password)
    except ssl.SSLError as error:
        raise ConfigurationError(_explained(error)) from None


def _refuse_unreadable(path: Path, setting: str) -> None:
    with naming_setting(setting):
        open_regular(path).close()


def _no_password() -> NoReturn:
    # Without this the library would ask for one on the terminal.
    msg = "API_TLS_KEY_FILE is encrypted: write it without a passphrase, readable by its owner only"
    raise ConfigurationError(msg)


def _explained(error: ssl.SSLError) -> str:
    if error.reason == "KEY_VALUES_MISMATCH":
        return "API_TLS_KEY_FILE is not the key of the certificate in API_TLS_CERT_FILE"
    return (
        "API_TLS_CERT_FILE and API_TLS_KEY_FILE hold no certificate and key in PEM form, the "
        "server's own certificate first"
    )
