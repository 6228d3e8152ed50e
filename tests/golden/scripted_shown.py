"""What the command prints of models that fail, and what it logs of their calls."""

from collections.abc import Iterator, Mapping
from typing import Final

from tests.fakes.exchange import Script
from tests.fakes.faults import FAULTS, fault
from tests.fakes.replies import good_replies
from tests.golden.answer import Answer, Json, folder_masks, text_answer
from tests.golden.ways import EXAMPLES, model_server, parsed, run, scratch

_SHORT: Final = EXAMPLES / "short_interview.txt"
_SCRIPTS: Final[Mapping[str, Script]] = {
    "good": good_replies(),
    "prose": FAULTS["prose"],
    "status_401": FAULTS["status_401"],
    "status_404": FAULTS["status_404"],
    "status_429": FAULTS["status_429"],
    "reset": FAULTS["reset"],
    "markup": FAULTS["escapes_and_markup"],
    "invented": FAULTS["hallucinated_quotes"],
    "judge_fails": FAULTS["judge_half"],
    "scoring_fails": fault("prose", tasks=["scoring"]),
    "review_in_part": FAULTS["severity_nine"],
    "danger_fails": fault("status_500", tasks=["danger"]),
}


def shown_answers() -> Iterator[Answer]:
    """Yield what a person reads on a terminal, and a machine in the log."""
    for number, (name, script) in enumerate(_SCRIPTS.items()):
        yield _shown(f"for_people/{name}", script, "ollama" if number % 2 else "openai", {})
    certified = ["--certificate", "certificate.json"]
    yield _shown("for_people/certified", good_replies(), "openai", {}, *certified)
    yield _shown("for_people/certified_failed", FAULTS["prose"], "openai", {}, *certified)
    yield _shown(
        "for_people/ablated", good_replies(), "openai", {"DANGER_MODEL": "off"}, "--ablate"
    )
    # One call at a time: in which order several end is not said.
    log = {"LOG_LEVEL": "INFO", "LOG_FORMAT": "json", "MODEL_MAX_CONCURRENCY": "1"}
    for name in ("null_content", "status_500"):
        yield _logged(f"log/{name}", FAULTS[name], log)


def _shown(
    name: str, script: Script, wire: str, settings: Mapping[str, str], *options: str
) -> Answer:
    with scratch() as folder, model_server(script, wire=wire) as (_, named):
        ended = run(["assess", _SHORT, *options], folder, {**named, **settings})
        masks = folder_masks(folder, EXAMPLES)
        return Answer(name=name, value=ended.value, masks=masks)


def _logged(name: str, script: Script, settings: Mapping[str, str]) -> Answer:
    with scratch() as folder, model_server(script) as (_, named):
        ended = run(["assess", _SHORT, "--json"], folder, {**named, **settings})
        logged = [parsed(line) for line in ended.err.splitlines() if line.startswith("{")]
        told = [line for line in text_answer(ended.err) if not line.startswith("{")]
        value: Json = {"log": sorted(logged, key=_event), "told": told}
        return Answer(name=name, value=value, masks=folder_masks(folder, EXAMPLES))


def _event(line: Json) -> str:
    assert isinstance(line, Mapping)
    return str({key: one for key, one in line.items() if key not in _VARYING})


_VARYING: Final = ("timestamp", "duration_ms", "assessment_id", "prompt_digest")
