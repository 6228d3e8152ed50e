"""The made-up challenge, and references of few-shot scoring: made, answered, scored, checked."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from tests.fakes.faults import FAULTS, only_for
from tests.fakes.replies import good_replies
from tests.golden.answer import Answer, Json
from tests.golden.evaluations_shown import (
    WITHOUT_GIT,
    all_shown,
    evaluate,
    json_file,
    packed,
    record_of,
    shown,
    told,
    units_of,
)
from tests.golden.evaluations_talks import HEADER, TIRED, jsonl, labelled_texts
from tests.golden.ways import model_server, run

_SAID: Final[Mapping[str, Sequence[str]]] = {
    "301": ("I lie awake until four nearly every night.", "I eat well, my appetite is good."),
    "302": ("I sleep well, no trouble sleeping at all.", "I feel down most days."),
    "303": ("I wake up at three and lie awake most nights.", "I have lost interest in everything."),
}
_LABELS: Final[Mapping[str, Mapping[str, int]]] = {
    "301": {"PHQ8_Sleep": 3},
    "302": {"PHQ8_Depressed": 2},
    "303": {"PHQ8_Sleep": 2, "PHQ8_NoInterest": 3},
}
_CUT: Final = {"REFERENCES_CHUNK_LINES": "2", "REFERENCES_CHUNK_STEP": "2"}
_ASKER: Final = (
    "Interviewer: How do you sleep?\n"
    "Participant: I lie awake until five, I cannot sleep at night.\n"
)


def answers(folder: Path) -> Iterator[Answer]:
    """Yield what becomes of both."""
    yield from _challenge(folder)
    yield from _references(folder)
    yield from _with_references(folder)


def _challenge(folder: Path) -> Iterator[Answer]:
    make = ("challenge", "make", "--size", "1", "--out")
    made = shown(evaluate(folder, *make, "small"))
    evaluate(folder, *make, "other", "--seed", "4")
    interviews = _lines(folder / "small/interviews.jsonl")
    truth = _lines(folder / "small/truth.jsonl")
    texts = [str(one["text"]) for one in interviews]
    value: dict[str, Json] = {
        "made": made,
        "about": json_file(folder / "small/challenge.json"),
        "interviews": [packed(one) for one in interviews[:4]],
        "truth": [packed(one) for one in truth[:4]],
        "marks": {
            name: hashlib.sha256((folder / "small" / name).read_bytes()).hexdigest()[:8]
            for name in ("interviews.jsonl", "truth.jsonl")
        },
    }
    yield told("challenge/made", value, folder, *texts)
    answered = ("challenge", "run", "small", "--out")
    ends = all_shown(
        folder,
        {
            "baseline": (*answered, "baseline.jsonl"),
            "again": (*answered, "baseline.jsonl"),
            "resumed": (*answered, "baseline.jsonl", "--resume"),
            "by_another": (*answered, "baseline.jsonl", "--resume", "--model", "ollama:none"),
        },
    )
    lines = (folder / "baseline.jsonl").read_text("utf-8").splitlines(keepends=True)
    (folder / "half.jsonl").write_text("".join(lines[:8]), "utf-8")
    torn = "".join([*lines[3:12], lines[0][:40]])
    (folder / "torn.jsonl").write_text(torn, "utf-8")
    ends["torn_resumed"] = shown(evaluate(folder, *answered, "torn.jsonl", "--resume"))
    ends["torn_is_whole_again"] = (folder / "torn.jsonl").read_text("utf-8") == "".join(lines)
    value = {"ends": ends, "answers": packed([json.loads(line) for line in lines[:3]])}
    yield told("challenge/answered", value, folder, *texts)
    for name, arguments in {
        "table": ("challenge", "score", "small", "baseline.jsonl", "half.jsonl"),
        "json": ("challenge", "score", "small", "baseline.jsonl", "--json"),
    }.items():
        yield told(f"challenge/scored_{name}", shown(evaluate(folder, *arguments)), folder)
    served_ends: dict[str, Json] = {}
    for name, script in {
        "good": good_replies(),
        "failing": only_for(["scoring"], FAULTS["status_500"]),
    }.items():
        with model_server(script) as (_, served):
            settings = served | {"PYDANTIC_AI_RETRIES": "0"}
            ended = evaluate(folder, *answered, f"{name}.jsonl", settings=settings)
        score = ("challenge", "score", "small", f"{name}.jsonl")
        served_ends[name] = [shown(ended), shown(evaluate(folder, *score))]
    yield told("challenge/served", served_ends, folder)
    yield told("challenge/refused", all_shown(folder, _refused(folder, lines)), folder)


def _refused(folder: Path, lines: Sequence[str]) -> Mapping[str, Sequence[object]]:
    one = json.loads(lines[0])
    items = one["items"]
    odd: Mapping[str, object] = {
        "no_json": "{oops\n",
        "twice": lines[0] * 2,
        "score-of-four": _line(one | {"items": {**items, "PHQ8_Sleep": {"score": 4}}}),
        "item-missing": _line(one | {"items": {"PHQ8_Sleep": {"score": 1}}}),
        "unknown-field": _line(one | {"mood": 1}),
        "two-systems": lines[0] + lines[1].replace('"baseline"', '"another"'),
        "probabilities": _line(
            one | {"items": {**items, "PHQ8_Sleep": {"score": 1, "probabilities": [1, 1, 1, 1, 1]}}}
        ),
    }
    for name, text in odd.items():
        (folder / f"{name}.jsonl").write_text(str(text), "utf-8")
    score = ("challenge", "score", "small")
    return {
        **{name.replace("-", "_"): (*score, f"{name}.jsonl") for name in odd},
        "made_in_use": ("challenge", "make", "--out", "small"),
        "made_of_nobody": ("challenge", "make", "--out", "new", "--size", "0"),
        "run_without_a_challenge": ("challenge", "run", ".", "--out", "new.jsonl"),
        "run_into_no_folder": ("challenge", "run", "small", "--out", "none/new.jsonl"),
        "nothing_to_resume": ("challenge", "run", "small", "--out", "none.jsonl", "--resume"),
        "no_file": (*score, "none.jsonl"),
        "the_truth": (*score, "small/truth.jsonl"),
        "one_name_twice": (*score, "baseline.jsonl", "./baseline.jsonl"),
        "of_another_challenge": ("challenge", "score", "other", "baseline.jsonl"),
    }


def _records(names: Sequence[str], *, are_labelled: bool = True) -> Iterator[dict[str, object]]:
    for name in names:
        said = [f"Interviewer: And now?\nParticipant: {words}" for words in _SAID[name]]
        zeros = dict.fromkeys(HEADER.split(","), 0)
        labels = {"items": zeros | dict(_LABELS[name])} if are_labelled else {}
        yield {"id": name, "participant_id": name, "text": "\n".join(said), **labels}


def _references(folder: Path) -> Iterator[Answer]:
    jsonl(folder / "people.jsonl", list(_records(["301", "302", "303"])))
    jsonl(folder / "unlabelled.jsonl", list(_records(["301", "302"], are_labelled=False)))
    labelled_texts(folder / "talks", range(1, 7))
    jsonl(folder / "odd.jsonl", [*_records(["301"]), {"id": "x", "text": "Doctor: hi\nNurse: hi"}])

    def steps(commands: Mapping[str, Sequence[str]], **more: str) -> dict[str, Json]:
        settings = WITHOUT_GIT | _CUT | more
        return {
            name: shown(run(["references", *arguments], folder, settings))
            for name, arguments in commands.items()
        }

    value = steps(
        {
            "built": ["build", "people.jsonl", "--out", "refs"],
            "checked_unscored": ["check", "refs"],
            "scored": ["score", "refs", "--by", "labels"],
            "scored_again": ["score", "refs", "--by", "labels"],
            "checked": ["check", "refs"],
            "checked_json": ["check", "refs", "--json"],
            "by_model": ["score", "refs", "--by", "model"],
            "by_model_again": ["score", "refs", "--by", "model"],
            "checked_by_model": ["check", "refs", "--json"],
            "labels_again": ["score", "refs", "--by", "labels"],
            "of_a_split": ["build", "talks", "--split", "test", "--out", "of-a-split"],
            "with_one_unread": ["build", "odd.jsonl", "--out", "odd-refs"],
        }
    )
    names = sorted(path.name for path in (folder / "refs").iterdir())
    chunks = json_file(folder / "refs/chunks.jsonl")
    said = [words for talk in _SAID.values() for words in talk]
    value |= {"files": names, "chunks": chunks}
    yield told("references/made", value, folder, *(one["text"] for one in _texts(folder)), *said)
    steps({"unlabelled": ["build", "unlabelled.jsonl", "--out", "unlabelled"]})
    steps({"damaged": ["build", "people.jsonl", "--out", "damaged"]})
    (folder / "damaged/readings.npy").write_bytes(b"")
    refused = steps(
        {
            "built_in_use": ["build", "people.jsonl", "--out", "refs"],
            "built_of_nothing": ["build", "nowhere", "--out", "new"],
            "built_of_no_split": ["build", "talks", "--split", "dev", "--out", "new"],
            "scored_without_labels": ["score", "unlabelled", "--by", "labels"],
            "scored_by_nobody": ["score", "refs", "--by", "people"],
            "scored_nothing": ["score", "talks", "--by", "labels"],
            "damaged_checked": ["check", "damaged"],
            "damaged_scored": ["score", "damaged", "--by", "labels"],
            "no_folder_named": ["check"],
            "no_references": ["check", "talks"],
        }
    )
    refused |= steps({"cut_otherwise": ["check", "refs"]}, REFERENCES_CHUNK_LINES="4")
    refused |= steps({"other_embedder": ["check", "refs"]}, REFERENCES_EMBEDDER="openai:any")
    refused |= steps(
        {"no_server": ["build", "people.jsonl", "--out", "new"]},
        REFERENCES_EMBEDDER="openai:any",
        OPENAI_BASE_URL="http://127.0.0.1:1/v1",
    )
    refused |= steps(
        {"unknown_embedder": ["build", "people.jsonl", "--out", "new"]},
        REFERENCES_EMBEDDER="magic",
    )
    yield told("references/refused", refused, folder)


def _texts(folder: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in (folder / "people.jsonl").read_text("utf-8").splitlines()]


def _with_references(folder: Path) -> Iterator[Answer]:
    """Assess datasets in the modes that show references."""
    jsonl(folder / "asker.jsonl", [{"id": "9", "participant_id": "999", "text": _ASKER}])
    jsonl(folder / "shared.jsonl", [*_records(["302"]), {"id": "8", "text": TIRED}])
    shows = _CUT | {"REFERENCES_DIR": "refs"}
    value: dict[str, Json] = {}
    for mode in ("few_shot", "random_references"):
        with model_server(good_replies()) as (_, served):
            ended = evaluate(
                folder,
                *("run", "asker.jsonl", "--out", f"shown-{mode}", "--mode", mode),
                settings=served | shows,
            )
        out = folder / f"shown-{mode}"
        items = json.loads((out / "predictions.jsonl").read_text("utf-8"))["items"]
        value[mode] = {
            "run": shown(ended),
            "record": record_of(out),
            "units": units_of(out),
            "references": packed(
                {name: [one["references"], one["no_references"]] for name, one in items.items()}
            ),
        }
    steps: Mapping[str, tuple[Sequence[str], Mapping[str, str]]] = {
        "compared": (["compare", "shown-few_shot", "shown-random_references"], {}),
        "other_references": (
            ["run", "asker.jsonl", "--out", "shown-few_shot", "--resume", "--mode", "few_shot"],
            shows | {"REFERENCES_TOP_K": "1"},
        ),
        "without_references": (["run", "asker.jsonl", "--out", "new", "--mode", "few_shot"], {}),
        "people_in_both": (
            ["run", "shared.jsonl", "--out", "new", "--mode", "few_shot"],
            shows,
        ),
    }
    for name, (arguments, settings) in steps.items():
        value[name] = shown(evaluate(folder, *arguments, settings=settings))
    yield told("references/shown", value, folder)


def _lines(path: Path) -> list[dict[str, Json]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def _line(record: Mapping[str, object]) -> str:
    return f"{json.dumps(record)}\n"
