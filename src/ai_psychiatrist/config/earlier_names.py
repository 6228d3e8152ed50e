"""Settings of the earlier system that mean nothing here, and what to use instead."""

from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import Final

_NO_EXAMPLES: Final = "nothing: no examples of other participants are looked up"
_REPORT: Final = "the report of ai-psychiatrist evaluate, which has them all"

_INSTEAD: Final = {
    "LLM_*": "MODEL_DEFAULT with its provider, such as ollama:gemma3:27b",
    "HF_DEFAULT_*": "PYDANTIC_AI_TIMEOUT_SECONDS",
    "HF_MAX_NEW_TOKENS": "MODEL_MAX_OUTPUT_TOKENS",
    "HF_QUANTIZATION*": "the settings of the server that serves the model",
    "MODEL_EMBEDDING_MODEL": _NO_EXAMPLES,
    "EMBEDDING_*": _NO_EXAMPLES,
    "DATA_EMBEDDINGS_*": _NO_EXAMPLES,
    "DATA_BASE_DIR": "DATA_TRANSCRIPTS_DIR for the transcripts, DATA_STATE_DIR for what is kept",
    "DATA_TRAIN_*": "the arguments of ai-psychiatrist evaluate",
    "DATA_DEV_*": "the arguments of ai-psychiatrist evaluate",
    "FEEDBACK_TARGET_SCORE": "FEEDBACK_SCORE_THRESHOLD",
    "PREDICTION_MODE": _REPORT,
    "TOTAL_SCORE_MIN_COVERAGE": _REPORT,
    "BINARY_THRESHOLD": _REPORT,
    "BINARY_STRATEGY": _REPORT,
    "SEVERITY_INFERENCE_MODE": "nothing: a score stands on what was said",
    "QUANTITATIVE_SEVERITY_INFERENCE_MODE": "nothing: a score stands on what was said",
    "CONSISTENCY_*": "nothing: each score is asked for once",
    "API_WORKERS": "nothing: start one process for each port",
    "SERVER_AD_HOC_PARTICIPANT_ID": "nothing: a transcript without a participant has no id",
}


def instead_of(names: Iterable[str]) -> dict[str, str]:
    """Return those of the names that the earlier system read → what to use here."""
    return {
        name: use
        for name in names
        for pattern, use in _INSTEAD.items()
        if fnmatchcase(name.upper(), pattern)
    }
