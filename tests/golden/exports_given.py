"""The results that are exported: of varied interviews, by the rules and by scripted models."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from tests.fakes.exchange import Script
from tests.fakes.faults import FAULTS, fault, only_for
from tests.fakes.replies import good_replies
from tests.golden.answer import Json
from tests.golden.ways import EXAMPLES, TRANSCRIPTS, model_server, run

RESULTS: Final = "results"
"""The folder of all results, `NAME.json` with `NAME.txt` beside it where it is of plain text."""

DANGER: Final = """\
Interviewer: Have you had thoughts of ending your life?
Participant: Yes. I want to kill myself tonight, I have the pills at home.
Interviewer: Have you ever hurt somebody?
Participant: No, never.
Interviewer: How is your mood?
Participant: I feel hopeless nearly every day, and I feel like a failure all the time.
Interviewer: What would you do if it got worse?
Participant: If it got worse I would maybe cut myself, like two years ago.
"""
_DENIED: Final = """\
Interviewer: Have you lost interest in things?
Participant: No, I enjoy things as much as ever.
Interviewer: Do you feel down?
Participant: No, I do not feel down or hopeless at all.
Interviewer: Any trouble sleeping?
Participant: No, I sleep well every night.
Interviewer: Are you tired?
Participant: No, I am not tired, I have plenty of energy.
Interviewer: How is your appetite?
Participant: My appetite is good, I eat well.
Interviewer: Do you feel bad about yourself?
Participant: No, I do not feel like a failure.
Interviewer: Any trouble concentrating?
Participant: No, I have no trouble concentrating.
Interviewer: Are you restless, or moving slowly?
Participant: No, I am not restless, and I am not moving or speaking slowly.
"""
_HOSTILE: Final = (
    "=2+3: <b>How</b> do you sleep & rest?\n"
    "+Anna <b>: =I sleep badly nearly every night, <script>alert(1)</script>.\n"
    "=2+3: And your energy?\n"
    "+Anna <b>: - I am tired\u200b all the time, \"so \u202etired\u202c\", 'very'.\n"
    "=2+3: Your appetite?\n"
    "+Anna <b>: @home I have no appetite nearly every day;\x1b[31m I skip lunch.\n"
)
_ONE_LINE: Final = "Participant: Hello.\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """One result that was made."""

    name: str
    text: str = field(repr=False)
    """The interview, so that its words count as values."""
    result: Mapping[str, Any] = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Source:
    content: bytes
    form: str = "txt"
    options: Sequence[str] = ()
    script: Script | None = None
    settings: Mapping[str, str] = field(default_factory=dict)


def made_results(folder: Path) -> list[Given]:
    """Assess the interviews and keep the results in a folder, each under an id of its own."""
    (folder / RESULTS).mkdir()
    made = [
        _made(folder, name, source, number)
        for number, (name, source) in enumerate(_sources().items(), start=1)
    ]
    unscored = next(one for one in made if one.name == "model_scores_fail")
    number = len(made) + 1
    result = {**unscored.result, "assessment_id": _id(number), "quantitative": None}
    made.append(Given(name="unscored", text=unscored.text, result=result))
    for one in made:
        (folder / RESULTS / f"{one.name}.json").write_text(json.dumps(one.result), "utf-8")
    return made


def lasting(value: Json) -> Json:
    """Return what is made from a fixed id so that its ids, digests and fractions are compared.

    Of other texts they are masked: in capitals, or in groups of digits, they are not.
    """
    if isinstance(value, str):
        return _FRACTIONS.sub(r"\1_\2", _IDS.sub(lambda found: found[0].upper(), value))
    if isinstance(value, Mapping):
        return {key: lasting(one) for key, one in value.items()}
    if isinstance(value, Sequence):
        return [lasting(one) for one in value]
    return value


_IDS: Final = re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\b[0-9a-f]{64}\b")
_FRACTIONS: Final = re.compile(r"(?<=\b0\.)(\d{8})(\d{4,})\b")


def _sources() -> dict[str, _Source]:
    interview = (EXAMPLES / "interview.txt").read_bytes()
    short = (EXAMPLES / "short_interview.txt").read_bytes()
    few_rounds = {"FEEDBACK_MAX_ITERATIONS": "1"}
    return {
        "interview": _Source(content=interview, options=["--certificate", "certificate.json"]),
        "danger": _Source(content=DANGER.encode()),
        "denied": _Source(content=_DENIED.encode()),
        "hostile": _Source(
            content=_HOSTILE.encode(),
            options=["--participant", "+Anna <b>", "--interviewer", "=2+3"],
        ),
        "nothing_said": _Source(content=_ONE_LINE.encode()),
        "german": _Source(content=(TRANSCRIPTS / "plain_text" / "german.txt").read_bytes()),
        "teams": _Source(
            content=(TRANSCRIPTS / "webvtt" / "teams.vtt").read_bytes(),
            form="vtt",
            options=["--participant", "Tom Berger"],
        ),
        "model": _Source(content=short, options=["--ablate"], script=good_replies()),
        "model_tells_markup": _Source(content=short, script=FAULTS["escapes_and_markup"]),
        "model_invents": _Source(
            content=short, script=FAULTS["hallucinated_quotes"], settings=few_rounds
        ),
        "model_scores_fail": _Source(content=short, script=fault("status_500", tasks=["scoring"])),
        "model_words_fail": _Source(
            content=short,
            script=only_for(["qualitative"], FAULTS["context_exceeded"]),
        ),
        "model_judged_low": _Source(
            content=DANGER.encode(),
            script=only_for(["meta_review"], FAULTS["prose"], otherwise=FAULTS["judge_low"]),
            settings=few_rounds,
        ),
    }


def _made(folder: Path, name: str, source: _Source, number: int) -> Given:
    file = folder / RESULTS / f"{name}.{source.form}"
    file.write_bytes(source.content)
    arguments = ["assess", str(file), "--json", *source.options]
    if source.script is None:
        ended = run(arguments, folder, source.settings)
    else:
        with model_server(source.script) as (_, named):
            ended = run(arguments, folder, {**named, **source.settings})
    assert ended.code <= 1, (name, ended.err)
    result = json.loads(ended.out)
    result["assessment_id"] = _id(number)
    for attempt in result["attempts"]:
        attempt["duration_ms"] = 1250.0
    if name == "model":
        _show_references(result)
    return Given(name=name, text=source.content.decode(), result=result)


def _id(number: int) -> str:
    return f"0000000a-0000-4000-8000-a{number:011d}"


def _show_references(result: dict[str, Any]) -> None:
    """Say that two items were scored with examples, and another would have been."""
    result["references"] = "d" * 64
    items = iter(result["quantitative"]["items"].values())
    next(items)["references"] = [
        {"chunk": 3, "digest": "e" * 64, "score": 2, "similarity": 0.62},
        {"chunk": 11, "digest": "f" * 64, "score": 0, "similarity": None},
    ]
    next(items)["no_references"] = "below_floor"
