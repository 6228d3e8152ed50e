"""The prompts of the qualitative agent, which writes an assessment in tagged sections."""

from typing import Final

_FORMAT: Final = """\
Write a few plain sentences in each section: what the participant says, how often, how strongly and
since when. If the interview does not cover a section, write: not assessed in interview
assessment: the overall picture
PHQ8_symptoms: interest, mood, sleep, energy, appetite, self-worth, concentration, movement
social_factors: relationships, work, money, housing, support
biological_factors: illness, medication, substances, family history
risk_factors: hopelessness, self-harm, isolation, losses
exact_quotes: the quotes that support the assessment, one per line

Reply with exactly these tags:
<assessment>
…
</assessment>
<PHQ8_symptoms>
…
</PHQ8_symptoms>
<social_factors>
…
</social_factors>
<biological_factors>
…
</biological_factors>
<risk_factors>
…
</risk_factors>
<exact_quotes>
- first quote
- second quote
</exact_quotes>
"""

ASSESS: Final = f"""\
Task: qualitative

Write a qualitative assessment of the participant.

{_FORMAT}"""

REFINE: Final = f"""\
Task: qualitative_refine

Rewrite the qualitative assessment below to correct each weakness that its reviewer found. Keep what
is right, and invent nothing.

{{findings}}

{{feedback}}

{_FORMAT}"""

ONLY_VERBATIM: Final = """\

An earlier list of quotes had words that the participant did not say. Check each quote against the
participant's turns, and leave out what is not there word for word; the list may be empty.
"""
