"""What the judge is asked: a score for one metric of the findings, or for all four at once."""

from typing import Final

from ai_psychiatrist.agents.prompts.shared import in_template
from ai_psychiatrist.domain.narrative import Metric

_QUESTIONS: Final = {
    Metric.COHERENCE: (
        "Is the assessment free of contradictions, within itself and with the transcript? Count "
        "statements that contradict one another or do not follow."
    ),
    Metric.COMPLETENESS: (
        "Does the assessment cover everything in the transcript that matters: each symptom that "
        "the participant speaks about, with frequency, duration and strength? Count what is left "
        "out."
    ),
    Metric.SPECIFICITY: (
        "Is the assessment specific to this participant, with concrete details instead of general "
        "phrases? Count vague or generic statements."
    ),
    Metric.ACCURACY: (
        "Is each statement of the assessment borne out by the transcript, and each quote really "
        "said by the participant? Count statements and quotes that are not."
    ),
}

JUDGE_FORMAT: Final = """\
Reply with two lines, the score being a whole number:
Explanation: what you found
Score: 3
"""
JUDGE_SCHEMA_FORMAT: Final = """\
Reply with one JSON object and nothing else, the score being a whole number:
{"explanation": "what you found", "score": 3}
"""
"""Where the server holds the reply to a schema."""

_TASK: Final = """\
Task: judge_{metric}

Judge the qualitative assessment below by one metric, {metric}.
{question}

{{findings}}

5 = no such fault, 4 = one or two small ones, 3 = several, 2 = many, 1 = most of it is faulty.
{format}"""

JUDGE: Final = {
    metric: _TASK.format(metric=metric.value, question=question, format=in_template(JUDGE_FORMAT))
    for metric, question in _QUESTIONS.items()
}

_TOGETHER: Final = """\
Task: judges

Judge the qualitative assessment below by four metrics, each by itself: how it does by one says
nothing about another.
{questions}

{{findings}}

5 = no such fault, 4 = one or two small ones, 3 = several, 2 = many, 1 = most of it is faulty.
{format}"""
_FORM: Final = """\
<{metric}>
Explanation: what you found
Score: 3
</{metric}>"""

_FORMS: Final = "\n".join(_FORM.format(metric=metric.value) for metric in _QUESTIONS)
TOGETHER_FORMAT: Final = f"""\
Reply with exactly these tags, two lines in each, the score being a whole number:
{_FORMS}
"""
_FIELDS: Final = ",\n".join(
    f'"{metric.value}": {{"explanation": "what you found", "score": 3}}' for metric in _QUESTIONS
)
TOGETHER_SCHEMA_FORMAT: Final = f"""\
Reply with one JSON object and nothing else, each score being a whole number:
{{{_FIELDS}}}
"""

TOGETHER: Final = _TOGETHER.format(
    questions="\n".join(f"{metric.value}: {question}" for metric, question in _QUESTIONS.items()),
    format=in_template(TOGETHER_FORMAT),
)
"""All four metrics in one reply."""
