"""Certificates: make one of a result, and check one against the interview that it is about."""

import re
from pathlib import Path
from typing import Final

import orjson

from ai_psychiatrist.domain.assessment import Assessment, Certificate
from ai_psychiatrist.domain.errors import InputError, require
from ai_psychiatrist.domain.transcript import Transcript
from ai_psychiatrist.interface.given import (
    GivenLabels,
    GivenTranscript,
    content_of,
    forgetting_causes,
    read_given,
)
from ai_psychiatrist.proof import verify as verifier
from ai_psychiatrist.proof.certificate import certificate_of
from ai_psychiatrist.proof.signing import signer_of
from ai_psychiatrist.results.result import Result

_DIGEST: Final = re.compile(r"[0-9a-fA-F]{64}")
_OTHER_TEXT: Final = "transcript:"


class VerifiedCertificate(Result):
    """What became of a certificate."""

    holds: bool
    """Whether everything that can be derived again was derived again."""
    refusal: str | None
    """Where it does not hold."""
    notes: tuple[str, ...]
    """Who signed it, and what is still on trust; empty where it does not hold."""


def certify(
    result: Assessment,
    transcript: GivenTranscript,
    *,
    participant: GivenLabels = (),
    interviewer: GivenLabels = (),
    key_file: Path | None = None,
) -> Certificate:
    """Return the certificate of a result: places and codes, without a word of the interview.

    `transcript`, `participant`, `interviewer`: as they were given to the assessment. `key_file`:
    of the Ed25519 key that signs it, 32 bytes in hexadecimal. Raises `InputError` for another
    transcript than the result's, and `ConfigurationError` for what is no key.
    """
    with forgetting_causes():
        read = read_given(transcript, participant, interviewer)
        return certificate_of(result, read, signer=signer_of(key_file))


def verify(
    transcript: GivenTranscript,
    certificate: str | bytes | Path | Certificate,
    *,
    digest: str | None = None,
    key: str | None = None,
    participant: GivenLabels = (),
    interviewer: GivenLabels = (),
) -> VerifiedCertificate:
    """Check a certificate against its interview, given in any form that is read.

    `digest`: the SHA-256 that the result names; `key`: the Ed25519 key of who signed it; both 64
    hexadecimal digits. Without either, what cannot be derived is not authenticated. Raises
    `InputError` for what cannot be read.
    """
    for field, value in (("digest", digest), ("key", key)):
        is_digest = value is None or _DIGEST.fullmatch(value)
        require(is_digest, f"{field} has to be 64 hexadecimal digits", field=field)
    content = _content(certificate)
    _refuse_result(content)
    try:
        with forgetting_causes():
            notes = _notes(transcript, content, participant, interviewer, digest=digest, key=key)
    except verifier.Refused as refused:
        return VerifiedCertificate(holds=False, refusal=str(refused), notes=())
    return VerifiedCertificate(holds=True, refusal=None, notes=tuple(notes))


def _content(certificate: str | bytes | Path | Certificate) -> bytes:
    given = certificate.text if isinstance(certificate, Certificate) else certificate
    content = content_of(given, field="certificate")
    return content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content


def _refuse_result(content: bytes) -> None:
    """Refuse a result that is given in place of its certificate."""
    try:
        given = orjson.loads(content)
    except orjson.JSONDecodeError:
        return
    require(
        not (isinstance(given, dict) and {"assessment_id", "schema_version"} <= given.keys()),
        "the certificate is a file of its own, and this is a result: give the file that "
        "--certificate wrote, or write certificate.text of the result to one",
        field="certificate",
    )


def _notes(
    given: GivenTranscript,
    content: bytes,
    participant: GivenLabels,
    interviewer: GivenLabels,
    **vouched: str | None,
) -> list[str]:
    """Check with the text itself, or else with the one that is read from what was given."""
    if isinstance(given, Transcript):
        return verifier.verify(given.text, content, **vouched)
    plain = _plain(content_of(given))
    if plain is None:
        return verifier.verify(read_given(given, participant, interviewer).text, content, **vouched)
    try:
        return verifier.verify(plain, content, **vouched)
    except verifier.Refused as refused:
        if not str(refused).startswith(_OTHER_TEXT):
            raise
        try:
            text = read_given(given, participant, interviewer).text
        except InputError:
            raise refused from None
        return verifier.verify(text, content, **vouched)


def _plain(content: str | bytes) -> str | None:
    try:
        text = content if isinstance(content, str) else content.decode()
        text.encode()
    except UnicodeError:
        return None
    return text
