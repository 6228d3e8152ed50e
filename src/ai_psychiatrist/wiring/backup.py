"""Copies of the store's files, made while others write, and their way back.

The keys are copied apart from what they open: somebody who is erased stays unreadable in an old
copy of the data, as long as no copy of the keys is as old.
"""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory
from typing import Final

from ai_psychiatrist.config import Settings
from ai_psychiatrist.domain.errors import ConfigurationError, InputError, require
from ai_psychiatrist.infrastructure.private_files import (
    make_file,
    make_folder,
    sync_folder,
    writing_to,
)
from ai_psychiatrist.store.database import Database
from ai_psychiatrist.store.opening import FILE_NAME, KEYS_NAME
from ai_psychiatrist.store.stores import KEY_NAME, Stores
from ai_psychiatrist.wiring.records import stores_of

_FROM: Final = "FROM"
_STAGE: Final = ".restore-"
_KEYS: Final = "--with-keys"
_DUMP: Final = """the store is in PostgreSQL, which has tools for it; by a role with BYPASSRLS:
  pg_dump --format=custom --exclude-schema=keys --file=store.dump DATABASE
  pg_dump --format=custom --schema=keys --file=ELSEWHERE/keys.dump DATABASE
and back, into an empty database, the keys first:
  pg_restore --dbname=DATABASE ELSEWHERE/keys.dump
  pg_restore --dbname=DATABASE store.dump"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """How much a copy of the store holds, of all tenants, without what a sweep has hidden."""

    assessments: int
    interviews: int

    def __str__(self) -> str:
        return f"assessments: {self.assessments}, interviews: {self.interviews}"


def held_in(folder: Path) -> Held:
    """Return how much the copy in a folder holds: servers may have stored more since."""
    address = f"{(folder / FILE_NAME).absolute().as_uri()}?mode=ro"
    with closing(sqlite3.connect(address, uri=True)) as copy:
        (assessments,) = copy.execute(
            "SELECT count(*) FROM records WHERE swept_at IS NULL"
        ).fetchone()
        (held,) = copy.execute("SELECT count(*) FROM interviews WHERE swept_at IS NULL").fetchone()
    return Held(assessments=assessments, interviews=held)


def back_up(database: Database, state_dir: Path, out: Path, *, keys_out: Path | None) -> Held:
    """Copy what is stored as it is at one moment, and the keys after it where a folder is named.

    In this order the copy of the keys opens all of the copy of the data. Returns how much it holds.
    Raises `InputError` for folders that cannot be written or have a copy, and for a store in
    PostgreSQL.
    """
    require(database.is_sqlite, _DUMP, field="DATABASE_URL")
    require(
        keys_out is None or keys_out.resolve() != out.resolve(),
        "the keys have to lie apart from what they open: name another folder than for --out",
        field=_KEYS,
    )
    with writing_to(out, field="--out"):
        _copy(state_dir / FILE_NAME, out / FILE_NAME, field="--out")
    if keys_out is not None:
        with writing_to(keys_out, field=_KEYS):
            _copy(state_dir / KEYS_NAME, keys_out / KEYS_NAME, field=_KEYS)
    return held_in(out)


@dataclass(frozen=True, slots=True, kw_only=True)
class Staged:
    """Copies of a backup next to their destination, opened to be checked."""

    stores: Stores
    folder: Path
    state_dir: Path
    has_keys: bool
    key_file: Path
    """Of the installation, which has to open the tenants' keys."""

    def require_key(self) -> None:
        """Raise `InputError` where the installation's key opens nothing of any tenant."""
        tenants = self.stores.tenants()
        for tenant in tenants:
            with suppress(ConfigurationError):
                self.stores.open(tenant)
                return
        require(
            not tenants,
            f"the key in {str(self.key_file)!r} opens nothing in the backup; nothing was restored. "
            "Put the key there that the installation had when the backup was made",
            field="DATA_KEY_FILE",
        )

    def place(self) -> None:
        """Put the files where the program looks for them."""
        self.stores.close()
        for name in (KEYS_NAME, FILE_NAME) if self.has_keys else (FILE_NAME,):
            (self.folder / name).rename(self.state_dir / name)
        sync_folder(self.state_dir)


@contextmanager
def staged(settings: Settings, source: Path, *, keys_from: Path | None) -> Iterator[Staged]:
    """Copy a backup into a folder below the state folder, which goes when the block ends.

    `keys_from`: the folder of its keys; else those that are in the state folder have to open it.
    Raises `InputError` where a store is there already, or the copies are none of this version.
    """
    state_dir = settings.data.state_folder
    names = [FILE_NAME] if keys_from is None else [FILE_NAME, KEYS_NAME]
    # What SQLite left beside a file that is gone would be read into the one that is put there.
    for path in (path for name in names for path in state_dir.glob(f"{name}*")):
        raise InputError(
            f"{path.name} is in DATA_STATE_DIR already: restore into a folder without a store",
            field=_FROM,
        )
    require(
        keys_from is not None or (state_dir / KEYS_NAME).exists(),
        f"DATA_STATE_DIR has no {KEYS_NAME}: put it there, or name the folder of its copy",
        field=_KEYS,
    )
    with writing_to(state_dir, field="DATA_STATE_DIR"):
        make_folder(state_dir)
        for left in state_dir.glob(f"{_STAGE}*"):
            # Of a restore that was killed; it holds keys.
            rmtree(left)
        with TemporaryDirectory(dir=state_dir, prefix=_STAGE) as name:
            folder = Path(name)
            _copy(source / FILE_NAME, folder / FILE_NAME, field=_FROM)
            _copy((keys_from or state_dir) / KEYS_NAME, folder / KEYS_NAME, field=_KEYS)
            with closing(stores_of(settings, folder)) as stores:
                yield Staged(
                    stores=stores,
                    folder=folder,
                    state_dir=state_dir,
                    has_keys=keys_from is not None,
                    key_file=settings.data.key_file or state_dir / KEY_NAME,
                )


def _copy(source: Path, target: Path, *, field: str) -> None:
    is_new = not target.exists()
    require(is_new, f"{target.name} is in the folder already: name a new one", field=field)
    make_folder(target.parent)
    draft = target.with_name(f".{target.name}.part")
    draft.unlink(missing_ok=True)
    os.close(make_file(draft))
    try:
        address = f"{source.absolute().as_uri()}?mode=ro"
        with (
            closing(sqlite3.connect(address, uri=True)) as from_file,
            closing(sqlite3.connect(draft)) as to_file,
        ):
            from_file.backup(to_file)
            # One file, with nothing beside it that could be forgotten.
            to_file.execute("PRAGMA journal_mode = DELETE")
        draft.replace(target)
        sync_folder(target.parent)
    except sqlite3.Error as error:
        raise InputError(
            f"{source.name} cannot be copied: {error.sqlite_errorname}", field=field
        ) from None
    finally:
        draft.unlink(missing_ok=True)
