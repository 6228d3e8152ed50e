"""How a result came about: who answered, how many quotes held, and its certificate."""

from typing import ClassVar

from ai_psychiatrist.domain.evidence import Grounding
from ai_psychiatrist.results.frozen_table import FrozenTable
from ai_psychiatrist.results.result import Result


class AgentModels(Result):
    """Which models an agent may ask, and which answered."""

    chain: tuple[str, ...]
    """The models that may be asked, in the order in which they are."""
    answered_by: tuple[str, ...]
    """Those of them whose answer was accepted."""
    rule_baseline: bool
    """True when an answer came from the rule baseline."""


class GroundingResult(Result):
    """How many quotes of the evidence stage were the participant's words."""

    grounding: Grounding
    """Whether quotes were checked."""
    extracted_count: int
    """How many the model gave."""
    validated_count: int
    """How many are the participant's words."""
    rejected_count: int
    """How many are not."""
    rejected_by_domain: FrozenTable[str, int]
    """Item → how many of its quotes were refused."""
    unknown_keys: int
    """How many keys of the reply name no item."""


class CertificateResult(Result):
    """What a result says in places and codes, without words, for others to derive it again."""

    sha256: str
    """Digest of what the certificate says; whoever checks it has to know it, or the key."""
    signed_by: str | None
    """Ed25519 public key in hexadecimal; null where no key is set."""
    text: str
    """The certificate itself, in canonical JSON: to be kept as it is, byte for byte."""

    shown_texts: ClassVar[frozenset[str]] = frozenset({"sha256", "signed_by"})
