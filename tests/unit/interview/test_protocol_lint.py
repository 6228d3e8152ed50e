"""What the lint finds in a protocol's folder, and how loading refuses it."""

import shutil
from pathlib import Path

import pytest

import ai_psychiatrist.interview.protocol as package
from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.interview.protocol import lint_protocol, load_protocol

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


def without_item(name: str) -> tuple[str, str]:
    """Return the change that renames the questions of one item."""
    return f"  {name}:\n", f"  {name}s:\n"


@pytest.mark.parametrize(
    ("name", "old", "new", "code", "where"),
    [
        pytest.param("phq8", "tone:", "tonne:", "unknown_key", "tonne", id="misspelt_key"),
        pytest.param("phq8", "max_asks:", "max_ask:", "unknown_key", "stop.max_ask", id="stop_key"),
        pytest.param("phq8", "kind: items", "kind: item", "unknown_choice", "kind", id="kind"),
        pytest.param("phq8", "id: phq8", "id: PHQ 8", "protocol_id", "id", id="id"),
        pytest.param("phq8", "title:", "# ", "missing_key", "", id="missing_key"),
        pytest.param(
            "phq8", *without_item("PHQ8_Sleep"), "missing_stem", "items", id="missing_stem"
        ),
        pytest.param(
            "phq8",
            "    clarifying: >-\n      Of the past 14 days, roughly how many were low",
            "    clarify: >-\n      Of the past 14 days, roughly how many were low",
            "unknown_key",
            "items.PHQ8_Depressed.clarify",
            id="missing_wording",
        ),
        pytest.param(
            "phq8",
            "roughly how many were you drained on?",
            "surely you were drained on many?",
            "leading_question",
            "items.PHQ8_Tired.clarifying",
            id="leading_question",
        ),
        pytest.param(
            "phq8",
            "Of the past 14 days, roughly how many were you drained on?",
            "How many days were you drained on?",
            "no_period",
            "items.PHQ8_Tired.clarifying",
            id="no_two_weeks",
        ),
        pytest.param(
            "phq8",
            "Of the past 14 days, roughly how many were you drained on?",
            "Of the past 14 days, roughly how many were low or sad ones for you?",
            "repeated_question",
            "items.PHQ8_Tired.clarifying",
            id="repeated_question",
        ),
        pytest.param(
            "phq8",
            "text: Several days",
            "text: not at  ALL",
            "duplicate_option",
            "answers.anchors[1].text",
            id="duplicate_option",
        ),
        pytest.param(
            "phq8", "score: 3", "score: 2", "anchor_scores", "answers.anchors", id="anchor_scores"
        ),
        pytest.param(
            "phq8",
            "  decline: I prefer not to say\n",
            "",
            "missing_key",
            "answers",
            id="no_decline",
        ),
        pytest.param(
            "phq8",
            'shall I put down "{anchor}"?',
            "shall I put it down?",
            "no_place",
            "answers.confirmation.question",
            id="no_place_to_confirm",
        ),
        pytest.param(
            "phq8",
            'shall I put down "{anchor}"?',
            "shall I put down {anchr}?",
            "unknown_input",
            "answers.confirmation.question",
            id="place_to_confirm",
        ),
        pytest.param(
            "phq8",
            'shall I put down "{anchor}"?',
            "I put down {anchor}.",
            "no_question",
            "answers.confirmation.question",
            id="confirmation_is_no_question",
        ),
        pytest.param(
            "phq8",
            'shall I put down "{anchor}"?',
            "you must mean {anchor}?",
            "leading_question",
            "answers.confirmation.question",
            id="leading_confirmation",
        ),
        pytest.param(
            "phq8",
            'agree: "Yes"',
            "agree: Yes",
            "wrong_shape",
            "answers.confirmation.agree",
            id="agree_is_true",
        ),
        pytest.param(
            "phq8",
            '    disagree: "No"\n',
            "",
            "missing_key",
            "answers.confirmation",
            id="no_way_to_disagree",
        ),
        pytest.param(
            "phq8",
            'agree: "Yes"',
            'agree: "not at all"',
            "duplicate_option",
            "answers.confirmation.agree",
            id="agree_is_a_frequency",
        ),
        pytest.param(
            "phq8",
            "  free_text: true",
            '  free_text: true\n  correction: {question: "Which do you mean?"}',
            "no_place",
            "answers.correction.question",
            id="no_place_to_correct",
        ),
        pytest.param(
            "phq8",
            "  free_text: true",
            '  free_text: true\n  correction: {question: "Is it {earlier} or {currant}?"}',
            "unknown_input",
            "answers.correction.question",
            id="place_to_correct",
        ),
        pytest.param(
            "phq8",
            "  free_text: true",
            '  free_text: true\n  correction: {question: "It is {earlier} or {current}."}',
            "no_question",
            "answers.correction.question",
            id="correction_is_no_question",
        ),
        pytest.param(
            "phq8",
            "  free_text: true",
            '  free_text: true\n  correction: {question: "You must mean {earlier}, {current}?"}',
            "leading_question",
            "answers.correction.question",
            id="leading_correction",
        ),
        pytest.param(
            "phq8",
            "  free_text: true",
            '  free_text: true\n  correction: {earlier: "The one before"}',
            "no_place",
            "answers.correction.earlier",
            id="no_place_for_the_item",
        ),
        pytest.param(
            "phq8",
            "  free_text: true",
            '  free_text: true\n  correction: {again: "Not at all"}',
            "duplicate_option",
            "answers.correction.again",
            id="asking_again_is_a_frequency",
        ),
        pytest.param(
            "incident",
            "  offered: 4",
            "  offered: 4\n  correction: {again: a}",
            "not_for_this_kind",
            "answers.correction",
            id="correction_of_goals",
        ),
        pytest.param(
            "incident",
            "  offered: 4",
            "  offered: 4\n  confirmation: {question: a, agree: b, disagree: c}",
            "not_for_this_kind",
            "answers.confirmation",
            id="confirmation_of_goals",
        ),
        pytest.param(
            "phq8", "max_asks: 2", "max_asks: 4", "out_of_range", "stop.max_asks", id="max_asks"
        ),
        pytest.param(
            "phq8",
            "max_turns: 16",
            "max_turns: 16\n  threshold: 80",
            "not_for_this_kind",
            "stop.threshold",
            id="threshold_of_items",
        ),
        pytest.param(
            "phq8", "report: items", "report: analysis", "report_kind", "report", id="report"
        ),
        pytest.param(
            "phq8",
            "That was my last question.",
            "That was it, {name}.",
            "unknown_input",
            "texts.closing",
            id="unknown_input_in_a_sentence",
        ),
        pytest.param(
            "phq8",
            "Thank you for telling me.",
            "Thank you, {name}.",
            "place_not_filled",
            "safety.hold",
            id="place_in_the_safety_text",
        ),
        pytest.param(
            "phq8",
            "answers:",
            "page: {titel: Fragen}\nanswers:",
            "unknown_key",
            "page.titel",
            id="misspelt_text_of_the_page",
        ),
        pytest.param(
            "phq8",
            "answers:",
            "page: {progress: '{number} of {all}'}\nanswers:",
            "unknown_input",
            "page.progress",
            id="place_that_progress_does_not_have",
        ),
        pytest.param(
            "phq8",
            "answers:",
            "page: {over: 'Thank you, {name}.'}\nanswers:",
            "place_not_filled",
            "page.over",
            id="place_in_a_text_of_the_page",
        ),
        pytest.param(
            "phq8",
            "answers:",
            "page: {language: auf Deutsch}\nanswers:",
            "language_tag",
            "page.language",
            id="language_without_a_tag",
        ),
        pytest.param(
            "incident",
            "threshold: confidence_threshold",
            "threshold: confidence_treshold",
            "unknown_input",
            "stop.threshold",
            id="unknown_threshold_input",
        ),
        pytest.param(
            "incident",
            "threshold: confidence_threshold",
            "threshold: 101",
            "out_of_range",
            "stop.threshold",
            id="threshold",
        ),
        pytest.param(
            "incident", "high: 95", "high: 120", "threshold_range", "stop.threshold", id="too_high"
        ),
        pytest.param(
            "incident",
            "default: 90",
            "default: 99",
            "out_of_range",
            "inputs.confidence_threshold.default",
            id="default_outside",
        ),
        pytest.param(
            "incident",
            "{min: 5, max: 7}",
            "{min: 7, max: 5}",
            "empty_range",
            "goals.generated",
            id="goal_bounds",
        ),
        pytest.param(
            "incident", "offered: 4", "offered: 3", "out_of_range", "answers.offered", id="offered"
        ),
        pytest.param(
            "incident",
            "  detect_drift: prompts/detect_drift.md\n",
            "",
            "missing_prompt",
            "prompts",
            id="missing_prompt",
        ),
        pytest.param(
            "incident",
            "drift: free_text",
            "drift: never",
            "unused_prompt",
            "prompts.detect_drift",
            id="unused_prompt",
        ),
        pytest.param(
            "incident",
            "prompts/detect_drift.md",
            "../detect_drift.md",
            "prompt_file",
            "prompts.detect_drift",
            id="prompt_outside_the_folder",
        ),
        pytest.param(
            "incident",
            "prompts/detect_drift.md",
            "prompts/drift.md",
            "prompt_file",
            "prompts.detect_drift",
            id="no_such_prompt",
        ),
        pytest.param(
            "incident",
            "inputs:\n",
            "rules: [{name: r, expr: len(titel) > 2, error: too short}]\ninputs:\n",
            "unknown_input",
            "rules[0].expr",
            id="rule_over_an_unknown_input",
        ),
        pytest.param(
            "incident",
            "inputs:\n",
            "rules: [{name: r, expr: title.__class__, error: refused}]\ninputs:\n",
            "expression",
            "rules[0].expr",
            id="rule_that_is_refused",
        ),
    ],
)
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


def test_texts_of_the_page_that_stay_english_are_a_warning(tmp_path: Path) -> None:
    page = "page: {language: de, title: Ein paar Fragen}\nanswers:"
    folder = copied(tmp_path, "phq8", "answers:", page)
    (warned,) = lint_protocol(folder)
    assert (warned.code, warned.is_error) == ("page_not_whole", False)
    assert "no_script" in warned.message
    assert "title" not in warned.message
    assert load_protocol(folder).page.send == "Send"
