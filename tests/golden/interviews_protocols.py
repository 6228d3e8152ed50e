"""Protocols that are sound and broken: what the lint says of them, and how they are refused."""

import json
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, TypeAlias

from tests.golden.answer import Answer, folder_masks
from tests.golden.interviews_models import calling_tools
from tests.golden.interviews_own import ITEMS, question, write_goals, write_protocol
from tests.golden.interviews_ways import answer_of, hold
from tests.golden.ways import EXAMPLES, model_server, run, scratch

_Changes: TypeAlias = tuple[tuple[str, str], ...]

_TIRED: Final = question("PHQ8_Tired")
_CLARIFYING: Final = "Of the past 14 days, how many were hard as to tired matters?"
_FREE: Final = "  free_text: true\n"
_CONFIRM: Final = 'Shall I put down "{anchor}"?'
_OF_ITEMS: Final[dict[str, _Changes]] = {
    "sound": (),
    "misspelt_key": (("tone:", "tonne:"),),
    "misspelt_stop_key": (("max_asks:", "max_askes:"),),
    "unknown_kind": (("kind: items", "kind: item"),),
    "unusable_id": (("id: own", "id: MY OWN"),),
    "no_title": (("title: Eight questions\n", ""),),
    "no_item": (("  PHQ8_Sleep:\n", "  PHQ8_Sleeps:\n"),),
    "no_wording": ((f"    clarifying: {_CLARIFYING}", f"    clarify: {_CLARIFYING}"),),
    "leading_question": ((_CLARIFYING, "Of the past 14 days, surely many were hard?"),),
    "leading_tag": ((_TIRED, "In the last two weeks you were tired, weren't you?"),),
    "no_period": ((_CLARIFYING, "How many days were hard?"),),
    "no_question": ((_CLARIFYING, "Of the past 14 days, tell me how many were hard."),),
    "repeated_question": ((_CLARIFYING, question("PHQ8_Tired")),),
    "duplicate_option": (("text: Several days", "text: not at  ALL"),),
    "anchor_scores": (("score: 3", "score: 2"),),
    "score_out_of_range": (("score: 3", "score: 4"),),
    "no_decline": (("  decline: I prefer not to say\n", ""),),
    "no_place_to_confirm": ((_CONFIRM, "Shall I put it down?"),),
    "unknown_place_to_confirm": ((_CONFIRM, "Shall I put down {anchr}?"),),
    "confirmation_is_no_question": ((_CONFIRM, "I put down {anchor}."),),
    "agree_is_true": (('agree: "Yes"', "agree: Yes"),),
    "no_way_to_disagree": (('    disagree: "No"\n', ""),),
    "agree_is_a_frequency": (('agree: "Yes"', 'agree: "not at all"'),),
    "correction_without_a_place": ((_FREE, f'{_FREE}  correction: {{question: "Which?"}}\n'),),
    "correction_of_goals_key": ((_FREE, f"{_FREE}  offered: 4\n"),),
    "asking_again_is_a_frequency": ((_FREE, f'{_FREE}  correction: {{again: "Not at all"}}\n'),),
    "too_many_asks": (("max_asks: 2", "max_asks: 4"),),
    "too_few_turns": (("max_turns: 20", "max_turns: 3"),),
    "threshold_of_items": (("max_turns: 20", "max_turns: 20\n  threshold: 80"),),
    "report_of_goals": (("report: items", "report: analysis"),),
    "unknown_place": (("Thank you, that is all.", "Thank you, {name}."),),
    "place_in_the_safety_text": (("Thank you for telling me.", "Thank you, {name}."),),
    "no_safety_text": (("  hold: Thank you for telling me. I stop here.\n", "  held: x\n"),),
    "two_faults": (("tone:", "tonne:"), ("max_asks: 2", "max_asks: 9")),
}
_OF_GOALS: Final[dict[str, _Changes]] = {
    "sound": (),
    "unknown_threshold": (("threshold: threshold", "threshold: treshold"),),
    "threshold_out_of_range": (("threshold: threshold", "threshold: 101"),),
    "threshold_of_an_input_too_high": (("high: 95", "high: 120"),),
    "default_outside": (("default: 80", "default: 99"),),
    "default_is_text": (("default: 80", "default: eighty"),),
    "unknown_type": (("type: integer", "type: intger"),),
    "generated_the_wrong_way": (("  fixed:\n", "  generated: {min: 7, max: 5}\n  fixed:\n"),),
    "too_few_offered": (("offered: 4", "offered: 3"),),
    "missing_prompt": (("  update_goals: prompts/update_goals.md\n", ""),),
    "drift_without_prompt": (("drift: never", "drift: free_text"),),
    "unused_prompt": (("prompts:\n", "prompts:\n  detect_drift: prompts/update_goals.md\n"),),
    "prompt_outside": (("prompts/extract_facts.md", "../extract_facts.md"),),
    "no_such_prompt": (("prompts/extract_facts.md", "prompts/facts.md"),),
    "rule_of_an_unknown_input": (("len(summary) > len(title)", "len(summery) > 2"),),
    "rule_that_is_refused": (("len(summary) > len(title)", "title.__class__"),),
    "rule_with_bad_syntax": (("len(summary) > len(title)", "len(summary >"),),
    "confirmation_of_goals": (
        ("  offered: 4", "  offered: 4\n  confirmation: {question: a, agree: b, disagree: c}"),
    ),
    "max_turns": (("max_turns: 8", "max_turns: 0"),),
    "max_length": (("max_length: 4000}", "max_length: 0, size: 1}"),),
    "name_in_introduction": (("{interviewee_name}", "{interviewee_nme}"),),
}
_NO_PROTOCOLS: Final = {
    "empty": b"",
    "list": b"- a list\n",
    "no_yaml": b"id: [\n",
    "no_utf_8": b"\xff\xfe",
    "kind_alone": b"kind: goals\n",
    "wrong_shapes": b"kind: items\nitems: 3\nanswers: []\nstop: {}\n",
    "more_shapes": b"kind: goals\ninputs: {a: 1}\nprompts: [x]\nrules: 5\n",
    "twice": b"id: a\nid: b\nkind: items\n",
}


def answers() -> Iterator[Answer]:
    """Yield what is said of protocols, and what comes of using them."""
    with scratch() as folder:
        yield from _linted(folder)
        yield from _used(folder)
        yield from _inputs(folder)
        schemas = hold(folder, "schemas")
        yield answer_of("protocols/schemas", folder, schemas)


def _linted(folder: Path) -> Iterator[Answer]:
    folders = []
    for name, changes in _OF_ITEMS.items():
        folders.append(write_protocol(folder / "items" / name, *changes))
    for name, changes in _OF_GOALS.items():
        folders.append(write_goals(folder / "goals" / name, *changes))
    for name, content in _NO_PROTOCOLS.items():
        (folder / "none" / name).mkdir(parents=True)
        (folder / "none" / name / "protocol.yaml").write_bytes(content)
        folders.append(folder / "none" / name)
    open_place = write_goals(folder / "goals" / "open_place_in_a_prompt")
    (open_place / "prompts" / "extract_facts.md").write_text("Ask\n{interviewee_name}", "utf-8")
    unused = write_goals(folder / "goals" / "unused_file")
    (unused / "prompts" / "old.md").write_text("Old.", "utf-8")
    places = [str(one.relative_to(folder)) for one in (*folders, open_place, unused)]
    linted = run(["lint-config", "--format", "json", *places], folder)
    found: dict[str, list[Any]] = {place: [] for place in places}
    for problem in json.loads(linted.out):
        found[problem["file"].removesuffix("/protocol.yaml")].append(problem)
    for place, problems in found.items():
        yield Answer(name=f"protocols/lint/{place}", value=problems)
    yield Answer(
        name="protocols/lint/as_text",
        value={
            "all": run(["lint-config", *places[:6]], folder).value,
            "sound": run(["lint-config", "items/sound", EXAMPLES / "protocol"], folder).value,
            "warnings": run(["lint-config", "goals/unused_file"], folder).value,
            "file": run(["lint-config", "items/two_faults/protocol.yaml"], folder).value,
            "nowhere": run(["lint-config", "nowhere"], folder).value,
        },
        masks=folder_masks(folder, EXAMPLES),
    )


def _used(folder: Path) -> Iterator[Answer]:
    said = ["2", "some", "three days", *("1",) * 6]
    by_name = ("--protocol", "own", "--json")
    shutil.copytree(folder / "items" / "sound", folder / "own")
    named = {"INTERVIEW_PROTOCOLS": str(folder / "own")}
    begun = hold(folder, *by_name, said=said)
    yield answer_of("protocols/own/by_folder", folder, begun, said=said)
    (folder / "elsewhere").mkdir()
    for name, settings in (("by_setting", named), ("unknown", {})):
        held = hold(folder / "elsewhere", *by_name, said=said, settings=settings)
        yield answer_of(f"protocols/own/{name}", folder, held, said=said)
    for name in ("items/two_faults", "goals/unknown_type", "none/empty", "elsewhere"):
        refused = hold(folder, "--protocol", name)
        yield answer_of(f"protocols/refused/{name}", folder, refused)
    for name in ("phq", "Incident", "handover", ""):
        refused = hold(folder, "--protocol", name)
        yield answer_of(f"protocols/refused/name_{name or 'empty'}", folder, refused)
    broken = {"INTERVIEW_PROTOCOLS": str(folder / "items" / "two_faults")}
    refused = hold(folder, "--protocol", "phq8", settings=broken)
    yield answer_of("protocols/refused/by_setting", folder, refused)
    french = ((_TIRED, "Sur les deux dernières semaines, combien de jours étiez-vous las ?"),)
    write_protocol(folder / "french", *french)
    yield Answer(name="protocols/lint/french", value=run(["lint-config", "french"], folder).value)
    one_ask = (("max_asks: 2", "max_asks: 1"), ("max_turns: 20", "max_turns: 8"))
    write_protocol(folder / "short", *one_ask)
    vague = ["some", "it varies", "5", "wait, three days", "1", "2", "3", "4", "4"]
    held = hold(folder, "--protocol", "short", "--json", said=vague)
    yield answer_of("protocols/own/one_ask", folder, held, said=vague)
    write_protocol(folder / "choices", (_FREE, "  free_text: false\n"))
    words = ["most days", "Several days", "9", *("1",) * 7]
    held = hold(folder, "--protocol", "choices", said=words)
    yield answer_of("protocols/own/choices_alone", folder, held, said=words)
    assert set(ITEMS) <= set(begun.out.split('"'))


_GIVEN: Final = {
    "title": "Ward four",
    "summary": "Two people were moved.",
    "interviewee_name": "Ada",
}
_CHANGED: Final[dict[str, dict[str, str | None]]] = {
    "none": {"title": None, "summary": None, "interviewee_name": None},
    "no_title": {"title": None},
    "blank": {"title": " "},
    "too_long": {"title": "x" * 201},
    "too_low": {"threshold": "9"},
    "too_high": {"threshold": "96"},
    "no_number": {"threshold": "high"},
    "decimal": {"threshold": "80.5"},
    "unknown": {"titel": "x"},
    "against_a_rule": {"summary": "Short."},
    "from_no_file": {"summary": "@nowhere.txt"},
    "from_no_text": {"summary": "@latin.txt"},
    "from_a_file": {"summary": "@summary.txt"},
}


def _inputs(folder: Path) -> Iterator[Answer]:
    (folder / "summary.txt").write_text("Somebody ate the lunch.\n", "utf-8")
    (folder / "latin.txt").write_bytes(b"caf\xe9\n")
    write_goals(folder / "handover")
    named = ("--protocol", "handover", "--json")
    cases = {name: _options({**_GIVEN, **changes}) for name, changes in _CHANGED.items()}
    cases["without_a_name"] = ["--input", "text"]
    cases["twice"] = [*_options(_GIVEN), "--input", "title=Ward five"]
    cases["of_phq8"] = ["--protocol", "phq8", "--input", "title=a"]
    with model_server(calling_tools()) as (_, settings):
        for name, options in cases.items():
            held = hold(folder, *named, *options, said=["stop"], settings=settings)
            yield answer_of(f"protocols/inputs/{name}", folder, held, said=options)


def _options(given: Mapping[str, str | None]) -> list[str]:
    texts = [f"{name}={text}" for name, text in given.items() if text is not None]
    return [part for text in texts for part in ("--input", text)]
