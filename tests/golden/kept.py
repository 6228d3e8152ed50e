"""The files of frozen answers: one a group of cases for values, one an area for sentences."""

import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from tests.golden.answer import Frozen, Json, differences

KEPT: Final = Path(__file__).parent / "kept"
PUBLIC: Final = "public/"
"""What the names of cases begin with that need the public data."""
_SENTENCES: Final = "sentences.json"


def write(folder: Path, area: str, answers: Iterable[Frozen]) -> None:
    """Write the answers of an area in place of those that were kept."""
    place = folder / area
    place.mkdir(parents=True, exist_ok=True)
    for file in sorted(place.glob("*.json")):
        file.unlink()
    texts: dict[str, int] = {}
    cases: dict[str, list[int]] = {}
    groups: dict[str, dict[str, Json]] = {}
    for answer in answers:
        if answer.name in cases:
            msg = f"two cases of {area} are named {answer.name!r}"
            raise ValueError(msg)
        groups.setdefault(_group(answer.name), {})[answer.name] = answer.value
        cases[answer.name] = [texts.setdefault(one, len(texts)) for one in answer.sentences]
    for group, values in groups.items():
        (place / f"{group}.json").write_text(_dumped(values), encoding="utf-8")
    rows = ",\n".join(f"  {json.dumps(name)}: {json.dumps(cases[name])}" for name in sorted(cases))
    table = ",\n".join(f"  {json.dumps(text, ensure_ascii=False)}" for text in texts)
    (place / _SENTENCES).write_text(
        f'{{"texts": [\n{table}\n],\n"cases": {{\n{rows}\n}}}}\n', encoding="utf-8"
    )


def read(folder: Path, area: str) -> dict[str, Frozen]:
    """Return the kept answers of an area by name; none where it was never written."""
    place = folder / area
    if not (place / _SENTENCES).exists():
        return {}
    kept = json.loads((place / _SENTENCES).read_text(encoding="utf-8"))
    values: dict[str, Json] = {}
    for file in place.glob("*.json"):
        if file.name != _SENTENCES:
            values |= json.loads(file.read_text(encoding="utf-8"))
    has_public = "TEST_DATA_DIR" in os.environ
    return {
        name: Frozen(
            name=name,
            value=values[name],
            sentences=tuple(kept["texts"][number] for number in numbers),
        )
        for name, numbers in kept["cases"].items()
        if has_public or not name.startswith(PUBLIC)
    }


def _group(name: str) -> str:
    """Return the file of a case: the first part of its name."""
    return name.partition("/")[0]


def compared(old: dict[str, Frozen], new: dict[str, Frozen]) -> Iterator[tuple[str, str, str]]:
    """Yield (`value` or `sentence`, case, what differs)."""
    for name in dict.fromkeys([*old, *new]):
        if name not in new:
            yield "value", name, "the case is gone"
        elif name not in old:
            yield "value", name, "a new case"
        else:
            for line in differences(old[name].value, new[name].value):
                yield "value", name, line
            for line in differences(old[name].sentences, new[name].sentences):
                yield "sentence", name, line


def _dumped(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"
