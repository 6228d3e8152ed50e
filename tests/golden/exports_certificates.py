"""Certificates: what they hold, and what `verify` says of good, changed and broken ones."""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import ai_psychiatrist
from tests.fakes.replies import good_replies
from tests.golden.answer import Answer, Json, folder_masks
from tests.golden.exports_given import DANGER, lasting
from tests.golden.ways import EXAMPLES, TRANSCRIPTS, model_server, run, scratch

_KEY: Final = "5a" * 32
_OTHER_KEY: Final = "6b" * 32
_PLAIN: Final = ("verify", "danger.txt", "changed.json")
_Table = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Made:
    """A certificate with its interview, and the result that names it."""

    text: str = field(repr=False)
    content: bytes = field(repr=False)
    result: bytes = field(repr=False)

    @property
    def digest(self) -> str:
        digest: str = json.loads(self.content)["sha256"]
        return digest


def answers() -> Iterator[Answer]:
    """Yield certificates, and what becomes of them."""
    with scratch() as folder:
        (folder / "signer.key").write_text(f"{_KEY}\n", "utf-8")
        (folder / "other.key").write_text(f"{_OTHER_KEY}\n", "utf-8")
        (folder / "signer.key").chmod(0o600)
        (folder / "other.key").chmod(0o600)
        (folder / "danger.txt").write_text(DANGER, "utf-8")
        good = _made(folder, "danger.txt")
        signed = _made(folder, "danger.txt", {"CERTIFICATE_KEY_FILE": "signer.key"})
        by_other = _made(folder, "danger.txt", {"CERTIFICATE_KEY_FILE": "other.key"})
        for name, one in {"plain": good, "signed": signed}.items():
            yield _answer(f"certificates/{name}", _shown(one.content), folder)
        yield from _of_a_model(folder)
        yield from _good(folder, good, signed)
        yield from _changed(folder, good)
        yield from _broken(folder, good, signed, by_other)
        yield from _refused(folder)
        yield from _in_python(folder, good)


def _answer(name: str, value: Json, folder: Path) -> Answer:
    masks = folder_masks(folder) | {ai_psychiatrist.__version__: "<version>"}
    return Answer(name=name, value=value, masks=masks)


def _shown(content: bytes) -> Json:
    """Return a certificate; what it says of the text, and who signed it, with its digests."""
    parts = json.loads(content)
    fields = parts["certificate"]
    for name in ("transcript", "scores", "danger", "signed_by"):
        fields[name] = lasting(fields[name])
    shown: Json = parts
    return shown


def _made(folder: Path, source: str, settings: Mapping[str, str] | None = None) -> _Made:
    arguments = ["assess", source, "--json", "--certificate", "certificate.json"]
    ended = run(arguments, folder, settings)
    assert ended.code <= 1, ended.err
    return _Made(
        text=(folder / source).read_text("utf-8"),
        content=(folder / "certificate.json").read_bytes(),
        result=ended.out.encode(),
    )


def _of_a_model(folder: Path) -> Iterator[Answer]:
    """Yield the certificate of what a model answered."""
    text = (EXAMPLES / "short_interview.txt").read_text("utf-8")
    (folder / "short.txt").write_text(text, "utf-8")
    with model_server(good_replies()) as (_, named):
        made = _made(folder, "short.txt", named)
    (folder / "changed.json").write_bytes(made.content)
    ended = run(["verify", "short.txt", "changed.json", "--digest", made.digest], folder)
    value: Json = {"file": _shown(made.content), "ended": ended.value}
    yield _answer("certificates/of_a_model", value, folder)


def _good(folder: Path, good: _Made, signed: _Made) -> Iterator[Answer]:
    (folder / "good.json").write_bytes(good.content)
    (folder / "signed.json").write_bytes(signed.content)
    signer = json.loads(signed.content)["certificate"]["signed_by"]
    (folder / "crlf.txt").write_bytes(good.text.replace("\n", "\r\n").encode())
    (folder / "bom.txt").write_bytes(good.text.encode("utf-8-sig"))
    (folder / "utf16.txt").write_bytes(good.text.encode("utf-16"))
    (folder / "longer.txt").write_text(f"{good.text}\n", "utf-8")
    (folder / "other.txt").write_text(good.text.replace("tonight", "one day"), "utf-8")
    (folder / "empty.txt").write_bytes(b"")
    for name, options in {
        "plain": ("danger.txt", "good.json"),
        "with_digest": ("danger.txt", "good.json", "--digest", good.digest),
        "with_digest_in_capitals": ("danger.txt", "good.json", "--digest", good.digest.upper()),
        "with_another_digest": ("danger.txt", "good.json", "--digest", "0" * 64),
        "with_a_key_but_not_signed": ("danger.txt", "good.json", "--key", signer),
        "signed": ("danger.txt", "signed.json"),
        "signed_with_key": ("danger.txt", "signed.json", "--key", signer),
        "signed_with_both": (
            "danger.txt",
            "signed.json",
            "--key",
            signer,
            "--digest",
            signed.digest,
        ),
        "signed_with_another_key": ("danger.txt", "signed.json", "--key", "1" * 64),
        "text_with_other_line_ends": ("crlf.txt", "good.json"),
        "text_with_byte_order_mark": ("bom.txt", "good.json"),
        "text_in_utf16": ("utf16.txt", "good.json"),
        "text_with_a_line_more": ("longer.txt", "good.json"),
        "another_text": ("other.txt", "good.json"),
        "empty_text": ("empty.txt", "good.json"),
        "with_needless_speaker": ("danger.txt", "good.json", "--participant", "Participant"),
    }.items():
        yield _answer(f"verified/{name}", run(["verify", *options], folder).value, folder)
    teams = TRANSCRIPTS / "webvtt" / "teams.vtt"
    proof = folder / "teams.json"
    speakers = ("--participant", "Tom Berger")
    run(["assess", teams, *speakers, "--certificate", proof], folder)
    for name, options in {
        "named": speakers,
        "unnamed": (),
        "unknown": ("--participant", "X"),
    }.items():
        ended = run(["verify", teams, proof, *options], folder)
        yield _answer(f"verified/subtitles_{name}", ended.value, folder)


def _changed(folder: Path, good: _Made) -> Iterator[Answer]:
    """Yield refusals of changes that somebody made with care: digest and form are right."""
    for name, change in _CHANGES.items():
        fields: _Table = json.loads(good.content)["certificate"]
        change(fields)
        (folder / "changed.json").write_bytes(_canonical(fields))
        yield _answer(f"verify_changed/{name}", run(_PLAIN, folder).value, folder)


def _canonical(fields: _Table) -> bytes:
    inner = json.dumps(fields, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    digest = hashlib.sha256(inner.encode()).hexdigest()
    return f'{{"certificate":{inner},"sha256":"{digest}","signature":null}}'.encode()


def _broken(folder: Path, good: _Made, signed: _Made, by_other: _Made) -> Iterator[Answer]:
    """Yield refusals of files that are no certificates, or no longer whole."""
    parts = json.loads(signed.content)
    others = json.loads(by_other.content)
    contents: dict[str, bytes] = {
        "empty": b"",
        "cut_off": good.content[:700],
        "line_more": good.content + b"\n",
        "with_blanks": json.dumps(json.loads(good.content), sort_keys=True).encode(),
        "keys_in_another_order": json.dumps(
            dict(reversed(json.loads(good.content).items())), separators=(",", ":")
        ).encode(),
        "not_utf8": b"\xff" + good.content,
        "no_json": b"It holds.",
        "a_list": b"[]",
        "the_result": good.result,
        "only_the_inside": json.dumps(parts["certificate"]).encode(),
        "digest_not_made_anew": good.content.replace(b'"level":"high"', b'"level":"none"'),
        "score_without_digest": good.content.replace(b'"score":3', b'"score":1'),
        "digest_of_another": good.content.replace(good.digest.encode(), b"0" * 64),
        "without_signature": _written(parts | {"signature": None}),
        "signature_of_another": _written(parts | {"signature": others["signature"]}),
        "signature_turned": _written(parts | {"signature": parts["signature"][::-1]}),
        "signature_too_short": _written(parts | {"signature": parts["signature"][:64]}),
        "signature_on_unsigned": good.content.replace(
            b'"signature":null', f'"signature":"{parts["signature"]}"'.encode()
        ),
        "field_twice": good.content.replace(b'"mode":', b'"mode":"few_shot","mode":'),
        "deep": b"[" * 100_000,
    }
    for name, content in contents.items():
        (folder / "changed.json").write_bytes(content)
        yield _answer(f"verify_broken/{name}", run(_PLAIN, folder).value, folder)


def _written(parts: Mapping[str, object]) -> bytes:
    return json.dumps(parts, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def _refused(folder: Path) -> Iterator[Answer]:
    """Yield calls that check nothing, and certificates that cannot be made."""
    pair = ("danger.txt", "good.json")
    for name, options in {
        "no_transcript": ("none.txt", "good.json"),
        "no_certificate": ("danger.txt", "none.json"),
        "folder_as_transcript": (".", "good.json"),
        "folder_as_certificate": ("danger.txt", "."),
        "in_the_wrong_order": ("good.json", "danger.txt"),
        "digest_too_short": (*pair, "--digest", "abc"),
        "digest_of_other_signs": (*pair, "--digest", "z" * 64),
        "key_too_short": (*pair, "--key", "abc"),
        "same_label_twice": (*pair, "--participant", "Anna", "--interviewer", "Anna"),
    }.items():
        yield _answer(f"verify_refused/{name}", run(["verify", *options], folder).value, folder)
    keys = {"short": ("5a5a", 0o600), "words": ("no digits", 0o600), "shared": (_KEY, 0o644)}
    for name, (text, mode) in keys.items():
        (folder / f"{name}.key").write_text(text, "utf-8")
        (folder / f"{name}.key").chmod(mode)
    for name, file in {
        "no_key_file": "none.key",
        "short_key": "short.key",
        "words_for_a_key": "words.key",
        "key_that_others_read": "shared.key",
    }.items():
        arguments = ["assess", "danger.txt", "--certificate", "never.json"]
        ended = run(arguments, folder, {"CERTIFICATE_KEY_FILE": file})
        value: Json = {
            "exit": ended.code,
            "err": [line for line in ended.err.splitlines() if "sha256" not in line],
            "written": (folder / "never.json").exists(),
        }
        (folder / "never.json").unlink(missing_ok=True)
        yield _answer(f"certificate_refused/{name}", value, folder)


def _in_python(folder: Path, good: _Made) -> Iterator[Answer]:
    """Yield what the Python interface says of the same."""
    result = ai_psychiatrist.Assessment.model_validate_json(good.result)
    value: dict[str, Json] = {}
    for name, text in {"same": good.text, "other": "Participant: Hello.\n"}.items():
        try:
            value[f"certify_{name}"] = ai_psychiatrist.certify(result, text).text == (
                good.content.decode()
            )
        except ai_psychiatrist.InputError as error:
            value[f"certify_{name}"] = [type(error).__name__, str(error), error.field]
        found = ai_psychiatrist.verify(text, good.content, digest=good.digest)
        value[f"verify_{name}"] = found.model_dump(mode="json")
    yield _answer("verified/in_python", value, folder)


def _mood(fields: _Table) -> _Table:
    item: _Table = fields["scores"]["items"]["PHQ8_Depressed"]
    return item


def _quote(fields: _Table) -> _Table:
    quote: _Table = _mood(fields)["quotes"][0]
    return quote


def _sign(fields: _Table) -> _Table:
    sign: _Table = fields["danger"]["signals"][0]
    return sign


def _segment(fields: _Table) -> _Table:
    segment: _Table = _quote(fields)["segments"][0]
    return segment


_Change = Callable[[_Table], object]
_CHANGES: Final[dict[str, _Change]] = {
    "nothing": lambda _: None,
    "version": lambda one: one.update(version=2),
    "program": lambda one: one.update(program="9.9.9"),
    "result_schema": lambda one: one.update(result_schema="5"),
    "rules": lambda one: one.update(rules="0" * 64),
    "status": lambda one: one.update(status="failed"),
    "unknown_status": lambda one: one.update(status="fine"),
    "mode": lambda one: one.update(mode="few_shot"),
    "model": lambda one: one["models"].update(quantitative=["ollama:gemma3\n"]),
    "assessment_id": lambda one: one.update(assessment_id="another"),
    "unknown_field": lambda one: one.update(mood="fine"),
    "field_missing": lambda one: one.pop("danger"),
    "score_lowered": lambda one: _mood(one).update(score=1),
    "score_and_reply": lambda one: (
        _mood(one).update(score=1),
        _mood(one)["reply"].update(score=1),
    ),
    "score_out_of_range": lambda one: _mood(one).update(score=4),
    "score_taken_away": lambda one: _mood(one).update(score=None),
    "score_given": lambda one: one["scores"]["items"]["PHQ8_Sleep"].update(score=2),
    "reply_taken_away": lambda one: _mood(one).update(reply=None),
    "allowed": lambda one: _mood(one).update(allowed=[]),
    "rules_of_item": lambda one: _mood(one).update(rules=["quote_shared"]),
    "belief_too_much": lambda one: _mood(one)["belief"].update(not_determinable="0.9"),
    "belief_taken_away": lambda one: _mood(one).update(belief=None),
    "item_taken_away": lambda one: one["scores"]["items"].pop("PHQ8_Moving"),
    "accepted": lambda one: one["scores"].update(accepted=False),
    "quotes_not_checked": lambda one: one["scores"].update(quotes_checked=False),
    "total_raised": lambda one: one["scores"]["total"].update(minimum=9),
    "total_made_exact": lambda one: one["scores"]["total"].update(exact=6, severity=1),
    "interval_narrowed": lambda one: one["scores"]["total"]["interval"].update(low=10, high=11),
    "interval_taken_away": lambda one: one["scores"]["total"].update(interval=None),
    "scores_taken_away": lambda one: one.update(scores=None),
    "quote_dropped": lambda one: _mood(one)["quotes"].pop(),
    "quotes_dropped": lambda one: _mood(one).update(quotes=[]),
    "quote_twice": lambda one: _mood(one)["quotes"].append(_quote(one)),
    "quote_from_elsewhere": lambda one: _mood(one).update(
        quotes=one["scores"]["items"]["PHQ8_Failure"]["quotes"]
    ),
    "offset_moved": lambda one: _segment(one).update(start=_segment(one)["start"] + 1),
    "end_before_start": lambda one: _segment(one).update(end=_segment(one)["start"] - 1),
    "end_outside_of_turn": lambda one: _segment(one).update(end=_segment(one)["end"] + 400),
    "another_turn": lambda one: _segment(one).update(turn=_segment(one)["turn"] - 2),
    "turn_of_interviewer": lambda one: _segment(one).update(turn=_segment(one)["turn"] - 1),
    "words_of_another_quote": lambda one: _quote(one).update(words=_sign(one)["words"]),
    "quote_denied": lambda one: _quote(one).update(polarity="denied"),
    "quote_of_the_past": lambda one: _quote(one).update(timeframe="past"),
    "quote_about_another": lambda one: _quote(one).update(relevance="other_person"),
    "sign_dropped": lambda one: one["danger"]["signals"].pop(0),
    "sign_dropped_and_counted": lambda one: (
        one["danger"]["signals"].pop(0),
        one["danger"].update(signal_count=one["danger"]["signal_count"] - 1),
    ),
    "sign_lowered": lambda one: _sign(one).update(level="low"),
    "sign_moved": lambda one: _sign(one)["segments"][0].update(start=0, end=5),
    "danger_lowered": lambda one: one["danger"].update(level="none"),
    "danger_unexamined": lambda one: one["danger"].update(turns_not_examined=3),
    "participant_turn_dropped": lambda one: one["transcript"]["turns"].pop(),
    "turn_of_another_speaker": lambda one: one["transcript"]["turns"][0].update(turn=0),
    "transcript_digest": lambda one: one["transcript"].update(sha256="0" * 64),
    "speakers_assumed": lambda one: one["transcript"].update(speakers_assumed=True),
    "signer_named": lambda one: one.update(signed_by="1" * 64),
}
