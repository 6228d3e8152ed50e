import ast
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import ai_psychiatrist as ap

PUBLIC = {
    "Application",
    "ArtifactMismatch",
    "AssessmentServiceError",
    "ConfigurationError",
    "DatasetRunResult",
    "Assessment",
    "GroundedQuotes",
    "InputError",
    "Part",
    "Settings",
    "SpeakersUnknown",
    "TranscriptTooLong",
    "TranscriptUnreadable",
    "ValidatedLines",
    "VerifiedCertificate",
    "__version__",
    "assess_sync",
    "certify",
    "create_app",
    "ground",
    "load_settings",
    "open",
    "table",
    "validate",
    "verify",
}
"""What others build on: a name that goes from here breaks them."""
HEAVY = {"fastapi", "numpy", "openai", "pydantic", "pydantic_ai", "structlog", "uvicorn"}


def imported(code: str) -> set[str]:
    """Return the modules that a new interpreter has loaded after running code."""
    shown = f"{code}\nimport sys; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", shown], check=True, capture_output=True, text=True)
    return set(run.stdout.split())


def names_for_type_checkers() -> set[str]:
    """Return what the package imports where only type checkers read it."""
    tree = ast.parse(Path(inspect.getfile(ap)).read_text("utf-8"))
    block, _ = (node for node in tree.body if isinstance(node, ast.If))
    return {
        alias.asname or alias.name
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def test_the_public_names_are_those_that_are_promised() -> None:
    assert set(ap.__all__) == PUBLIC
    assert len(PUBLIC) <= 25
    assert dir(ap) == sorted(PUBLIC)


def test_every_public_name_is_there_and_typed() -> None:
    assert names_for_type_checkers() == PUBLIC - {"__version__"}
    for name in PUBLIC:
        assert getattr(ap, name) is not None


def test_every_public_name_says_what_it_is() -> None:
    for name in PUBLIC - {"__version__"}:
        assert inspect.getdoc(getattr(ap, name)), name


def test_public_functions_say_in_their_types_what_they_take() -> None:
    for name in (
        "assess_sync",
        "create_app",
        "ground",
        "load_settings",
        "open",
        "table",
        "validate",
    ):
        signature = inspect.signature(getattr(ap, name))
        assert signature.return_annotation is not inspect.Signature.empty, name
        for parameter in signature.parameters.values():
            assert parameter.annotation is not inspect.Parameter.empty, name


def test_a_name_that_is_not_public_is_an_ordinary_error() -> None:
    with pytest.raises(AttributeError, match="'ai_psychiatrist' has no attribute 'asess'"):
        _ = ap.asess  # type: ignore[attr-defined]


def test_everything_can_be_imported_by_its_star() -> None:
    run = "from ai_psychiatrist import *; assert ground and create_app"
    assert "fastapi" in imported(run)


def test_importing_the_package_imports_no_library() -> None:
    assert not HEAVY & imported("import ai_psychiatrist")


def test_checks_without_a_model_import_neither_models_nor_server() -> None:
    code = "import ai_psychiatrist as ap; ap.ground([], 'I sleep badly.'); ap.validate([], True)"
    assert not {"fastapi", "openai", "pydantic_ai", "uvicorn"} & imported(code)
