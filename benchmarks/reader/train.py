"""Trains the learned reader and writes its files.

A tenth of the records, by their ids, chooses thresholds and is not trained on; sets that only
measure are never read here.
"""

import argparse
import hashlib
import json
import math
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import torch
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression
from tokenizers import Tokenizer
from torch import Tensor, nn

from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.services.reader.learned_reader import (
    LISTING,
    NETWORK,
    NGRAMS,
    SHIPPED,
    TOKENIZER,
    tokens_of,
)
from ai_psychiatrist.services.reader.ngrams import PLACES, places_of
from benchmarks.reader.examples import Example, training_examples, with_other_questions
from benchmarks.reader.export import export
from benchmarks.reader.network import Network, base_file, pretrained

_SEED: Final = 8
_EPOCHS: Final = 3
_BATCH: Final = 32
_RATE: Final = 1e-4
_HEAD_RATE: Final = 1e-3
_WARM_UP: Final = 0.06
_DANGER_WEIGHT: Final = 3.0
_TURN_WEIGHT: Final = 6.0
"""The same of a turn of a conversation: among statements danger is a hundred times as frequent."""
_CHUNK: Final = 50
"""Batches between which lengths are sorted, so that little is filled up."""
_NGRAM_PENALTY: Final = 4.0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Encoded:
    ids: list[int]
    sides: list[int]
    wanted: list[float]
    weights: list[float]
    """0 where nothing was labelled."""


def _encoded(example: Example, tokenizer: Tokenizer) -> _Encoded:
    ids, sides = tokens_of(tokenizer, example.question, example.words)
    wanted: list[float] = []
    weights: list[float] = []
    for labelled in (example.present, example.denied):
        wanted += [float(labelled is not None and item in labelled) for item in Item]
        weights += [float(labelled is not None)] * len(Item)
    return _Encoded(
        ids=ids,
        sides=sides,
        wanted=[*wanted, float(bool(example.danger))],
        weights=[*weights, _danger_weight(example)],
    )


def _danger_weight(example: Example) -> float:
    if example.danger is None:
        return 0.0
    return _TURN_WEIGHT if example.is_turn else _DANGER_WEIGHT


def _batches(encoded: Sequence[_Encoded], draw: random.Random) -> Iterator[Sequence[_Encoded]]:
    """Yield all examples in batches of about one length, in an order drawn anew."""
    order = draw.sample(encoded, len(encoded))
    size = _BATCH * _CHUNK
    chunks = (
        sorted(order[at : at + size], key=lambda one: len(one.ids))
        for at in range(0, len(order), size)
    )
    batches = [chunk[at : at + _BATCH] for chunk in chunks for at in range(0, len(chunk), _BATCH)]
    yield from draw.sample(batches, len(batches))


def _logits(network: Network, batch: Sequence[_Encoded]) -> Tensor:
    longest = max(len(one.ids) for one in batch)
    ids, sides, is_token = (torch.zeros(len(batch), longest, dtype=torch.long) for _ in range(3))
    for row, one in enumerate(batch):
        ids[row, : len(one.ids)] = torch.tensor(one.ids)
        sides[row, : len(one.ids)] = torch.tensor(one.sides)
        is_token[row, : len(one.ids)] = 1
    logits: Tensor = network(ids, sides, is_token)
    return logits


def trained(examples: Sequence[Example], *, seed: int, epochs: int) -> Network:
    """Return a network that was trained on examples; the same seed and machine give the same."""
    torch.manual_seed(seed)
    torch.use_deterministic_algorithms(mode=True)
    draw = random.Random(seed)  # noqa: S311  an order, and no secret
    tokenizer = Tokenizer.from_file(str(base_file("tokenizer.json")))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    encoded = [_encoded(one, tokenizer) for one in examples]
    network = pretrained()
    network.train()
    optimiser = torch.optim.AdamW(
        [
            {"params": network.body(), "lr": _RATE},
            {"params": network.head.parameters(), "lr": _HEAD_RATE},
        ],
        weight_decay=0.01,
        fused=True,
    )
    steps = epochs * math.ceil(len(encoded) / _BATCH)
    warm = _WARM_UP * steps
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda step: min((step + 1) / warm, max(0.0, (steps - step) / (steps - warm)))
    )
    began = time.monotonic()
    for epoch in range(epochs):
        total = 0.0
        for batch in _batches(encoded, draw):
            with torch.autocast("cpu", dtype=torch.bfloat16):
                logits = _logits(network, batch)
            losses = nn.functional.binary_cross_entropy_with_logits(
                logits.float(), torch.tensor([one.wanted for one in batch]), reduction="none"
            )
            loss = (losses * torch.tensor([one.weights for one in batch])).sum() / len(batch)
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimiser.step()
            schedule.step()
            total += loss.item()
        mean = total * epochs / steps
        seconds = time.monotonic() - began
        print(f"epoch {epoch + 1} of {epochs}: loss {mean:.3f}, {seconds:.0f} s", file=sys.stderr)
    return network


def ngram_weights(examples: Sequence[Example]) -> Mapping[str, np.ndarray]:
    """Return the weights of the n-gram voice as its file holds them."""
    told = [one for one in examples if one.danger is not None]
    places = [places_of(one.question, one.words) for one in told]
    starts = np.cumsum([0, *map(len, places)])
    values = np.concatenate([np.full(len(of), 1 / math.sqrt(len(of))) for of in places])
    matrix = csr_matrix((values, np.concatenate(places), starts), shape=(len(told), PLACES))
    model = LogisticRegression(
        C=_NGRAM_PENALTY, solver="liblinear", class_weight="balanced", max_iter=500
    ).fit(matrix, [bool(one.danger) for one in told])
    weights = model.coef_[0]
    scale = float(np.abs(weights).max() / 127)
    return {
        "weights": np.round(weights / scale).astype(np.int8),
        "scale": np.array(scale),
        "bias": np.array(float(model.intercept_[0])),
    }


def write_files(
    network: Network,
    ngrams: Mapping[str, np.ndarray],
    folder: Path,
    *,
    command: str,
    trained_on: Mapping[str, int],
) -> None:
    """Write network, tokenizer and n-gram weights, and a list of them and of what made them."""
    folder.mkdir(parents=True, exist_ok=True)
    export(network, folder / NETWORK)
    (folder / TOKENIZER).write_bytes(base_file("tokenizer.json").read_bytes())
    np.savez_compressed(
        folder / NGRAMS,
        weights=ngrams["weights"],
        scale=ngrams["scale"],
        bias=ngrams["bias"],
    )
    listed = {
        "files": {
            name: hashlib.sha256((folder / name).read_bytes()).hexdigest()
            for name in (NETWORK, TOKENIZER, NGRAMS)
        },
        "command": command,
        "trained_on": trained_on,
    }
    (folder / LISTING).write_text(json.dumps(listed, indent=1) + "\n", "utf-8")


def main() -> None:
    """Train on what is labelled, and write the files."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.reader.train", description=__doc__)
    parser.add_argument("--labels", type=Path, help="folder of further records, *.jsonl")
    parser.add_argument("--out", type=Path, default=SHIPPED, help="folder of the files")
    parser.add_argument("--epochs", type=int, default=_EPOCHS)
    parser.add_argument("--seed", type=int, default=_SEED)
    given = parser.parse_args()
    examples = [one for one in training_examples(given.labels) if not one.is_held_out]
    counts = dict(sorted(Counter(one.source for one in examples).items()))
    for source, count in counts.items():
        print(f"{source}: {count:,} passages", file=sys.stderr)
    # No secret is drawn here, and the same must be drawn again.
    examples += with_other_questions(examples, random.Random(given.seed))  # noqa: S311
    network = trained(examples, seed=given.seed, epochs=given.epochs)
    write_files(
        network,
        ngram_weights(examples),
        given.out,
        command=f"python -m benchmarks.reader.train --epochs {given.epochs} --seed {given.seed}",
        trained_on=counts,
    )


if __name__ == "__main__":
    main()
