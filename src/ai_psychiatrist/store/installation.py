"""Keys of the installation itself: made once, and wrapped by the key that opens the store."""

import os
from typing import Final

from sqlalchemy import bindparam, delete, insert, select

from ai_psychiatrist.store.cipher import KEY_BYTES, Cipher, StoreKeys
from ai_psychiatrist.store.database import Database
from ai_psychiatrist.store.key_schema import installation

_OWN: Final = installation.c.purpose == bindparam("of_purpose")
_WRAPS: Final = select(installation.c.wrapped).where(_OWN)
_PURPOSES: Final = select(installation.c.purpose).distinct()
_UNWRAPPED: Final = delete(installation).where(_OWN)


def installation_secret(database: Database, keys: StoreKeys, purpose: str) -> bytes:
    """Return 32 bytes that are the same for all who share the store; made where there are none.

    Raises `StoreUnusable`, and `ConfigurationError` where no key opens what there is.
    """
    with database.among_tenants() as connection:
        sealed = connection.scalars(_WRAPS, {"of_purpose": purpose}).all()
        if sealed:
            return keys.opened(*sealed, place=_place(purpose))[1]
        key = os.urandom(KEY_BYTES)
        wrapped = keys.first().seal(key, place=_place(purpose))
        connection.execute(insert(installation), {"purpose": purpose, "wrapped": wrapped})
        return key


def wrap_anew(database: Database, keys: StoreKeys, *, further: Cipher | None) -> None:
    """Let the present key open all, and `further` as well where there is one; no other any more.

    Raises as `installation_secret` does.
    """
    with database.among_tenants() as connection:
        for purpose in connection.scalars(_PURPOSES).all():
            sealed = connection.scalars(_WRAPS, {"of_purpose": purpose}).all()
            present, key = keys.opened(*sealed, place=_place(purpose))
            connection.execute(_UNWRAPPED, {"of_purpose": purpose})
            for cipher in (present, further):
                if cipher is not None:
                    wrapped = cipher.seal(key, place=_place(purpose))
                    connection.execute(
                        insert(installation), {"purpose": purpose, "wrapped": wrapped}
                    )


def _place(purpose: str) -> str:
    return f"installation/{purpose}"
