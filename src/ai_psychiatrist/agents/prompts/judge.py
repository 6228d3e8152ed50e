"""The prompts of the judge, which scores the qualitative assessment by one metric or by four."""

from typing import Final

from ai_psychiatrist.agents.prompts.shared import in_template
from ai_psychiatrist.domain.narrative import Metric

_QUESTIONS: Final = {
    Metric.COHERENCE: (
        "Is the assessment free of contradictions, within itself and with the transcript? Count "
        "contradictions and conclusions that do not follow."
    ),
    Metric.COMPLETENESS: (
        "Does the assessment cover everything in the transcript that matters: each symptom that "
        "the participant speaks about, with frequency, duration and strength? Count what is "
        "missing."
    ),
    Metric.SPECIFICITY: (
        "Is the assessment specific to this participant, with concrete details? Count vague or "
        "generic statements."
    ),
    Metric.ACCURACY: (
        "Does the transcript support each statement of the assessment, and did the participant say "
        "each quote? Count unsupported statements and quotes that were not said."
    ),
}

JUDGE_FORMAT: Final = """\
Reply with two lines. The score has to be a whole number from 1 to 5:
Explanation: what you found
Score: 3
"""
JUDGE_SCHEMA_FORMAT: Final = """\
Reply with one JSON object and nothing else. The score has to be a whole number from 1 to 5:
{"explanation": "what you found", "score": 3}
"""
"""Where the server holds the reply to a schema."""

_TASK: Final = """\
Task: judge_{metric}

Rate the qualitative assessment below by one metric, {metric}.
{question}

{{findings}}

5 = no such fault, 4 = one or two minor ones, 3 = several, 2 = many, 1 = mostly faulty.
{format}"""

JUDGE: Final = {
    metric: _TASK.format(metric=metric.value, question=question, format=in_template(JUDGE_FORMAT))
    for metric, question in _QUESTIONS.items()
}

_TOGETHER: Final = """\
Task: judges

Rate the qualitative assessment below by four metrics, each independently of the others.
{questions}

{{findings}}

5 = no such fault, 4 = one or two minor ones, 3 = several, 2 = many, 1 = mostly faulty.
{format}"""
_FORM: Final = """\
<{metric}>
Explanation: what you found
Score: 3
</{metric}>"""

_FORMS: Final = "\n".join(_FORM.format(metric=metric.value) for metric in _QUESTIONS)
TOGETHER_FORMAT: Final = f"""\
Reply with exactly these tags, two lines in each. The score has to be a whole number from 1 to 5:
{_FORMS}
"""
_FIELDS: Final = ",\n".join(
    f'"{metric.value}": {{"explanation": "what you found", "score": 3}}' for metric in _QUESTIONS
)
TOGETHER_SCHEMA_FORMAT: Final = f"""\
Reply with one JSON object and nothing else. The score has to be a whole number from 1 to 5:
{{{_FIELDS}}}
"""

TOGETHER: Final = _TOGETHER.format(
    questions="\n".join(f"{metric.value}: {question}" for metric, question in _QUESTIONS.items()),
    format=in_template(TOGETHER_FORMAT),
)
"""All four metrics in one reply."""
