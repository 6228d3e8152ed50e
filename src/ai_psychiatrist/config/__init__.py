"""Settings: what there is, how it is read, and how it is documented."""

from ai_psychiatrist.config.contradictions import refuse_contradictions
from ai_psychiatrist.config.groups import CRISIS_LINE_CURE
from ai_psychiatrist.config.reference import env_example, settings_tables
from ai_psychiatrist.config.server import ApiSettings
from ai_psychiatrist.config.settings import Settings, load_settings, quiet, variables, with_model
from ai_psychiatrist.llm.settings import PydanticAISettings
from ai_psychiatrist.services.evidence_validation.settings import QuantitativeSettings

__all__ = [
    "CRISIS_LINE_CURE",
    "ApiSettings",
    "PydanticAISettings",
    "QuantitativeSettings",
    "Settings",
    "env_example",
    "load_settings",
    "quiet",
    "refuse_contradictions",
    "settings_tables",
    "variables",
    "with_model",
]
