"""What becomes of words before they are written: packed, then sealed or not, or left out."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from ai_psychiatrist.ledger.keys.packing import packed, unpacked
from ai_psychiatrist.store.cipher import Cipher
from ai_psychiatrist.store.errors import refusing_damage

_JSON: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
_WITHOUT_WORDS = frozenset({"path", "pointer", "rule", "before_type", "after_type"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Vault:
    """Turns texts and objects into what the tables hold, and back; nothing stays `None`.

    A place names table and unit, so that an encrypted value cannot be moved to another unit. What
    cannot have been put raises `LedgerUnusable`.
    """

    cipher: Cipher | None = field(default=None, repr=False)
    keeps_raw: bool = True

    def put_raw(self, content: str | bytes | None, *, place: str) -> bytes | None:
        """Return what is written of a context, a reply or an answer; nothing in a run without."""
        if content is None or not self.keeps_raw:
            return None
        return self._seal(content if isinstance(content, bytes) else _encoded(content), place)

    def put_object(self, content: Mapping[str, object] | None, *, place: str) -> bytes | None:
        """Return what is written of an accepted object."""
        return None if content is None else self._seal(_to_json(content), place)

    def put_notes(self, notes: Sequence[Mapping[str, object]], *, place: str) -> bytes:
        """Return what is written of errors, warnings or coercions, records of named values.

        A run that keeps no raw text keeps places, rules and types of them.
        """
        kept = list(notes) if self.keeps_raw else list(map(_without_words, notes))
        return self._seal(_to_json(kept), place)

    def take_raw(self, stored: bytes | None, *, place: str) -> bytes | None:
        """Return the bytes that were put."""
        if stored is None:
            return None
        with refusing_damage():
            small = stored if self.cipher is None else self.cipher.unseal(stored, place=place)
            return unpacked(small)

    def take_text(self, stored: bytes | None, *, place: str) -> str | None:
        """Return the text that was put."""
        content = self.take_raw(stored, place=place)
        with refusing_damage():
            return None if content is None else content.decode("utf-8", "surrogatepass")

    def take_object(self, stored: bytes | None, *, place: str) -> dict[str, object] | None:
        """Return the object that was put."""
        text = self.take_text(stored, place=place)
        content: dict[str, object] | None = None if text is None else json.loads(text)
        return content

    def take_notes(self, stored: bytes, *, place: str) -> tuple[dict[str, object], ...]:
        """Return the notes that were put."""
        return tuple(json.loads(self.take_text(stored, place=place) or "[]"))

    def _seal(self, content: bytes, place: str) -> bytes:
        small = packed(content)
        return small if self.cipher is None else self.cipher.seal(small, place=place)


def _without_words(note: Mapping[str, object]) -> dict[str, object]:
    return {name: v if name in _WITHOUT_WORDS else "not kept" for name, v in note.items()}


def _to_json(content: object) -> bytes:
    return _encoded(_JSON.encode(content))


def _encoded(text: str) -> bytes:
    """Return a text's bytes; models send halves of surrogate pairs, which are kept as they are."""
    return text.encode("utf-8", "surrogatepass")
