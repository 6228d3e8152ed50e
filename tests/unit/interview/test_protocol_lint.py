"""What the lint finds in a protocol's folder, and how loading refuses it."""

import shutil
import tomllib
from pathlib import Path

import pytest

import ai_psychiatrist.interview.protocol as package
from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.interview.protocol import lint_protocol, load_protocol

FAULTS = tomllib.loads(
    (Path(__file__).parents[2] / "data" / "protocol_faults.toml").read_text(encoding="utf-8")
)
BUILTIN = Path(package.__file__).parent.parent / "protocols"


def copied(tmp_path: Path, name: str, old: str, new: str) -> Path:
    """Copy a built-in protocol with one change."""
    folder = tmp_path / name
    shutil.copytree(BUILTIN / name, folder)
    file = folder / "protocol.yaml"
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new, 1), encoding="utf-8")
    return folder


@pytest.mark.parametrize(("name", "old", "new", "code", "where"), FAULTS.values(), ids=FAULTS)
def test_a_fault_is_found_where_it_stands(
    tmp_path: Path, name: str, old: str, new: str, code: str, where: str
) -> None:
    folder = copied(tmp_path, name, old, new)

    found = {(problem.code, problem.where) for problem in lint_protocol(folder) if problem.is_error}

    assert (code, where) in found
    with pytest.raises(ConfigurationError, match=f"{name}/protocol.yaml"):
        load_protocol(folder)


def test_faults_of_all_kinds_are_told_in_one_pass(tmp_path: Path) -> None:
    folder = copied(tmp_path, "incident", "max_turns: 20", "max_turns: 0")
    file = folder / "protocol.yaml"
    text = file.read_text(encoding="utf-8")
    for old, new in (
        ("default: 90", "default: ninety"),
        ("type: integer", "type: intger"),
        ("drift: free_text", "drift:"),
        ("  detect_drift:", "  detect_drifts:"),
        ("tone: Curious", "ton: Curious"),
        ("report: analysis", ""),
        ("max_length: 8000}", "max_length: 0, size: 1}"),
        ("{interviewee_name}", "{interviewee_nme}"),
    ):
        assert old in text, old
        text = text.replace(old, new, 1)
    file.write_text(text, encoding="utf-8")

    found = {(problem.code, problem.where) for problem in lint_protocol(folder)}

    assert found == {
        ("out_of_range", "stop.max_turns"),
        ("unknown_choice", "inputs.confidence_threshold.type"),
        ("unknown_input", "stop.threshold"),
        ("wrong_shape", "drift"),
        ("unknown_choice", "prompts.detect_drifts"),
        ("missing_prompt", "prompts"),
        ("unknown_key", "ton"),
        ("missing_key", ""),
        ("out_of_range", "inputs.summary.max_length"),
        ("unknown_key", "inputs.summary.size"),
        ("unknown_input", "texts.introduction"),
    }


def test_a_refusal_names_file_and_line(tmp_path: Path) -> None:
    folder = copied(tmp_path, "phq8", "max_asks: 2", "max_asks: 9")
    line = (folder / "protocol.yaml").read_text(encoding="utf-8").split("max_asks")[0].count("\n")

    with pytest.raises(
        ConfigurationError, match=rf"phq8/protocol\.yaml:{line + 1}:\d+: 'max_asks'"
    ):
        load_protocol(folder)


def test_guidelines_are_used_as_they_stand(tmp_path: Path) -> None:
    folder = tmp_path / "incident"
    shutil.copytree(BUILTIN / "incident", folder)
    (folder / "prompts" / "extract_facts.md").write_text("Ask\n{interviewee_name}", "utf-8")

    (problem,) = lint_protocol(folder)

    assert (problem.code, problem.where) == ("place_not_filled", "prompts.extract_facts")
    assert "line 2" in problem.message


def test_a_file_that_nothing_names_is_a_warning(tmp_path: Path) -> None:
    folder = tmp_path / "incident"
    shutil.copytree(BUILTIN / "incident", folder)
    (folder / "prompts" / "old.md").write_text("Old.", "utf-8")

    (problem,) = lint_protocol(folder)

    assert (problem.code, problem.is_error) == ("unused_file", False)
    assert load_protocol(folder).id == "incident"


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"- a list", id="list"),
        pytest.param(b"id: [", id="no_yaml"),
        pytest.param(b"\xff\xfe", id="no_utf8"),
        pytest.param(b"kind: goals", id="kind_alone"),
        pytest.param(b"kind: items\nitems: 3\nanswers: []\nstop: {}", id="wrong_shapes"),
        pytest.param(b"kind: goals\ninputs: {a: 1}\nprompts: [x]\nrules: 5", id="more_shapes"),
    ],
)
def test_a_file_that_is_no_protocol_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "protocol.yaml").write_bytes(content)

    assert any(problem.is_error for problem in lint_protocol(tmp_path))
    with pytest.raises(ConfigurationError):
        load_protocol(tmp_path)


def test_a_folder_without_a_protocol_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"protocol\.yaml cannot be used"):
        load_protocol(tmp_path / "nothing")


def test_a_change_of_guidelines_changes_the_digest(tmp_path: Path) -> None:
    folder = tmp_path / "incident"
    shutil.copytree(BUILTIN / "incident", folder)
    before = load_protocol(folder).digest
    (folder / "prompts" / "detect_drift.md").write_text("Look closely.", "utf-8")

    assert load_protocol(folder).digest != before


def test_texts_that_stay_english_are_a_warning(tmp_path: Path) -> None:
    page = "period: [two weeks, past 14]\npage: {language: de, title: Ein paar Fragen}\nanswers:"
    folder = copied(tmp_path, "phq8", "answers:", page)
    (warned,) = lint_protocol(folder)
    assert (warned.code, warned.is_error) == ("texts_not_whole", False)
    left = set(warned.message.partition(": ")[2].split(", "))
    assert {"page.no_script", "conversation.explanations.length", "safety.kept"} <= left
    assert not {"page.title", "safety.last_word", "answers.confirmation.agree"} & left
    assert load_protocol(folder).page.send == "Send"
