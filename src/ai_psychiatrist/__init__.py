"""PHQ-8 assessments of interview transcripts, every score carried by the participant's words."""

__version__ = "0.1.0"
