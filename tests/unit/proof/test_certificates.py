"""Certificates of all kinds of assessments hold, and hold nothing that anybody said."""

import asyncio
import hashlib
import json
import random
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from benchmarks.certificates import attack, canonical, certified_interviews, sealed
from tests.fakes.faults import FAULTS
from tests.fakes.model_server import ModelServer, Reply, Request, Script
from tests.fakes.replies import (
    ITEMS,
    evidence_text,
    good_text,
    participant_quotes,
    scoring_answer,
    scoring_text,
)
from tests.integration.running_app import model_at, settings_with

import ai_psychiatrist as ap
from ai_psychiatrist.distribution.scores import normalised, set_of, total_interval
from ai_psychiatrist.domain.belief import BeliefSource, ItemBelief
from ai_psychiatrist.proof.verify import Refused, verify

CHANGES = 600
"""A slice of the benchmark, which does 100,000."""
TEXTS: Mapping[str, str] = {
    "beyond the first plane": "Participant: \U0001f600 I sleep badly \U0001f634 every night.\n",
    "two characters end a line": "Interviewer: Sleep?\r\nParticipant: I sleep badly.\r\n",
    "a mark in front": "\ufeffParticipant: I sleep badly nearly every night.\n",
    "nobody named": "I sleep badly every night and I am tired all day.",
    "danger": "Participant: I want to kill myself. I am sad every day.\n",
    "danger that another tells of": "Patient: hm.\nMom: x\nSister: He wants to kill himself.\n",
    "not read": "Participant: Ich schlafe jede Nacht sehr schlecht und bin immer müde.\n",
    "nothing said": "Interviewer: How do you sleep?\nParticipant: hm\n",
}
REPLIES = (
    "hallucinated_quotes",
    "interviewer_quotes",
    "numbers_as_strings",
    "prose",
    "severity_nine",
)
"""Faults of models after which an assessment is whole, in part, or nothing."""
TWO_TURNS = """\
Interviewer: How are you?
Participant: I wake up at four every night.
Participant: I feel tired all the time.
"""


@pytest.fixture
def settings(tmp_path: Path) -> ap.Settings:
    return settings_with(tmp_path)


def assert_holds(text: str, result: ap.Assessment) -> str:
    certificate = result.certificate
    assert certificate is not None
    notes = verify(text, certificate.text.encode(), digest=certificate.sha256)
    assert notes[0] == "not signed"
    assert ap.verify(text, certificate, digest=certificate.sha256).holds
    return certificate.text


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_certificates_hold_for_any_text(text: str, settings: ap.Settings) -> None:
    result = ap.assess_sync(text, settings=settings, certificate=True)
    written = assert_holds(text, result)
    part = json.loads(written)["certificate"]
    assert part["transcript"]["sha256"] == hashlib.sha256(text.encode()).hexdigest()
    assert part["danger"]["level"] == result.risk.level.value
    assert result.quantitative is not None
    for name, item in result.quantitative.items.items():
        assert part["scores"]["items"][name]["score"] == item.score
        places = [one["segments"] for one in part["scores"]["items"][name]["quotes"]]
        said = [" ".join(text[at["start"] : at["end"]] for at in spans) for spans in places]
        assert said == [quote.text for quote in item.evidence]


def test_a_certificate_holds_no_word_of_the_interview(settings: ap.Settings) -> None:
    text = "Interviewer: quillaya?\nParticipant: I sleep badly every night, zarpovian moonrise.\n"
    result = ap.assess_sync(text, settings=settings, certificate=True)
    written = assert_holds(text, result)
    for word in ("quillaya", "badly", "zarpovian", "moonrise", "every night"):
        assert word not in written


def two_turns_at_once(request: Request) -> Reply:
    quote = "I wake up at four every night. I feel tired all the time."
    if request.task == "evidence":
        return Reply(text=evidence_text({key: [] for key in ITEMS} | {"PHQ8_Sleep": [quote]}))
    if request.task == "scoring":
        answer = scoring_answer([])
        answer["PHQ8_Sleep"] |= {"evidence": [quote], "score": 3}
        return Reply(text=scoring_text(answer))
    return Reply(text=good_text(request.task, participant_quotes(request.transcript)))


def assessed_by(scripts: Mapping[str, Script], tmp_path: Path, **more: str) -> None:
    async def assessed() -> None:
        async with ModelServer() as server:
            environment = model_at(server.url) | {"PYDANTIC_AI_RETRIES": "1"} | more
            environment |= {"FEEDBACK_MAX_ITERATIONS": "0", "PYDANTIC_AI_TIMEOUT_SECONDS": "1"}
            async with ap.open(settings_with(tmp_path, **environment)) as app:
                for script in scripts.values():
                    server.script = script
                    result = await app.assess(TWO_TURNS, certificate=True)
                    assert_holds(TWO_TURNS, result)

    asyncio.run(assessed())


def test_certificates_hold_whatever_models_reply(tmp_path: Path) -> None:
    scripts = {name: FAULTS[name] for name in REPLIES}
    assessed_by(scripts | {"two turns": two_turns_at_once}, tmp_path)


def test_certificates_hold_where_quotes_are_not_checked(tmp_path: Path) -> None:
    off = {"QUANTITATIVE_EVIDENCE_QUOTE_VALIDATION_ENABLED": "false"}
    assessed_by({"two turns": two_turns_at_once}, tmp_path, **off)


def test_no_change_is_accepted(tmp_path: Path) -> None:
    certified = asyncio.run(certified_interviews(tmp_path / "data", 20))
    tried, accepted = attack(certified, CHANGES)
    assert tried.total() > CHANGES * 0.95
    assert not accepted


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda content: content + b"\n", id="a line end"),
        pytest.param(lambda content: content.replace(b":", b": ", 1), id="a blank"),
        pytest.param(
            lambda content: content.replace(b'"mode":', b'"more":1,"mode":'), id="a field"
        ),
        pytest.param(
            lambda content: content.replace(b'"mode":', b'"mode":"x","mode":'), id="a key twice"
        ),
        pytest.param(
            lambda content: content.replace(b"zero_shot", b"zero_\\u0073hot"), id="escape"
        ),
        pytest.param(lambda _: b"[" * 100_000, id="nested"),
        pytest.param(lambda _: b"\xff", id="no text"),
        pytest.param(lambda _: b"", id="nothing"),
    ],
)
def test_one_form_alone_is_accepted(
    change: Callable[[bytes], bytes], settings: ap.Settings
) -> None:
    text = TEXTS["danger"]
    result = ap.assess_sync(text, settings=settings, certificate=True)
    assert result.certificate is not None
    with pytest.raises(Refused):
        verify(text, change(result.certificate.text.encode()))


def test_what_the_digest_alone_holds_needs_the_digest(settings: ap.Settings) -> None:
    text = TEXTS["danger"]
    certificate = ap.assess_sync(text, settings=settings, certificate=True).certificate
    assert certificate is not None
    parts = json.loads(certificate.text)
    parts["certificate"]["mode"] = "few_shot"
    assert not ap.verify(text, canonical(parts)).holds
    found = ap.verify(text, sealed(parts))
    assert found.holds
    assert any("not authenticated" in note for note in found.notes)
    assert not ap.verify(text, sealed(parts), digest=certificate.sha256).holds


def test_a_signature_is_checked_and_cannot_be_taken_away(tmp_path: Path) -> None:
    key_file = tmp_path / "key"
    key_file.write_text("11" * 32)
    key_file.chmod(0o600)
    text = TEXTS["danger"]
    result = ap.assess_sync(text, settings=settings_with(tmp_path / "state"))
    certificate = ap.certify(result, text, key_file=key_file)
    key = certificate.signed_by
    assert key is not None
    assert ap.verify(text, certificate, key=key).notes[0] == f"signed by {key}"
    assert not ap.verify(text, certificate, key="22" * 32).holds
    parts = json.loads(certificate.text)
    assert not ap.verify(text, canonical(parts | {"signature": None})).holds
    assert not ap.verify(text, canonical(parts | {"signature": "ab" * 64})).holds
    parts["certificate"]["mode"] = "few_shot"
    assert not ap.verify(text, sealed(parts), key=key).holds


@pytest.mark.parametrize(
    ("content", "mode", "told"),
    [
        ("11" * 32, 0o644, "used by others"),
        ("11" * 31, 0o600, "holds no key"),
        ("not a key", 0o600, "holds no key"),
        ("00" * 32, 0o600, "holds no key"),
    ],
)
def test_a_key_has_to_be_one_and_private(
    content: str, mode: int, told: str, tmp_path: Path, settings: ap.Settings
) -> None:
    key_file = tmp_path / "key"
    key_file.write_text(content)
    key_file.chmod(mode)
    result = ap.assess_sync(TEXTS["danger"], settings=settings)
    with pytest.raises(ap.ConfigurationError, match=told):
        ap.certify(result, TEXTS["danger"], key_file=key_file)


def test_a_result_is_not_certified_with_another_transcript(settings: ap.Settings) -> None:
    result = ap.assess_sync(TWO_TURNS, settings=settings)
    with pytest.raises(ap.InputError, match="does not follow"):
        ap.certify(result, TEXTS["nothing said"])


def test_a_file_in_another_form_is_read_before_it_is_compared(settings: ap.Settings) -> None:
    vtt = b"WEBVTT\n\n00:01.000 --> 00:04.000\nAnna: I sleep badly, most nights.\n"
    result = ap.assess_sync(vtt, settings=settings, participant="Anna", certificate=True)
    assert result.transcript_text is not None
    assert result.certificate is not None
    assert ap.verify(vtt, result.certificate, participant="Anna").holds
    assert ap.verify(result.transcript_text, result.certificate).holds
    other = vtt.replace(b"badly", b"badlx")
    assert not ap.verify(other, result.certificate, participant="Anna").holds


def holds_between(parts: dict[str, Any], low: int, high: int) -> bool:
    """Leave the interval as it is where the certificate holds with it."""
    parts["certificate"]["scores"]["total"]["interval"] |= {"low": low, "high": high}
    return ap.verify(TWO_TURNS, sealed(parts)).holds


def test_belief_and_its_interval_have_to_agree(settings: ap.Settings) -> None:
    certificate = ap.assess_sync(TWO_TURNS, settings=settings, certificate=True).certificate
    assert certificate is not None
    parts = json.loads(certificate.text)
    belief = parts["certificate"]["scores"]["items"]["PHQ8_Sleep"]["belief"]
    certain = {"scores": ["0.0", "0.0", "0.0", "1.0"], "not_determinable": "0.0"}
    belief |= certain | {"set": {"low": 3, "high": 3, "not_determinable": False, "level": "0.9"}}
    interval = parts["certificate"]["scores"]["total"]["interval"]
    interval["low"] = interval["high"]
    assert not ap.verify(TWO_TURNS, sealed(parts)).holds
    parts["certificate"]["scores"]["total"]["interval"] = None
    assert ap.verify(TWO_TURNS, sealed(parts)).refusal == "total.interval"
    parts["certificate"]["scores"]["total"]["interval"] = interval
    ends = [(low, high) for low in range(25) for high in range(low, 25)]
    assert any(holds_between(parts, *one) for one in ends)
    belief["set"]["low"] = belief["set"]["high"] = 2
    refused = ap.verify(TWO_TURNS, sealed(parts))
    assert refused.refusal == "belief.set"


def test_certificates_hold_with_the_sets_of_a_fit(settings: ap.Settings) -> None:
    result = ap.assess_sync(TWO_TURNS, settings=settings)
    assert result.quantitative is not None
    chance = random.Random(0)  # noqa: S311
    items, beliefs = {}, []
    for name, item in result.quantitative.items.items():
        *shares, unknown = normalised([chance.random() for _ in range(5)])
        first, second, third, fourth = shares
        belief = ItemBelief(
            scores=(first, second, third, fourth),
            not_determinable=unknown,
            sources=(BeliefSource.RULES,),
            calibrated=True,
        )
        score_set = set_of(belief, normalised(shares), limit=0.8, level=0.9)
        beliefs.append(replace(belief, set=score_set))
        items[name] = replace(item, belief=beliefs[-1])
    interval = total_interval(beliefs, 0.9)
    part = replace(result.quantitative, items=items, total_interval=interval)
    certificate = ap.certify(replace(result, quantitative=part), TWO_TURNS)
    assert ap.verify(TWO_TURNS, certificate, digest=certificate.sha256).holds


def certified_parts(text: str, settings: ap.Settings) -> dict[str, Any]:
    certificate = ap.assess_sync(text, settings=settings, certificate=True).certificate
    assert certificate is not None
    parts: dict[str, Any] = json.loads(certificate.text)
    return parts


def words_digest(text: str, spans: list[dict[str, int]]) -> str:
    words = " ".join(f"{one['turn']} {text[one['start'] : one['end']]}" for one in spans)
    key = hashlib.sha256(b"words of\0" + text.encode()).digest()
    return hashlib.blake2b(words.encode(), digest_size=32, key=key).hexdigest()


DANGER_LAST = "Interviewer: Well?\nParticipant: I am sad every day.\nParticipant: I want to die"


@pytest.mark.parametrize(
    "moved",
    [
        pytest.param(lambda at: [at | {"end": at["end"] + 1}], id="beyond the text"),
        pytest.param(lambda at: [at | {"start": 900, "end": 950}], id="outside of the text"),
        pytest.param(lambda at: [at | {"start": at["end"], "end": at["start"]}], id="backwards"),
        pytest.param(lambda at: [at | {"end": at["start"]}], id="empty"),
        pytest.param(lambda at: [at | {"start": 0, "end": 12}], id="in another turn"),
        pytest.param(lambda at: [at | {"turn": 0}], id="of another turn"),
        pytest.param(lambda at: [at | {"turn": 7}], id="of a turn that follows"),
        pytest.param(lambda _: [], id="nowhere"),
        pytest.param(lambda at: [at, at], id="twice"),
    ],
)
def test_a_sign_of_danger_is_where_its_turn_is(
    moved: Callable[[dict[str, int]], list[dict[str, int]]], settings: ap.Settings
) -> None:
    parts = certified_parts(DANGER_LAST, settings)
    (sign,) = parts["certificate"]["danger"]["signals"]
    (place,) = sign["segments"]
    assert place["end"] == len(DANGER_LAST)
    sign["segments"] = moved(place)
    sign["words"] = words_digest(DANGER_LAST, sign["segments"])
    assert not ap.verify(DANGER_LAST, sealed(parts)).holds


def test_signs_of_danger_are_counted(settings: ap.Settings) -> None:
    parts = certified_parts(DANGER_LAST, settings)
    danger = parts["certificate"]["danger"]
    danger["signal_count"] += 1
    assert ap.verify(DANGER_LAST, sealed(parts)).refusal == "danger: the number of signs"
    danger |= {"signals": [], "signal_count": 0, "level": "none"}
    held = ap.verify(DANGER_LAST, sealed(parts))
    assert any("danger" in note for note in held.notes)


def test_more_signs_of_danger_than_results_list_hold(settings: ap.Settings) -> None:
    text = "Participant: I want to die.\nParticipant: I will kill myself tonight.\n" * 120
    parts = certified_parts(text, settings)
    danger = parts["certificate"]["danger"]
    assert danger["signal_count"] > len(danger["signals"]) == 200


def test_a_digest_that_is_empty_is_not_left_out(settings: ap.Settings) -> None:
    text = TEXTS["danger"]
    certificate = ap.assess_sync(text, settings=settings, certificate=True).certificate
    assert certificate is not None
    for vouched in ({"digest": ""}, {"key": ""}):
        with pytest.raises(ap.InputError, match="64 hexadecimal digits"):
            ap.verify(text, certificate, **vouched)
        with pytest.raises(Refused):
            verify(text, certificate.text.encode(), **vouched)


def test_names_of_models_add_no_lines(settings: ap.Settings) -> None:
    parts = certified_parts(TEXTS["danger"], settings)
    before = ap.verify(TEXTS["danger"], sealed(parts)).notes
    parts["certificate"]["models"] = {
        "judge": ["x\u2028signed by\x9b1m\x85\u202e\u00e9" + "y" * 900]
    }
    notes = ap.verify(TEXTS["danger"], sealed(parts)).notes
    assert len(notes) == len(before)
    assert "".join(notes).isascii()
    assert max(map(len, notes)) < 400


def test_certificates_with_very_many_quotes_do_not_stop_the_verifier(
    settings: ap.Settings,
) -> None:
    text = "Participant: I sleep badly nearly every night. " + "hm " * 2_000
    parts = certified_parts(text, settings)
    item = parts["certificate"]["scores"]["items"]["PHQ8_Sleep"]
    (turn,) = parts["certificate"]["transcript"]["turns"]
    (quote,) = item["quotes"]
    item["quotes"] = [quote | {"segments": [turn] * 20_000}]
    assert "too many words" in str(ap.verify(text, sealed(parts)).refusal)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "windows-1252"])
def test_a_file_that_is_no_plain_text_leaves_its_text(encoding: str, settings: ap.Settings) -> None:
    sent = "Interviewer: Café?\nParticipant: I sleep badly at the café.\n".encode(encoding)
    result = ap.assess_sync(sent, settings=settings, certificate=True)
    assert result.transcript_text is not None
    assert_holds(result.transcript_text, result)
    assert ap.verify(sent, result.certificate).holds  # type: ignore[arg-type]
