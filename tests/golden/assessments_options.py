"""The options and settings of `assess` and `verify`: what they change, and what is refused."""

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from tests.golden.answer import Answer, Json, folder_masks
from tests.golden.assessments_certificates import certificate_answers
from tests.golden.assessments_parts import in_agent_order, own_transcripts, told
from tests.golden.ways import EXAMPLES, TRANSCRIPTS, Ended, parsed, run, scratch

_LONG: Final = EXAMPLES / "interview.txt"
_SHORT: Final = EXAMPLES / "short_interview.txt"
_ZOOM: Final = TRANSCRIPTS / "webvtt" / "zoom.vtt"
_SETTINGS: Final = Path(__file__).with_name("assessments_settings.toml")
_DURATION: Final = re.compile(r"duration_ms=[\d.]+")
_Keeping = Callable[[Mapping[str, Any]], dict[str, Any]]
_SHOWN: Final = (
    "frequencies/nearly_every_day",
    "danger/many_kinds",
    "danger/denied",
    "languages/changing_over",
    "odd/control_tokens",
    "odd/odd_characters",
)
_FOR_PEOPLE: Final[Mapping[str, Sequence[str | Path]]] = {
    "long": [_LONG],
    "short": [_SHORT],
    "named_speakers": [_ZOOM, "--participant", "Anna Schmidt", "--interviewer", "Tom Berger"],
    "everybody": [TRANSCRIPTS / "srt" / "dialogue.srt", "--participant", "*"],
    "utf_16": [TRANSCRIPTS / "plain_text" / "utf16.txt"],
    "speakers_assumed": [TRANSCRIPTS / "plain_text" / "monologue.txt"],
    "daic_woz": [TRANSCRIPTS / "daic-woz" / "300_TRANSCRIPT.csv"],
    "ablated": [_SHORT, "--ablate"],
}
_REFUSED: Final[Mapping[str, Sequence[str | Path]]] = {
    "no_file": [],
    "two_files": [_SHORT, _LONG],
    "unknown_option": [_SHORT, "--participants", "Anna"],
    "option_without_value": [_SHORT, "--participant"],
    "unknown_mode": [_SHORT, "--mode", "one_shot"],
    "few_shot_without_references": [_SHORT, "--mode", "few_shot"],
    "random_without_references": [_SHORT, "--mode", "random_references"],
    "missing_file": ["nowhere.txt"],
    "folder": ["."],
    "stdin_without_anything": ["-"],
    "both_roles": [_ZOOM, "--participant", "Anna Schmidt", "--interviewer", "Anna Schmidt"],
    "unknown_label": [_ZOOM, "--participant", "Nobody"],
    "unknown_label_where_known": [_SHORT, "--participant", "Nobody"],
    "empty_label": [_ZOOM, "--participant", ""],
    "long_label": [_ZOOM, "--participant", "x" * 200],
    "empty_model": [_SHORT, "--model", " "],
    "unknown_provider": [_SHORT, "--model", "nobody:model"],
    "model_without_name": [_SHORT, "--model", "ollama:"],
    "model_without_provider": [_SHORT, "--model", "gemma3"],
    "model_without_key": [_SHORT, "--model", "openai:gpt-5"],
    "certificate_to_output": [_SHORT, "--certificate", "-"],
    "certificate_is_folder": [_SHORT, "--certificate", "."],
    "certificate_without_folder": [_SHORT, "--certificate", "nowhere/c.json"],
    "certificate_is_interview": [_SHORT, "--certificate", _SHORT],
    "page_and_certificate_are_one": [_SHORT, "--certificate", "one", "--html", "one"],
    "page_is_device": [_SHORT, "--html", "/dev/null"],
}


def option_answers() -> Iterator[Answer]:
    """Yield what options do, and how wrong ones are refused."""
    yield from _chosen()
    for name, arguments in _FOR_PEOPLE.items():
        with scratch() as folder:
            yield _shown(f"for_people/{name}", run(["assess", *arguments], folder), folder)
    transcripts = own_transcripts()
    for name in _SHOWN:
        with scratch() as folder:
            ended = run(["assess", "-"], folder, stdin=transcripts[name].encode())
            yield _shown(f"for_people/{name}", ended, folder)
    for name, arguments in _REFUSED.items():
        with scratch() as folder:
            yield _shown(f"refused/{name}", run(["assess", *arguments], folder), folder)
    yield from certificate_answers()


def settings_answers() -> Iterator[Answer]:
    """Yield how settings are refused that are misspelt, out of range or contradict each other."""
    groups: dict[str, dict[str, dict[str, str]]] = tomllib.loads(
        _SETTINGS.read_text(encoding="utf-8")
    )
    for group, cases in groups.items():
        for name, settings in cases.items():
            with scratch() as folder:
                if file := settings.pop(".env", None):
                    (folder / ".env").write_text(file, encoding="utf-8")
                ended = run(["assess", _SHORT, "--json"], folder, {"LOG_LEVEL": "ERROR"} | settings)
                is_chosen = group == "accepted"
                yield _judged(
                    f"settings/{group}/{name}", ended, folder, told if is_chosen else _scores
                )


def _scores(result: Mapping[str, Any]) -> dict[str, Json]:
    items = (result["quantitative"] or {}).get("items") or {}
    return {
        "status": result["status"],
        "failures": result["failures"],
        "scores": {key: one["score"] for key, one in items.items()},
    }


def _chosen() -> Iterator[Answer]:
    """Yield whole results of what options change, or what differs in them."""
    plain: Mapping[str, Sequence[str | Path]] = {
        "ablated": [_LONG, "--ablate"],
        "descriptions": [_SHORT, "--mode", "descriptions_only"],
    }
    for name, arguments in plain.items():
        with scratch() as folder:
            ended = run(["assess", *arguments, "--json"], folder)
            yield _judged(f"options/{name}", ended, folder, in_agent_order)
    brief: Mapping[str, Sequence[str | Path]] = {
        "baseline_named": [_SHORT, "--model", "baseline"],
        "mode_with_dash": [_SHORT, "--mode", "zero-shot"],
        "mode_in_capitals": [_SHORT, "--mode", "ZERO_SHOT"],
        "two_participants": [_ZOOM, "--participant", "Anna Schmidt", "--participant", "Tom Berger"],
        "label_in_other_case": [_ZOOM, "--participant", "anna schmidt"],
        "label_over_two_lines": [_ZOOM, "--participant", "Anna\nSchmidt"],
        "everybody": [_ZOOM, "--participant", "*"],
        "page": [_SHORT, "--html", "page.html"],
    }
    for name, arguments in brief.items():
        with scratch() as folder:
            ended = run(["assess", *arguments, "--json"], folder)
            written = sorted(one.name for one in folder.iterdir())
            yield _judged(f"options/{name}", ended, folder, written=written)
    for name in ("frequencies/nearly_every_day", "meaning/all_denied", "meaning/contradicted"):
        with scratch() as folder:
            text = own_transcripts()[name]
            ended = run(["assess", "-", "--json", "--ablate"], folder, stdin=text.encode())
            yield _judged(f"options/ablated/{name}", ended, folder)
    for path in (_ZOOM, TRANSCRIPTS / "dialogue_json" / "turns.json", _LONG):
        with scratch() as folder:
            speakers = ["--participant", "Anna Schmidt"] if path == _ZOOM else []
            ended = run(["assess", "-", "--json", *speakers], folder, stdin=path.read_bytes())
            yield _judged(f"options/stdin/{path.name}", ended, folder)


def _shown(name: str, ended: Ended, folder: Path) -> Answer:
    return Answer(name=name, value=ended.value, masks=folder_masks(folder, TRANSCRIPTS, EXAMPLES))


def _judged(
    name: str, ended: Ended, folder: Path, keeping: _Keeping = told, *, written: Json = None
) -> Answer:
    result = parsed(ended.out)
    value: dict[str, Json] = {
        "exit": ended.code,
        "out": keeping(result) if isinstance(result, Mapping) else result,
        # A log for machines is JSON.
        "err": parsed(ended.err),
    }
    if written is not None:
        value["written"] = written
    given = [_LONG.read_text(encoding="utf-8"), _SHORT.read_text(encoding="utf-8")]
    durations = dict.fromkeys(_DURATION.findall(ended.err), "duration_ms=<time>")
    masks = folder_masks(folder, TRANSCRIPTS, EXAMPLES) | durations
    return Answer(name=name, value=value, given=given, masks=masks)
