"""Which settings and references decide on a result, as a run records them."""

from ai_psychiatrist.belief.settings import BeliefSettings
from ai_psychiatrist.config import Settings
from ai_psychiatrist.domain.assessment import WantedScoring
from ai_psychiatrist.infrastructure.digests import plain_digest
from ai_psychiatrist.wiring import Services


def deciding_settings(settings: Settings) -> dict[str, object]:
    """Return the settings that decide on a result; none of them is a secret."""
    return {
        "temperature": settings.model.temperature,
        "max_calls": settings.model.max_calls,
        "max_reply_bytes": settings.model.max_reply_bytes,
        "num_ctx": settings.ollama.num_ctx,
        "pydantic_ai": settings.pydantic_ai.model_dump(mode="json"),
        "quantitative": settings.quantitative.model_dump(mode="json"),
        "qualitative": settings.qualitative.model_dump(mode="json"),
        "feedback": settings.feedback.model_dump(mode="json"),
        # As it always was where it is left as it is, so that earlier runs can be gone on with.
        **({"judge": settings.judge.model_dump()} if settings.judge.is_together else {}),
        "belief": _believing(settings.belief),
        "transcript": settings.transcript.model_dump(mode="json"),
    }


def _believing(settings: BeliefSettings) -> dict[str, object]:
    """Return what decides on beliefs; the fit by its digest."""
    fit = None if settings.fit is None else plain_digest(settings.fit.read_text("utf-8"))
    kept = {"sources", "level", "rescorings", "temperature", "seed"}
    return {**settings.model_dump(mode="json", include=kept), "fit": fit}


def references_record(services: Services, scoring: WantedScoring) -> dict[str, object] | None:
    """Return which references are shown and how they are chosen; `None` where none are."""
    if not scoring.mode.shows_references or services.references is None:
        return None
    settings = services.settings.references.model_dump(mode="json", exclude={"dir"})
    return {"digest": services.references.digest, **settings}
