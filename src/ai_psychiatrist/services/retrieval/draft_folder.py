"""A folder that is there whole or not at all, for its owner alone to read."""

import fcntl
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.infrastructure.private_files import make_folder, sync_folder, writing_to

_BYTES: Final = 8


@contextmanager
def draft_of_folder(out: Path) -> Iterator[Path]:
    """Yield a folder beside a folder's place, which takes that place when the block ends well.

    Drafts of this place whose programs were killed are removed first: they hold what people said.
    Raises `InputError` for a folder that holds something or cannot be written.
    """
    if out.is_symlink() or (out.exists() and (not out.is_dir() or any(out.iterdir()))):
        msg = f"{out} is there already and holds something; name a new folder"
        raise InputError(msg, field="--out")
    # Else `.` has no name and no parent.
    out = out.absolute()
    _remove_abandoned(out)
    draft = out.with_name(f".{out.name}.{secrets.token_hex(_BYTES)}")
    try:
        with writing_to(out, field="--out"):
            make_folder(draft)
            with _held(draft):
                yield draft
                draft.rename(out)
            sync_folder(out.parent)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _remove_abandoned(out: Path) -> None:
    name = re.compile(rf"\.{re.escape(out.name)}\.[0-9a-f]{{{2 * _BYTES}}}")
    try:
        beside = [path for path in out.parent.iterdir() if name.fullmatch(path.name)]
    except OSError:
        # No folder yet, or none that can be read: nothing of ours is known to be in it.
        return
    for path in beside:
        try:
            with _held(path):
                shutil.rmtree(path, ignore_errors=True)
        except OSError:
            # Another program is at it, or it is no folder.
            continue


@contextmanager
def _held(folder: Path) -> Iterator[None]:
    """Hold a folder; the system lets go of it when the process ends, however it ends.

    Raises `OSError` where another one holds it, and for what is no folder.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(descriptor)
