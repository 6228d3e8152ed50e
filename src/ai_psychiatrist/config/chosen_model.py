"""Settings changed for one use: one model for everything, and nothing logged but errors."""

from ai_psychiatrist.config.settings import Settings


def with_model(settings: Settings, name: str) -> Settings:
    """Return the settings with one model for every agent and interview; fallbacks stay.

    A danger agent that is off stays off.
    """
    models = settings.model.model_copy(
        update={
            "default": name.strip(),
            "qualitative_model": None,
            "quantitative_model": None,
            "judge_model": None,
            "meta_review_model": None,
        }
    )
    interview = settings.interview.model_copy(update={"model": None})
    danger = settings.danger
    if not danger.is_off:
        danger = danger.model_copy(update={"model": None})
    return settings.model_copy(update={"model": models, "interview": interview, "danger": danger})


def quiet(settings: Settings) -> Settings:
    """Log errors alone unless a level was asked for: a person, or a program, reads the result."""
    if "level" in settings.log.model_fields_set:
        return settings
    log = settings.log.model_copy(update={"level": "ERROR"})
    return settings.model_copy(update={"log": log})
