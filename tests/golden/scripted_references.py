"""Few-shot scoring over the model server, with references cut from invented interviews."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from tests.fakes.faults import fault
from tests.golden.answer import Answer, folder_masks
from tests.golden.assessments_calls import AP, came_to
from tests.golden.assessments_parts import own_transcripts
from tests.golden.scripted_way import EVERY_DAY, Case, answers_of
from tests.golden.ways import environment, run

_LABELLED: Final = {
    "frequencies/several_days": [0, 1, 1, 1, 0, 0, 0, 0],
    "frequencies/more_than_half": [0, 2, 2, 2, 2, 0, 0, 0],
    "meaning/all_denied": [0, 0, 0, 0, 0, 0, 0, 0],
    "meaning/bereaved": [2, 3, 0, 0, 1, 0, 0, 0],
    "odd/time_stamps": [0, 0, 2, 0, 3, 0, 0, 0],
}
_CUT: Final = {"REFERENCES_CHUNK_LINES": "2", "REFERENCES_CHUNK_STEP": "2"}
_SCORED: Final = {
    "DANGER_MODEL": "off",
    "MODEL_QUALITATIVE_MODEL": "baseline",
    "MODEL_JUDGE_MODEL": "baseline",
    "MODEL_META_REVIEW_MODEL": "baseline",
}


def made_references(folder: Path) -> Mapping[str, str]:
    """Make references by the command, and return the settings that show them."""
    units = folder / "units.jsonl"
    with units.open("w", encoding="utf-8") as file:
        for number, (name, items) in enumerate(_LABELLED.items(), start=301):
            unit = {"participant_id": str(number), "text": own_transcripts()[name], "items": items}
            file.write(json.dumps({"unit_id": name.rpartition("/")[2], **unit}) + "\n")
    made = folder / "references"
    commands: Sequence[Sequence[str | Path]] = (
        ["build", units, "--out", made],
        ["score", made, "--by", "labels"],
    )
    for arguments in commands:
        ended = run(["references", *arguments], folder, _CUT)
        assert ended.code == 0, ended.err
    return {"REFERENCES_DIR": str(made), **_CUT}


def reference_answers(shown: Mapping[str, str], folder: Path) -> Iterator[Answer]:
    """Yield assessments that show references, and those that cannot."""
    yield from answers_of(_cases({**_SCORED, **shown}), folder)
    settings = AP.load_settings(environment(folder, shown), None)
    longer = AP.load_settings(environment(folder, {**shown, "REFERENCES_CHUNK_LINES": "4"}), None)
    for name, chosen in {"baseline": settings, "cut_otherwise": longer}.items():
        call = lambda chosen=chosen: AP.assess_sync(EVERY_DAY, mode="few_shot", settings=chosen)  # noqa: E731
        yield Answer(
            name=f"references/{name}",
            value=came_to(call),
            given=[EVERY_DAY],
            masks=folder_masks(folder),
        )


def _cases(shown: Mapping[str, str]) -> Iterator[Case]:
    for mode in ("few_shot", "random_references", "zero_shot"):
        options = {"mode": mode}
        yield Case(name=f"references/{mode}", text=EVERY_DAY, settings=shown, options=options)
    kinds: Mapping[str, Mapping[str, str]] = {
        "enabled": {"ENABLE_FEW_SHOT": "true"},
        "one": {"ENABLE_FEW_SHOT": "true", "REFERENCES_TOP_K": "1"},
        "others_drawn": {"REFERENCES_SEED": "7"},
        "floor": {"ENABLE_FEW_SHOT": "true", "REFERENCES_MIN_SIMILARITY": "1"},
        "no_room": {"ENABLE_FEW_SHOT": "true", "REFERENCES_MAX_TOKENS": "16"},
        "any_item": {"ENABLE_FEW_SHOT": "true", "REFERENCES_SAME_ITEM": "false"},
    }
    for name, settings in kinds.items():
        options = {"mode": "random_references"} if name == "others_drawn" else {}
        chosen = {**shown, **settings}
        yield Case(name=f"references/{name}", text=EVERY_DAY, settings=chosen, options=options)
    yield Case(
        name="references/nobody_said_it",
        text=EVERY_DAY,
        script=fault("hallucinated_quotes", tasks=["evidence"]),
        settings=shown,
        options={"mode": "few_shot"},
    )
