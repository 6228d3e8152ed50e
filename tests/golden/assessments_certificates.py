"""Certificates: what is in them, and which `verify` takes and refuses."""

import copy
import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from tests.golden.answer import Answer, Json, folder_masks, text_answer
from tests.golden.ways import EXAMPLES, TRANSCRIPTS, run, scratch

_KEY: Final = "0123456789abcdef" * 4
"""Of signatures; it is nobody's."""
_INTERVIEWS: Final[Mapping[str, tuple[Path, Sequence[str]]]] = {
    "text": (EXAMPLES / "short_interview.txt", []),
    "zoom": (TRANSCRIPTS / "webvtt" / "zoom.vtt", ["--participant", "Anna Schmidt"]),
    "table": (TRANSCRIPTS / "table" / "comma.csv", ["--participant", "Jonas"]),
}
_Parts = dict[str, Any]
_Arguments = Sequence[str | Path]


def certificate_answers() -> Iterator[Answer]:
    """Yield certificates and what `verify` says of them, whole, forged and of others."""
    with scratch() as folder:
        key = folder / "key"
        key.write_text(_KEY, encoding="utf-8")
        key.chmod(0o600)
        for name, (interview, speakers) in _INTERVIEWS.items():
            for signing in ({}, {"CERTIFICATE_KEY_FILE": str(key)}):
                case = f"certificate/{name}{'_signed' if signing else ''}"
                place = folder / case
                place.mkdir(parents=True)
                wanted: _Arguments = ["--certificate", place / "made.json", *speakers]
                ended = run(["assess", interview, *wanted], folder, signing)
                made = json.loads((place / "made.json").read_text(encoding="utf-8"))
                value = {"exit": ended.code, "err": text_answer(ended.err), "made": made}
                yield _answer(case, value, folder)
                for what, arguments in _checks(interview, speakers, place, made):
                    yield _answer(
                        f"{case}/{what}", run(["verify", *arguments], folder).value, folder
                    )


def _checks(
    interview: Path, speakers: Sequence[str], place: Path, made: _Parts
) -> Iterator[tuple[str, _Arguments]]:
    """Yield names and arguments of `verify`, good and bad."""
    file, digest = place / "made.json", str(made["sha256"])
    signer = str(made["certificate"]["signed_by"] or "ab" * 32)
    yield "holds", [interview, file, *speakers]
    yield "digest", [interview, file, "--digest", digest, *speakers]
    yield "digest_in_capitals", [interview, file, "--digest", digest.upper(), *speakers]
    yield "other_digest", [interview, file, "--digest", "ab" * 32, *speakers]
    yield "key", [interview, file, "--key", signer, *speakers]
    yield "other_key", [interview, file, "--key", "cd" * 32, *speakers]
    for name, content in _forged(made).items():
        changed = place / f"{name}.json"
        changed.write_bytes(content)
        yield name, [interview, changed, *speakers]
    if speakers:
        yield "speakers_not_named", [interview, file]
        yield "others_named", [interview, file, "--participant", "*"]
        return
    yield "no_digest", [interview, file, "--digest", "abc"]
    yield "no_key", [interview, file, "--key", "abc"]
    yield "other_interview", [EXAMPLES / "interview.txt", file]
    yield "certificate_is_missing", [interview, "nowhere.json"]
    yield "interview_is_missing", ["nowhere.txt", file]
    yield "turned_round", [file, interview]
    yield "certificate_missing_in_arguments", [interview]
    result = {"assessment_id": "x", "schema_version": "4", "certificate": None}
    (place / "result.json").write_text(json.dumps(result), encoding="utf-8")
    yield "result_in_its_place", [interview, place / "result.json"]
    (place / "letter.txt").write_bytes(interview.read_bytes().replace(b"rough", b"roughs"))
    yield "other_letter", [place / "letter.txt", file]


def _forged(made: _Parts) -> dict[str, bytes]:
    """Return certificates that say something else; all but the first ones with a fitting digest."""
    whole = _canonical(made)
    forged = {
        "empty": b"",
        "cut_off": whole[:-100],
        "not_canonical": json.dumps(made, indent=1).encode(),
        "digest_left_as_it_was": _canonical(_changed(made, _other_score)),
    }
    changes: Mapping[str, Callable[[_Parts], None]] = {
        "other_score": _other_score,
        "other_total": lambda body: body["scores"]["total"].update(minimum=24),
        "other_belief": lambda body: _item(body)["belief"].update(not_determinable="0.5"),
        "other_danger": lambda body: body["danger"].update(level="high"),
        "sign_left_out": lambda body: body["danger"].update(signal_count=3),
        "other_polarity": lambda body: _quote(body).update(polarity="unclear"),
        "other_place": lambda body: _quote(body)["segments"][0].update(start=1, end=9),
        "quote_twice": lambda body: _item(body)["quotes"].append(_quote(body)),
        "field_left_out": lambda body: body.pop("mode"),
        "field_added": lambda body: body.update(remark="none"),
        "other_status": lambda body: body.update(status="failed"),
        "other_transcript": lambda body: body["transcript"].update(sha256="ab" * 32),
        "signed_by_nobody": lambda body: body.update(signed_by="ab" * 32),
    }
    for name, change in changes.items():
        parts = _changed(made, change)
        parts["sha256"] = hashlib.sha256(_canonical(parts["certificate"])).hexdigest()
        forged[name] = _canonical(parts)
    return forged


def _changed(made: _Parts, change: Callable[[_Parts], None]) -> _Parts:
    parts = copy.deepcopy(made)
    change(parts["certificate"])
    return parts


def _item(body: _Parts) -> _Parts:
    """Return the first item that has a quote."""
    items = body["scores"]["items"].values()
    found: _Parts = next(item for item in items if item["quotes"])
    return found


def _quote(body: _Parts) -> _Parts:
    quote: _Parts = _item(body)["quotes"][0]
    return quote


def _other_score(body: _Parts) -> None:
    item = _item(body)
    item["score"] = (item["score"] or 0) ^ 1


def _canonical(parts: object) -> bytes:
    return json.dumps(parts, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def _answer(name: str, value: Json, folder: Path) -> Answer:
    return Answer(name=name, value=value, masks=folder_masks(folder, TRANSCRIPTS, EXAMPLES))
