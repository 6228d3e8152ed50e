"""PHQ-8 assessments of interview transcripts, every score carried by the participant's words.

What is listed in `__all__` is the public interface, and is kept; each name is imported when it is
first used. See the section on Python of docs/http.md.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from ai_psychiatrist.api.app import create_app
    from ai_psychiatrist.assessment.parts import Part
    from ai_psychiatrist.config import Settings, load_settings
    from ai_psychiatrist.domain.assessment import Assessment
    from ai_psychiatrist.domain.errors import (
        ArtifactMismatch,
        AssessmentServiceError,
        ConfigurationError,
        InputError,
        SpeakersUnknown,
        TranscriptTooLong,
        TranscriptUnreadable,
    )
    from ai_psychiatrist.interface.application import Application, assess_sync
    from ai_psychiatrist.interface.application import open_application as open  # noqa: A004
    from ai_psychiatrist.interface.certifying import VerifiedCertificate, certify, verify
    from ai_psychiatrist.interface.dataset_run import DatasetRunResult
    from ai_psychiatrist.interface.grounding import GroundedQuotes, ground
    from ai_psychiatrist.interface.validating import ValidatedLines, validate
    from ai_psychiatrist.results.tables import table

__version__ = "0.1.0"

__all__ = [
    "Application",
    "ArtifactMismatch",
    "Assessment",
    "AssessmentServiceError",
    "ConfigurationError",
    "DatasetRunResult",
    "GroundedQuotes",
    "InputError",
    "Part",
    "Settings",
    "SpeakersUnknown",
    "TranscriptTooLong",
    "TranscriptUnreadable",
    "ValidatedLines",
    "VerifiedCertificate",
    "__version__",
    "assess_sync",
    "certify",
    "create_app",
    "ground",
    "load_settings",
    "open",
    "table",
    "validate",
    "verify",
]

_MODULES: Final = {
    "api.app": ("create_app",),
    "assessment.parts": ("Part",),
    "config": ("Settings", "load_settings"),
    "domain.errors": (
        "ArtifactMismatch",
        "AssessmentServiceError",
        "ConfigurationError",
        "InputError",
        "SpeakersUnknown",
        "TranscriptTooLong",
        "TranscriptUnreadable",
    ),
    "interface.application": ("Application", "assess_sync", "open_application"),
    "interface.certifying": ("VerifiedCertificate", "certify", "verify"),
    "interface.dataset_run": ("DatasetRunResult",),
    "interface.grounding": ("GroundedQuotes", "ground"),
    "interface.validating": ("ValidatedLines", "validate"),
    "results.tables": ("table",),
    "domain.assessment": ("Assessment",),
}
_OTHER_NAMES: Final = {"open_application": "open"}
"""Where a name of Python's own would be hidden in its module."""
_HOMES: Final = {
    _OTHER_NAMES.get(name, name): (module, name)
    for module, names in _MODULES.items()
    for name in names
}


if not TYPE_CHECKING:  # which would otherwise take every name for one that is there

    def __getattr__(name: str) -> object:
        """Import a public name when it is first used: all of them together take two seconds."""
        if name not in _HOMES:
            msg = f"module {__name__!r} has no attribute {name!r}"
            raise AttributeError(msg)
        module, own_name = _HOMES[name]
        value: object = getattr(import_module(f"{__name__}.{module}"), own_name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    """List what is public."""
    return sorted(__all__)
