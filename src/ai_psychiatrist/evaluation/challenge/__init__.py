"""A measure for any system: interviews whose truth is known, and what answers to them are worth."""
