"""Clients can be generated from the OpenAPI document; the page of it needs no network."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator

from tests.integration.running_app import client_of, settings_with
from tests.integration.test_interface_document import document

ROOT: Final = Path(__file__).parents[2]
GENERATOR: Final = ROOT / ".venv-client/bin/openapi-python-client"
IMPORT_ALL: Final = """
import importlib, pkgutil, ai_psychiatrist_client as client
from ai_psychiatrist_client import models
found = [one.name for one in pkgutil.walk_packages(client.__path__, client.__name__ + ".")]
for name in found:
    importlib.import_module(name)
assert "ai_psychiatrist_client.api.assessment.assess_transcript" in found
assert models.Assessment
assert any(name.startswith("ReviewRowRequest") for name in dir(models))
"""


def run_program(
    command: list[str], folder: Path, environment: dict[str, str]
) -> subprocess.CompletedProcess[str]:
    """Run a program in a folder."""
    return subprocess.run(
        command,
        cwd=folder,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_document_is_valid_openapi() -> None:
    errors = [error.message for error in OpenAPIV31SpecValidator(document()).iter_errors()]
    assert errors == []
    assert "itemSchema" not in json.dumps(document())


@pytest.mark.skipif(not GENERATOR.exists(), reason="`make` installs the generator apart")
def test_a_client_can_be_generated_and_imported(tmp_path: Path) -> None:
    (tmp_path / "openapi.json").write_text(json.dumps(document()), "utf-8")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    given = ["generate", "--path", "openapi.json", "--output-path", "made"]
    made = run_program([str(GENERATOR), *given], tmp_path, {"PATH": path})
    assert made.returncode == 0, made.stderr
    imported = run_program([sys.executable, "-c", IMPORT_ALL], tmp_path / "made", {})
    assert imported.returncode == 0, imported.stderr


def test_the_page_loads_files_of_this_server_alone(tmp_path: Path) -> None:
    with client_of(settings_with(tmp_path)) as client:
        page = client.get("/docs")
        files = ("swagger-ui.css", "swagger-ui-bundle.js", "start.js")
        answers = [client.get(f"/docs/{name}") for name in files]
        policy = page.headers["content-security-policy"]
        unknown = client.get("/docs/redoc.standalone.js")
    assert [answer.status_code for answer in answers] == [200] * len(files)
    assert all(f'"docs/{name}"' in page.text for name in files)
    assert "http" not in page.text.replace("HTTP API", "")
    assert "script-src 'self'" in policy
    assert "trusted-types" not in policy
    assert unknown.status_code == 404
