"""How long a request waits for its references, by how many there are and what tells likeness."""

import argparse
import asyncio
import random
import statistics
import tempfile
import time
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np

from ai_psychiatrist.domain.evidence import Match, Quote, Segment
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.services.retrieval.artefact import Chunking
from ai_psychiatrist.services.retrieval.build import Session, write_references, write_scores
from ai_psychiatrist.services.retrieval.chunks import Chunk, Reading
from ai_psychiatrist.services.retrieval.embedders import Embedder, OnnxEmbedder, Vectors
from ai_psychiatrist.services.retrieval.identity import Identity
from ai_psychiatrist.services.retrieval.references import References, open_references
from ai_psychiatrist.services.retrieval.settings import ReferenceSettings

BARS_MS: Final = {5_000: 20.0, 200_000: 150.0}
REPEATS: Final = 15
DIMENSIONS: Final = 384
LINES: Final = 8
DIFFERENT_LINES: Final = 20_000
WORDS_A_LINE: Final = (3, 22)
QUOTES: Final = 3
WORDS_A_QUOTE: Final = 9
WORDS: Final = 20_000
CHUNKS_A_PERSON: Final = 90
FEW_WORDS: Final = "the i you and to a it of that yeah so like do in my um was just know is".split()


class RandomEmbedder:
    """Gives any vectors, at once: what is measured is the search."""

    name = "ollama:random"
    digest = "random"

    def __init__(self) -> None:
        self._random = np.random.default_rng(0)

    async def embed(self, texts: Sequence[str], *, is_query: bool) -> Vectors:
        """Return (texts, dimensions)."""
        del is_query
        return self._random.normal(size=(len(texts), DIMENSIONS)).astype(np.float32)


@cache
def weights() -> tuple[list[str], list[float]]:
    """Return words and how often they are said: a few all the time, as in speech (Zipf's law)."""
    names = [*FEW_WORDS, *(f"word{number}" for number in range(WORDS - len(FEW_WORDS)))]
    sums, total = [], 0.0
    for rank in range(1, len(names) + 1):
        total += 1 / rank
        sums.append(total)
    return names, sums


def said(choose: random.Random, count: int) -> str:
    """Return so many words."""
    names, sums = weights()
    return " ".join(choose.choices(names, cum_weights=sums, k=count))


def sessions(count: int) -> list[Session]:
    """Make up so many chunks, of people of ninety each."""
    choose = random.Random(0)  # noqa: S311 - repeatable
    lines = [said(choose, choose.randint(*WORDS_A_LINE)) for _ in range(DIFFERENT_LINES)]
    made = []
    for person, start in enumerate(range(0, count, CHUNKS_A_PERSON)):
        chunks = [
            Chunk(
                text="\n".join(
                    f"{'Participant' if at % 2 else 'Interviewer'}: {line}"
                    for at, line in enumerate(choose.choices(lines, k=LINES))
                ),
                first_line=0,
                lines=LINES,
                readings=dict.fromkeys(
                    choose.sample([*Item], k=2), Reading.NAMED | Reading.AFFIRMED
                ),
            )
            for _ in range(min(CHUNKS_A_PERSON, count - start))
        ]
        identity = Identity(words=f"words-{person}", session=f"session-{person}")
        made.append(Session(identity=identity, chunks=chunks))
    return made


def evidence(choose: random.Random) -> Mapping[Item, Sequence[Quote]]:
    """Make up quotes of all eight items."""
    place = (Segment(turn=0, start=0, end=1),)
    return {
        item: [
            Quote(text=said(choose, WORDS_A_QUOTE), match=Match.EXACT, segments=place)
            for _ in range(QUOTES)
        ]
        for item in Item
    }


async def opened(folder: Path, count: int, embedder: Embedder | None) -> References:
    """Make references, scored at random, and open them."""
    name = "lexical" if embedder is None else embedder.name
    settings = ReferenceSettings(dir=folder, embedder=name, check="off")
    chunking = Chunking(lines=settings.chunk_lines, step=settings.chunk_step)
    manifest = await write_references(
        folder, sessions(count), dataset="made up", chunking=chunking, embedder=embedder
    )
    scores = np.random.default_rng(1).integers(0, 4, size=(count, len(Item)), dtype=np.int8)
    write_scores(folder, manifest, scores)
    return open_references(settings, embedder=embedder, prompts={})


async def measure(count: int, kind: str) -> None:
    """Print a row."""
    embedder = RandomEmbedder() if kind == "dense" else None
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "references"
        start = time.perf_counter()
        references = await opened(folder, count, embedder)
        made_seconds = time.perf_counter() - start
        megabytes = sum(path.stat().st_size for path in folder.iterdir()) / 1e6
        choose = random.Random(1)  # noqa: S311 - repeatable
        times, cpu_times = [], []
        someone = references.artefact.people.identities[0]
        for _ in range(REPEATS + 1):
            quotes = evidence(choose)
            start, cpu_start = time.perf_counter(), time.process_time()
            found = await references.references_for(quotes, someone)
            times.append(1000 * (time.perf_counter() - start))
            cpu_times.append(1000 * (time.process_time() - cpu_start))
            assert all(isinstance(one, tuple) for one in found.values())
    median, slowest = statistics.median(times[1:]), max(times[1:])
    cpu = statistics.median(cpu_times[1:])
    bar = f"{BARS_MS[count]:.0f}" if count in BARS_MS else "–"
    print(
        f"| {count:,} | {kind} | {median:.1f} | {slowest:.1f} | {cpu:.1f} | {bar} | "
        f"{times[0]:.0f} | {made_seconds:.0f} | {megabytes:.0f} |",
        flush=True,
    )


async def measure_embedding() -> None:
    """Print how long the packaged model takes for the queries of a request."""
    embedder, times, cpu_times = OnnxEmbedder(), [], []
    choose = random.Random(2)  # noqa: S311 - repeatable
    for _ in range(REPEATS + 1):
        texts = ["\n".join(quote.text for quote in one) for one in evidence(choose).values()]
        start, cpu_start = time.perf_counter(), time.process_time()
        await embedder.embed(texts, is_query=True)
        times.append(1000 * (time.perf_counter() - start))
        cpu_times.append(1000 * (time.process_time() - cpu_start))
    median, cpu = statistics.median(times[1:]), statistics.median(cpu_times[1:])
    print(f"\nEight queries embedded by `onnx`: {median:.0f} ms, {cpu:.0f} ms of the processor")


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, nargs="*", default=[*BARS_MS])
    parser.add_argument("--likeness", nargs="*", default=["lexical", "dense"])
    given = parser.parse_args(arguments)
    print("| chunks | likeness | ms a request | slowest | CPU ms | bar | first | s to make | MB |")
    print("| ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for count in given.chunks:
        for kind in given.likeness:
            asyncio.run(measure(count, kind))
    asyncio.run(measure_embedding())


if __name__ == "__main__":
    main()
