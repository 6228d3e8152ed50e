"""Logs of who did what that were changed: what is found, and whether they take a row more."""

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Final

from tests.golden.answer import Answer, Json
from tests.golden.exports_served import another_state, ends
from tests.golden.ways import run

_CHANGES: Final = {
    "row_changed": "UPDATE audit SET outcome = '200' WHERE n = 2",
    "action_changed": "UPDATE audit SET action = 'queue_seen' WHERE n = 3",
    "row_removed": "DELETE FROM audit WHERE n = 4",
    "rows_removed": "DELETE FROM audit WHERE n BETWEEN 3 AND 6",
    "end_removed": "DELETE FROM audit WHERE n > 10",
    "all_removed": "DELETE FROM audit",
    "rows_swapped": "UPDATE audit SET n = CASE n WHEN 2 THEN -3 WHEN 3 THEN -2 END "
    "WHERE n IN (2, 3); UPDATE audit SET n = -n WHERE n < 0",
    "digest_changed": "UPDATE audit SET digest = lower(hex(zeroblob(32))) WHERE n = 5",
    "seal_changed": "UPDATE audit SET seal = lower(hex(zeroblob(32))) WHERE n = 5",
    "head_gone": "DELETE FROM keys.audit_heads",
    "head_overwritten": "UPDATE keys.audit_heads SET digest = 'no head'",
}
_TRAIL: Final = "store.sqlite"
_DIGEST_KEY: Final = "digest.key"
_CONTENTS: Final[dict[str, tuple[str, bytes | None]]] = {
    "trail_overwritten": (_TRAIL, b"no store at all" * 100),
    "trail_emptied": (_TRAIL, b""),
    "trail_gone": (_TRAIL, None),
    "digest_key_gone": (_DIGEST_KEY, None),
    "digest_key_of_another": (_DIGEST_KEY, b"5a" * 32),
}
_MOST_FINDINGS: Final = 8


def changed_trails(folder: Path, masks: Mapping[str, str]) -> Iterator[Answer]:
    """Yield what is said of heads that were noted, and of changed copies of the state."""
    noted = run(["audit", "head"], folder).out.strip()
    number, _, digest = noted.partition(":")
    heads = {
        "noted": ("audit", "verify", "--head", noted),
        "later": ("audit", "verify", "--head", f"{int(number) + 7}:{digest}"),
        "another_digest": ("audit", "verify", "--head", f"{number}:{'0' * 64}"),
        "earlier_with_digest_of_later": ("audit", "verify", "--head", f"2:{digest}"),
        "no_head": ("audit", "verify", "--head", "yesterday"),
        "no_number": ("audit", "verify", "--head", f"0:{digest}"),
        "of_another_tenant": ("audit", "verify", "--tenant", "clinic", "--head", noted),
    }
    yield Answer(name="stores/audit_heads", value=ends(folder, heads), masks=dict(masks))
    value: dict[str, Json] = {}
    for name, statements in _CHANGES.items():
        state, settings = another_state(folder)
        with closing(sqlite3.connect(state / _TRAIL, isolation_level=None)) as database:
            database.execute("ATTACH ? AS keys", (str(state / "keys.sqlite"),))
            for trigger in ("audit_never_change", "audit_is_never_deleted"):
                database.execute(f"DROP TRIGGER {trigger}")
            database.executescript(statements)
        value[name] = _found(folder, noted, settings)
    for name, (file, content) in _CONTENTS.items():
        state, settings = another_state(folder)
        if content is None:
            (state / file).unlink()
        else:
            (state / file).write_bytes(content)
        value[name] = _found(folder, noted, settings)
    yield Answer(name="stores/audit_changed", value=value, masks=dict(masks))


def _found(folder: Path, noted: str, settings: Mapping[str, str]) -> Json:
    """Return what the commands say of a trail, the rows and keys that they show left out."""
    calls = {
        "verify": ("audit", "verify"),
        "verify_noted": ("audit", "verify", "--head", noted),
        "show": ("audit", "show", "--json"),
        "head": ("audit", "head"),
        "row_more": ("keys", "create", "--name", "ward", "--scope", "read", "--json"),
    }
    value = ends(folder, calls, settings)
    for name, one in value.items():
        assert isinstance(one, dict)
        lines = one["out"]
        if name in {"show", "row_more"}:
            one["out"] = f"{len(lines)} lines"
        elif len(lines) > _MOST_FINDINGS:
            one["out"] = [*lines[:2], f"{len(lines)} lines", *lines[-2:]]
    return value
