"""Settings of the earlier system that mean nothing here, and what to use instead."""

from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import Final

_REPORT: Final = "the report of ai-psychiatrist evaluate, which has them all"

_INSTEAD: Final = {
    "LLM_*": "MODEL_DEFAULT with its provider, such as ollama:gemma3:27b",
    "HF_DEFAULT_*": "PYDANTIC_AI_TIMEOUT_SECONDS",
    "HF_MAX_NEW_TOKENS": "MODEL_MAX_OUTPUT_TOKENS",
    "HF_QUANTIZATION*": "the settings of the server that serves the model",
    "MODEL_EMBEDDING_MODEL": "REFERENCES_EMBEDDER with its provider, such as ollama:NAME",
    "EMBEDDING_CHUNK_SIZE": "REFERENCES_CHUNK_LINES",
    "EMBEDDING_CHUNK_STEP": "REFERENCES_CHUNK_STEP",
    "EMBEDDING_TOP_K_REFERENCES": "REFERENCES_TOP_K",
    "EMBEDDING_MIN_REFERENCE_SIMILARITY": "REFERENCES_MIN_SIMILARITY, in another scale",
    "EMBEDDING_MAX_REFERENCE_CHARS_PER_ITEM": "REFERENCES_MAX_TOKENS",
    "EMBEDDING_ENABLE_ITEM_TAG_FILTER": "REFERENCES_SAME_ITEM",
    "EMBEDDING_ENABLE_REFERENCE_VALIDATION": "REFERENCES_CHECK",
    "EMBEDDING_EMBEDDINGS_FILE": "REFERENCES_DIR, which `ai-psychiatrist references build` makes",
    "EMBEDDING_*": "REFERENCES_EMBEDDER and the settings beside it",
    "DATA_EMBEDDINGS_*": "REFERENCES_DIR, which `ai-psychiatrist references build` makes",
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
