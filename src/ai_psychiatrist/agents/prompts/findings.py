"""Findings as text for other agents, in the tags in which they were written."""

from collections.abc import Mapping

from ai_psychiatrist.domain.assessment import Metric, MetricScore, QualitativeAssessment


def findings_text(findings: QualitativeAssessment) -> str:
    """Render findings for a prompt."""
    return tagged_text(
        {
            "assessment": findings.overall,
            "PHQ8_symptoms": findings.phq8_symptoms,
            "social_factors": findings.social_factors,
            "biological_factors": findings.biological_factors,
            "risk_factors": findings.risk_factors,
            "exact_quotes": "\n".join(f"- {quote.text}" for quote in findings.supporting_quotes),
        }
    )


def tagged_text(sections: Mapping[str, str]) -> str:
    """Render tag → text as sections between tags."""
    return "\n".join(f"<{tag}>\n{text}\n</{tag}>" for tag, text in sections.items())


def feedback_text(scores: Mapping[Metric, MetricScore]) -> str:
    """Render what the judge found weak."""
    return "\n".join(
        f"{metric.value}: {score.score} of 5. {score.explanation}"
        for metric, score in scores.items()
    )
