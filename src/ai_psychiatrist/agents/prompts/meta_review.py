"""What the meta-review is asked: one severity from transcript, findings and scores together."""

from typing import Final

from ai_psychiatrist.agents.prompts.shared import in_template

META_REVIEW_FORMAT: Final = """\
Reply with exactly these tags, the severity being one whole number:
<severity>0</severity>
<explanation>
…
</explanation>
"""
META_REVIEW_SCHEMA_FORMAT: Final = """\
Reply with one JSON object and nothing else, the severity being one whole number:
{"explanation": "…", "severity": 0}
"""
"""Where the server holds the reply to a schema."""

META_REVIEW: Final = f"""\
Task: meta_review

Read the transcript, the qualitative assessment and the item scores together, and say how severe the
participant's depression is. Items without a score are unknown, not zero.

{{findings}}

{{scores}}

0 = minimal (total 0-4), 1 = mild (5-9), 2 = moderate (10-14), 3 = moderately severe (15-19),
4 = severe (20-24)

{in_template(META_REVIEW_FORMAT)}"""
