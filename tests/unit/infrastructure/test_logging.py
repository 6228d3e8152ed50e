import ast
import dataclasses
import json
import logging
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ai_psychiatrist
from ai_psychiatrist.domain.failures import Attempt, FailureCode
from ai_psychiatrist.infrastructure.logging import (
    ALLOWED_KEYS,
    get_logger,
    only_allowed_keys,
    setup_logging,
)

SOURCE = Path(ai_psychiatrist.__file__).parent
SECRET = "I wake up at four every night"


def allowed(**event: object) -> dict[str, object]:
    return dict(only_allowed_keys(None, "info", {"event": "thing_happened", **event}))


def logged(capsys: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    captured = capsys.readouterr()
    assert captured.out == ""
    return [json.loads(line) for line in captured.err.splitlines()]


@pytest.mark.parametrize(
    ("key", "value", "written"),
    [
        pytest.param("count", 3, 3, id="number"),
        pytest.param("duration_ms", 0.5, 0.5, id="float"),
        pytest.param("repaired", True, True, id="flag"),
        pytest.param("agent", "judge_coherence", "judge_coherence", id="name"),
        pytest.param("code", FailureCode.TIMED_OUT, "timed_out", id="enum"),
        pytest.param("rejected_by_domain", {"PHQ8_Sleep": 1}, {"PHQ8_Sleep": 1}, id="counts"),
        pytest.param("model", "m" * 160, "m" * 160, id="longest"),
    ],
)
def test_codes_counts_and_names_are_written(key: str, value: object, written: object) -> None:
    assert allowed(**{key: value}) == {"event": "thing_happened", key: written}


@pytest.mark.parametrize(
    ("key", "value"),
    [
        pytest.param("text", SECRET, id="other_key"),
        pytest.param("quote", SECRET, id="quote"),
        pytest.param("exc_info", True, id="traceback"),
        pytest.param("reason", "x" * 161, id="too_long"),
        pytest.param("reason", f"a\n{SECRET}", id="several_lines"),
        pytest.param("reason", [SECRET], id="list"),
        pytest.param("reason", ValueError(SECRET), id="exception"),
        pytest.param("reason", SECRET.encode(), id="bytes"),
    ],
)
def test_what_could_be_text_is_dropped_and_counted(key: str, value: object) -> None:
    assert allowed(**{key: value}) == {"event": "thing_happened", "dropped_keys": 1}


def keys_of_our_lines() -> Iterator[tuple[str, str]]:
    """Yield what our calls of a logger name, each with where it does."""
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func).startswith("logger."):
                for keyword in node.keywords:
                    if keyword.arg is not None:
                        yield f"{path.name}:{node.lineno}", keyword.arg


def test_every_key_of_our_lines_is_allowed() -> None:
    unknown = [(place, key) for place, key in keys_of_our_lines() if key not in ALLOWED_KEYS]
    assert unknown == []
    unlogged = {"hosts", "served_model", "system_fingerprint"}
    assert {field.name for field in dataclasses.fields(Attempt)} - unlogged <= ALLOWED_KEYS


def test_absent_values_are_left_out_and_not_counted() -> None:
    assert allowed(code=None, participant_id=None) == {"event": "thing_happened"}


def test_values_inside_a_mapping_are_checked_too() -> None:
    written = allowed(violations={"PHQ8_Sleep": "Expected list, got str", "x": [SECRET]})
    assert SECRET not in str(written)
    assert written["violations"] == {"PHQ8_Sleep": "Expected list, got str", "x": None}


@pytest.mark.parametrize("event", [SECRET, "Thing happened", "", "a" * 65, f"x\n{SECRET}", None])
def test_event_that_is_no_name_is_replaced(event: object) -> None:
    assert allowed(event=event)["event"] == "unnamed_event"


@given(st.dictionaries(st.sampled_from([*sorted(ALLOWED_KEYS)[:20], "text", "body"]), st.text()))
def test_nothing_but_allowed_keys_and_short_values_is_written(event: dict[str, object]) -> None:
    written = only_allowed_keys(None, "info", {"event": "thing_happened", **event})
    assert written.keys() <= ALLOWED_KEYS
    assert all(len(value) <= 160 for value in written.values() if isinstance(value, str))


def test_json_lines_go_to_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    setup_logging("INFO", "json")
    get_logger("a").warning("thing_happened", count=1, transcript=SECRET)
    (line,) = logged(capsys)
    assert line.pop("timestamp") is not None
    assert line == {"event": "thing_happened", "level": "warning", "count": 1, "dropped_keys": 1}


def test_level_bounds_what_is_written(capsys: pytest.CaptureFixture[str]) -> None:
    setup_logging("ERROR", "json")
    get_logger("a").warning("thing_happened")
    get_logger("a").error("worse_happened")
    assert [line["event"] for line in logged(capsys)] == ["worse_happened"]


def test_console_lines_carry_no_text_either(capsys: pytest.CaptureFixture[str]) -> None:
    setup_logging("INFO", "console")
    try:
        raise ValueError(SECRET)
    except ValueError:
        get_logger("a").exception("thing_happened", note=SECRET)
    captured = capsys.readouterr()
    assert "thing_happened" in captured.err
    assert "four" not in captured.err


@pytest.mark.parametrize("log_format", ["json", "console"])
def test_log_lines_of_libraries_are_reduced_to_their_names(
    log_format: str, capsys: pytest.CaptureFixture[str]
) -> None:
    setup_logging("INFO", "json" if log_format == "json" else "console")
    logging.getLogger("httpx").warning("POST %s", SECRET)
    logging.getLogger("openai").error(SECRET, exc_info=ValueError(SECRET))
    logging.getLogger("httpx").info(SECRET)
    written = capsys.readouterr().err
    assert len(written.splitlines()) == 2
    assert "httpx" in written
    assert "openai" in written
    assert "four" not in written


def test_warnings_of_libraries_are_reduced_to_their_name(
    capsys: pytest.CaptureFixture[str],
) -> None:
    setup_logging("INFO", "json")
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        logging.captureWarnings(capture=False)
        logging.captureWarnings(capture=True)
        warnings.warn(SECRET, UserWarning, stacklevel=1)
    (line,) = logged(capsys)
    assert (line["event"], line["library_logger"]) == ("library_log", "py.warnings")


def test_later_setup_counts_for_loggers_that_were_used_before(
    capsys: pytest.CaptureFixture[str],
) -> None:
    logger = get_logger("a")
    setup_logging("ERROR", "json")
    logger.error("first_happened")
    setup_logging("INFO", "json")
    logger.info("second_happened")
    assert [line["event"] for line in logged(capsys)] == ["first_happened", "second_happened"]
