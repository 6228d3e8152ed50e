"""The terms of the report, each in one or two sentences."""

from dataclasses import dataclass
from typing import Final

NOTICE: Final = (
    "For research and engineering. Not a medical device, not a diagnosis, and no substitute for "
    "the judgement of a clinician. If you or someone you know is in danger, call your local "
    "emergency number."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """A word of the report and what it means."""

    name: str
    text: str


_SIGNALS: Final = {
    "llm_evidence_count": "number of quotes",
    "affirmed_count": "number of affirming quotes",
    "verbalised": "stated by the model",
    "hybrid": "quotes and statement",
}


def signal_name(signal: str) -> str:
    """Return what a signal of confidence is called."""
    return _SIGNALS.get(signal, signal.replace("_", " "))


TERMS: Final = (
    Term(
        name="PHQ-8",
        text="Eight items, 0 to 3 points each, total 0 to 24. Bands: 0–4 minimal, 5–9 mild, 10–14 "
        "moderate, 15–19 moderately severe, 20–24 severe (Kroenke et al. 2009).",
    ),
    Term(
        name="Unknown",
        text="An item without a score, with the reason. It is not a 0: the total becomes a range, "
        "with 0 at its lower and 3 at its upper end.",
    ),
    Term(
        name="Coverage",
        text="The share of what was asked that got an answer. An error is always to be read beside "
        "its coverage: leaving out hard items lowers the one and the other.",
    ),
    Term(
        name="Mean error",
        text="The mean absolute difference between score and label, in points.",
    ),
    Term(
        name="Charged",
        text="Unknown items are not left out: each counts as 3 points off. Abstaining can never "
        "improve a charged figure.",
    ),
    Term(
        name="95 % interval",
        text="What resamples of participants, each drawn with all sessions and items, leave likely "
        "(bias-corrected bootstrap, Efron 1987; widened for few, Hesterberg 2015). Fewer than ten "
        "participants allow none.",
    ),
    Term(
        name="Risk and coverage",
        text="Items are kept in the order of a signal of confidence; the risk is the mean error of "
        "those kept (Geifman & El-Yaniv 2017). Items of equal confidence share an expected error.",
    ),
    Term(
        name="AURC, AUGRC",
        text="The area under that curve, and the same with the error spread over all items (Traub "
        "et al. 2024). Less is better.",
    ),
    Term(
        name="Quadratic kappa",
        text="Agreement beyond chance, where a miss counts by its square (Cohen 1968). 1 is "
        "perfect, 0 is chance.",
    ),
    Term(
        name="Undecidable",
        text="Unknown items leave more than one band, or both sides of the cut-off, possible.",
    ),
    Term(
        name="Balanced accuracy",
        text="The mean of sensitivity (depressed who are found) and specificity (others who are "
        "cleared).",
    ),
    Term(
        name="Brier score, calibration error",
        text="How far the stated probability of being right is from the truth (Brier 1950; Guo et "
        "al. 2017), for participants whom the calibration did not see.",
    ),
    Term(
        name="Accepted evidence",
        text="A quote that the participant said, found in the transcript word for word or nearly.",
    ),
    Term(
        name="Rejected, repaired, coerced",
        text="A reply that failed its checks and was asked for again; one whose JSON syntax was "
        "mended; a value read from another type.",
    ),
)
