"""Which settings and references decide on a result, as a run records them."""

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Final

from ai_psychiatrist.agents.contracts.contract import shipped_contract
from ai_psychiatrist.agents.prompts.tasks import PART_DIGESTS, Tasks
from ai_psychiatrist.config import Settings
from ai_psychiatrist.distribution.settings import BeliefSettings
from ai_psychiatrist.domain.assessment import ScoringOptions
from ai_psychiatrist.evaluation.runs.provenance import provenance
from ai_psychiatrist.infrastructure.digests import plain_digest
from ai_psychiatrist.llm.local_only import embedder_address
from ai_psychiatrist.llm.reasons import shown_address
from ai_psychiatrist.proof.rule_set import rule_set_digest
from ai_psychiatrist.wiring import Services

_SECRET: Final = re.compile(
    r"key|token|secret|passw|credential|auth|cookie|signature|bearer", re.IGNORECASE
)


def deciding_settings(settings: Settings) -> dict[str, object]:
    """Return the settings that decide on a result; none of them is a secret."""
    is_in_parts = settings.assess.most_characters is not None
    return {
        "max_calls": settings.model.max_calls,
        "max_reply_bytes": settings.model.max_reply_bytes,
        "pydantic_ai": settings.pydantic_ai.model_dump(mode="json"),
        "quantitative": settings.quantitative.model_dump(mode="json"),
        "qualitative": settings.qualitative.model_dump(mode="json"),
        "feedback": settings.feedback.model_dump(mode="json"),
        # As it always was where it is left as it is, so that earlier runs can be gone on with.
        **({"judge": settings.judge.model_dump()} if settings.judge.is_together else {}),
        **({"assess": settings.assess.model_dump() | PART_DIGESTS} if is_in_parts else {}),
        "belief": _believing(settings.belief),
        "transcript": settings.transcript.model_dump(mode="json"),
    }


async def made_with(services: Services, scoring: ScoringOptions, tasks: Tasks) -> dict[str, object]:
    """Return what decides on the results of a run, whatever its dataset, as its record says it."""
    record = provenance(
        mode=scoring.mode,
        references=references_record(services, scoring),
        ablates=scoring.ablates,
        models=services.agent_models,
        tasks=tasks,
        contracts={"pipeline": shipped_contract().digest, "rules": rule_set_digest()},
        settings=deciding_settings(services.settings),
    )
    addresses = model_addresses(services, scoring)
    weights = await services.connections.weights(addresses)
    return {
        **record,
        "calls": call_settings(services.settings),
        "addresses": addresses,
        **({"weights": weights} if weights else {}),
        "reader": services.assessor.second_voice.state().name,
    }


def call_settings(settings: Settings) -> dict[str, object]:
    """Return what every model call is sent with, each named as its environment variable."""
    model = settings.model
    return {
        "model_temperature": model.temperature,
        "model_max_output_tokens": model.max_output_tokens,
        "model_output_mode": model.output_mode,
        "model_thinking": {name: how for name, how in model.thinking.items() if how},
        "model_extra_body": {name: _recorded(body) for name, body in model.extra_body.items()},
        "ollama_num_ctx": settings.ollama.num_ctx,
    }


def _recorded(body: Mapping[str, object]) -> object:
    """Return fields of requests, or their digest where they look as if they held a secret."""
    text = json.dumps(body, sort_keys=True)
    if _SECRET.search(text) is None:
        return body
    # Slow, because a record is shared, and a password is soon guessed from a quick digest.
    digest = hashlib.scrypt(text.encode(), salt=b"extra_body", n=1 << 14, r=8, p=1, dklen=16)
    return f"scrypt:{digest.hex()}"


def model_addresses(services: Services, scoring: ScoringOptions) -> dict[str, list[str]]:
    """Return model or embedder → where it is served, without credentials; not those in here."""
    settings, addresses = services.settings, dict(services.addresses)
    if scoring.mode.shows_references:
        name = settings.references.embedder
        addresses[name] = embedder_address(name, ollama=settings.ollama, openai=settings.openai)
    known = {name: address for name, address in addresses.items() if address is not None}
    return {name: [shown_address(address)] for name, address in known.items()}


def _believing(settings: BeliefSettings) -> dict[str, object]:
    """Return what decides on beliefs; the fit by its digest."""
    fit = None if settings.fit is None else plain_digest(settings.fit.read_text("utf-8"))
    kept = {"sources", "level", "rescorings", "temperature", "seed"}
    return {**settings.model_dump(mode="json", include=kept), "fit": fit}


def references_record(services: Services, scoring: ScoringOptions) -> dict[str, object] | None:
    """Return which references are shown and how they are chosen; `None` where none are."""
    if not scoring.mode.shows_references or services.references is None:
        return None
    settings = services.settings.references.model_dump(mode="json", exclude={"dir"})
    return {"digest": services.references.digest, **settings}
