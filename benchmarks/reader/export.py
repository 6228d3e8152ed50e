"""Writes the trained network as one ONNX file with weights of a byte."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import torch
from onnxruntime.quantization import QuantType, quantize_dynamic
from torch import Tensor, nn

from benchmarks.reader.network import Network

_OPSET: Final = 17
_QUANTISED: Final = ["MatMul", "Gather", "Gemm"]


class _Probabilities(nn.Module):
    """A network whose outputs are 0–1, and which reads one passage at a time."""

    def __init__(self, network: Network) -> None:
        super().__init__()
        self.network = network

    def forward(self, ids: Tensor, sides: Tensor) -> Tensor:
        return torch.sigmoid(self.network(ids, sides))


def export(network: Network, path: Path) -> None:
    """Write a network to a file.

    Weights take seven bits of a byte: older processors add two products of eight in sixteen bits,
    and would round where newer ones do not.
    """
    network.eval()
    example = torch.tensor([[101, 2129, 102, 2986, 102]])
    sides = torch.tensor([[0, 0, 0, 1, 1]])
    with TemporaryDirectory() as folder:
        whole = Path(folder) / "whole.onnx"
        torch.onnx.export(
            _Probabilities(network),
            (example, sides),
            str(whole),
            input_names=["ids", "sides"],
            output_names=["values"],
            dynamic_axes={"ids": {1: "tokens"}, "sides": {1: "tokens"}},
            opset_version=_OPSET,
            dynamo=False,
        )
        quantize_dynamic(
            whole,
            path,
            op_types_to_quantize=_QUANTISED,
            weight_type=QuantType.QInt8,
            per_channel=True,
            reduce_range=True,
        )
