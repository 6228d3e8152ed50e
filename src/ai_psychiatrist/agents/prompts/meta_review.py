"""The prompt of the meta-review: one severity from transcript, assessment and scores together."""

from typing import Final

from ai_psychiatrist.agents.prompts.shared import in_template

META_REVIEW_FORMAT: Final = """\
Reply with exactly these tags. <severity> has to hold one whole number from 0 to 4 and nothing else:
<severity>0</severity>
<explanation>
…
</explanation>
"""
META_REVIEW_SCHEMA_FORMAT: Final = """\
Reply with one JSON object and nothing else. The severity has to be one whole number from 0 to 4:
{"explanation": "…", "severity": 0}
"""
"""Where the server holds the reply to a schema."""

META_REVIEW: Final = f"""\
Task: meta_review

Rate the severity of the participant's depression from the transcript, the qualitative assessment
and the item scores together. An item without a score is unknown, not 0.

{{findings}}

{{scores}}

severity, with its PHQ-8 totals (Kroenke et al. 2009): 0 = minimal (0-4), 1 = mild (5-9),
2 = moderate (10-14), 3 = moderately severe (15-19), 4 = severe (20-24)

{in_template(META_REVIEW_FORMAT)}"""
