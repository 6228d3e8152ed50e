"""Keys that are destroyed: no byte of them is left in any file, whatever happened before."""

import sqlite3
from contextlib import closing
from pathlib import Path

from tests.unit.store.stored import open_store

from ai_psychiatrist.store.opening import KEYS_NAME

SUBJECTS = 1000


def sealed_in(folder: Path) -> dict[str, list[bytes]]:
    """Return what is sealed of each subject."""
    with closing(sqlite3.connect(folder / KEYS_NAME)) as file:
        rows = file.execute("SELECT id, wrapped, sealed_name, name_digest FROM subjects")
        return {str(subject_id): sealed for subject_id, *sealed in rows}


def left_of(sealed: list[bytes], folder: Path) -> int:
    written = b"".join(path.read_bytes() for path in folder.glob("*.sqlite*"))
    return sum(one in written for one in sealed)


def test_no_copy_of_a_key_stays_where_pages_were_split(tmp_path: Path) -> None:
    """A page that grew too full keeps the bytes of what was moved to its neighbour."""
    store = open_store(tmp_path)
    keys, folder = store.keys, tmp_path
    with store.database.writing():
        for number in range(SUBJECTS):
            keys.subject(f"name {number}")
    sealed = sealed_in(folder)
    erased = sorted(sealed)[::2]
    with store.database.writing():
        for subject_id in erased:
            keys.forget(subject_id)
    assert keys.wipe()
    assert left_of([part for one in erased for part in sealed[one]], folder) == 0
    assert sealed_in(folder).keys() == sealed.keys() - set(erased)
    store.close()


def test_no_key_wrapped_before_a_rotation_stays(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    keys, folder = store.keys, tmp_path
    with store.database.writing():
        for _ in range(SUBJECTS):
            keys.subject(None)
    wrapped = [sealed[0] for sealed in sealed_in(folder).values()]
    assert keys.rotate() == SUBJECTS
    assert left_of(wrapped, folder) == 0
    store.close()
