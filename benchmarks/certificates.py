"""What certificates withstand: changes of one byte or one field, and how fast they are checked."""

import argparse
import asyncio
import copy
import hashlib
import json
import random
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import ai_psychiatrist as ap
from ai_psychiatrist.evaluation.datasets.open_dataset import open_dataset
from ai_psychiatrist.evaluation.datasets.synthetic.generator import DatasetRecipe, make_dataset
from ai_psychiatrist.proof.verify import Refused, verify

CHANGES: Final = 100_000
ASSESSMENTS: Final = 1_000
DERIVED: Final = frozenset(
    {"allowed", "rules", "score", "unknown_reason", "minimum", "maximum", "exact", "severity"}
    | {"severity_lower_bound", "severity_upper_bound", "start", "end", "turn", "words", "sha256"}
    | {"quotes_checked", "low", "high", "scores", "not_determinable", "signal_count"}
)
"""Fields that follow from others: one that is changed is refused, whatever digest is written."""
_ELSEWHERE: Final = ("program", "rules", "prompts", "models", "failures")
"""Parts of a certificate that follow from nothing, whatever their fields are called."""

Place = tuple[str | int, ...]


@dataclass(frozen=True, kw_only=True)
class Certified:
    """A transcript and its certificate."""

    text: str
    content: bytes


def is_accepted(text: str, content: bytes) -> bool:
    """Return whether the verifier accepts."""
    try:
        verify(text, content)
    except Refused:
        return False
    return True


def changed_byte(content: bytes, chance: random.Random) -> bytes:
    """Return bytes of which one is another one, is gone, or is there besides."""
    at = chance.randrange(len(content))
    other = bytes([(content[at] + chance.randrange(1, 256)) % 256])
    return (
        content[:at] + chance.choice([other, b"", other + content[at : at + 1]]) + content[at + 1 :]
    )


def fields_of(value: object, path: Place = ()) -> Iterator[Place]:
    """Yield the place of each value that is no list and no object."""
    match value:
        case dict():
            for key, inner in value.items():
                yield from fields_of(inner, (*path, key))
        case list():
            for key, inner in enumerate(value):
                yield from fields_of(inner, (*path, key))
        case _:
            yield path


def another(value: object, chance: random.Random) -> object:
    """Return another value that could stand there."""
    match value:
        case bool():
            return not value
        case int():
            return chance.choice(
                [one for one in (value + 1, value - 1, 0, 1, 2, 3) if one != value]
            )
        case str() if value[:1].isdigit() and value.count(".") == 1:
            return repr(float(value) + chance.choice([0.25, 0.01, 1e-6]))
        case str() if len(value) == 64:
            return hashlib.sha256(value.encode()).hexdigest()
        case str():
            words = ("affirmed", "denied", "unclear", "high", "none", "about", "partial")
            return chance.choice([one for one in words if one != value])
        case _:
            return chance.choice([0, 1, 2, 3, "no_mention", "not_examined", False])


def changed_field(content: bytes, chance: random.Random, *, rewritten: bool) -> tuple[Place, bytes]:
    """Return a certificate with one other field, and its place; `rewritten`: its digest as well."""
    parts = json.loads(content)
    places = list(fields_of(parts["certificate"]))
    if rewritten:
        places = [place for place in places if is_derived(place)]
    place = chance.choice(places)
    inner = parts["certificate"]
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = another(inner[place[-1]], chance)
    return place, sealed(parts) if rewritten else canonical(parts)


def is_derived(place: Place) -> bool:
    """Return whether a field follows from others."""
    names = [name for name in place if isinstance(name, str)]
    return names[-1] in DERIVED and place[0] not in _ELSEWHERE and "reply" not in names


def canonical(value: object) -> bytes:
    """Write a certificate as it has to be."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def sealed(parts: dict[str, Any]) -> bytes:
    """Write a certificate with the digest that it now has, as an attacker would."""
    sealed_parts = copy.copy(parts)
    sealed_parts["sha256"] = hashlib.sha256(canonical(parts["certificate"])).hexdigest()
    return canonical(sealed_parts)


def attack(certified: Sequence[Certified], changes: int) -> tuple[Counter[str], Counter[str]]:
    """Change one thing so often; return how often each kind was tried, and what was accepted."""
    chance = random.Random(0)  # noqa: S311  it has to be the same each time
    tried: Counter[str] = Counter()
    accepted: Counter[str] = Counter()
    for number in range(changes):
        one = chance.choice(certified)
        text, content, place = one.text, one.content, ""
        match number % 4:
            case 0:
                kind = "a byte of the transcript"
                raw = changed_byte(text.encode(), chance)
                text = raw.decode(errors="surrogateescape")
                if any("\udc80" <= character <= "\udcff" for character in text):
                    tried[kind] += 1
                    continue
            case 1:
                kind = "a byte of the certificate"
                content = changed_byte(content, chance)
            case 2:
                kind = "a field of it"
                _, content = changed_field(content, chance, rewritten=False)
            case _:
                kind = "a derived field of it, and its digest"
                path, content = changed_field(content, chance, rewritten=True)
                place = "/".join(map(str, path))
        if (text, content) == (one.text, one.content):
            continue
        tried[kind] += 1
        if is_accepted(text, content):
            accepted[f"{kind} {place}".strip()] += 1
    return tried, accepted


async def certified_interviews(folder: Path, count: int) -> list[Certified]:
    """Return certificates of made-up interviews, assessed by the rule baseline."""
    make_dataset(folder, DatasetRecipe(units=count, seed=0))
    found = []
    async with ap.open(ap.load_settings({"DATA_STATE_DIR": str(folder / "state")}, None)) as app:
        dataset = open_dataset(folder)
        for unit in dataset.units:
            if unit.unit_id in dataset.unreadable:
                continue
            transcript = dataset.transcript(unit.unit_id)
            result = await app.assess(transcript, certificate=True)
            assert result.certificate is not None
            content = result.certificate.text.encode()
            found.append(Certified(text=transcript.text, content=content))
    return found


def table(tried: Counter[str], accepted: Counter[str]) -> Iterator[str]:
    """Yield the lines of the table of changes."""
    yield "| what is changed | tried | accepted |"
    yield "| --- | ---: | ---: |"
    for kind, count in sorted(tried.items()):
        taken = sum(times for name, times in accepted.items() if name.startswith(kind))
        yield f"| {kind} | {count:,} | {taken} |"


def main(arguments: Sequence[str] | None = None) -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--changes", type=int, default=CHANGES)
    parser.add_argument("--assessments", type=int, default=ASSESSMENTS)
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        certified = asyncio.run(certified_interviews(Path(folder) / "data", given.assessments))
    start = time.perf_counter()
    held = sum(is_accepted(one.text, one.content) for one in certified)
    seconds = time.perf_counter() - start
    sizes = sorted(len(one.content) for one in certified)
    print(f"{held:,} of {len(certified):,} certificates hold, checked in {seconds:.2f} s; ", end="")
    print(f"the median has {sizes[len(sizes) // 2]:,} bytes\n")
    tried, accepted = attack(certified, given.changes)
    print(*table(tried, accepted), sep="\n")
    for name, times in accepted.most_common(20):
        print(f"ACCEPTED {times} x {name}")


if __name__ == "__main__":
    main()
