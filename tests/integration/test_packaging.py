"""What an installation needs is in the package, and the package says what it is."""

import importlib
import json
import re
import tomllib
from collections.abc import Callable
from importlib import metadata, resources
from io import BytesIO
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest
import yaml
from fastapi import FastAPI
from jinja2 import Environment
from onnxruntime import InferenceSession

import ai_psychiatrist

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
SOURCE = ROOT / "src"
DATA = sorted(
    path.relative_to(SOURCE)
    for path in SOURCE.rglob("*")
    if path.is_file() and path.suffix not in {".py", ".pyc", ".typed"}
)


TEMPLATES = Environment(autoescape=True)
PARSERS: dict[str, Callable[[str], object]] = {
    ".toml": tomllib.loads,
    ".json": json.loads,
    ".yaml": yaml.safe_load,
    ".j2": TEMPLATES.parse,
    ".jinja2": TEMPLATES.parse,
    ".html": TEMPLATES.parse,
    ".css": str.strip,
    ".js": str.strip,
    ".svg": ET.fromstring,
    ".txt": str.strip,
    ".md": str.strip,
}
BINARY: dict[str, Callable[[bytes], object]] = {
    ".onnx": lambda content: InferenceSession(content).get_inputs(),
    ".npz": lambda content: np.load(BytesIO(content), allow_pickle=False)["weights"].any(),
}


@pytest.mark.parametrize("suffix", sorted({path.suffix for path in DATA}))
def test_data_are_read_from_the_package_and_parse(suffix: str) -> None:
    for path in DATA:
        if path.suffix == suffix:
            package, *folders = path.parent.parts
            file = resources.files(package).joinpath(*folders, path.name)
            if suffix in BINARY:
                assert BINARY[suffix](file.read_bytes()), path
            else:
                assert PARSERS[suffix](file.read_text("utf-8")), path


def test_the_package_says_that_it_is_typed() -> None:
    assert resources.files(ai_psychiatrist).joinpath("py.typed").is_file()


def test_versions_agree() -> None:
    assert ai_psychiatrist.__version__ == PROJECT["project"]["version"]
    assert metadata.version("ai-psychiatrist") == ai_psychiatrist.__version__
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert citation["version"] == ai_psychiatrist.__version__


def test_the_command_is_installed() -> None:
    (command,) = metadata.entry_points(group="console_scripts", name="ai-psychiatrist")
    assert callable(command.load())
    assert PROJECT["project"]["scripts"]["ai-psychiatrist"] == command.value


def test_the_application_can_be_imported_for_any_asgi_server() -> None:
    app = importlib.import_module("server").app
    assert isinstance(app, FastAPI)
    assert app.version == ai_psychiatrist.__version__


def test_every_file_that_a_distribution_names_is_there() -> None:
    target = PROJECT["tool"]["hatch"]["build"]["targets"]
    named = [*target["sdist"]["include"], *target["wheel"]["packages"]]
    named += [PROJECT["project"]["readme"], *PROJECT["project"]["license-files"]]
    assert [path for path in named if not (ROOT / path).exists()] == []


def _pins(name: str) -> dict[str, str]:
    """Return package → its pin with all that belongs to it."""
    text = (ROOT / "requirements" / f"{name}.txt").read_text(encoding="utf-8")
    entries = re.split(r"\n(?=[A-Za-z])", re.sub(r"(?m)^#.*\n?", "", text).strip())
    return {entry.partition("==")[0]: entry.strip() for entry in entries}


@pytest.mark.parametrize("name", ["build", "dev", "run", "supply"])
def test_every_requirement_is_one_version_with_the_hashes_of_its_files(name: str) -> None:
    pins = _pins(name)
    assert pins
    for entry in pins.values():
        assert re.fullmatch(r"[\w.-]+==[\w.]+(?: \\\n    --hash=sha256:[0-9a-f]{64})+", entry)


def test_what_runs_is_pinned_alike_for_those_who_change_it() -> None:
    assert _pins("run").items() <= _pins("dev").items()


def test_nothing_that_runs_obliges_who_passes_it_on_to_open_their_own_code() -> None:
    for name in _pins("run"):
        about = metadata.metadata(name)
        classified = [entry for entry in about.get_all("Classifier", []) if "License" in entry]
        stated = about.get_all("License-Expression", []) + classified
        # A text may hold those of the libraries of the compiler, which by their exceptions, and as
        # libraries that are only linked to, oblige nobody to that.
        stated = stated or about.get_all("License", [])
        assert any(stated), name
        assert "GPL" not in "".join(stated), name
