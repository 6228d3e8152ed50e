"""The learned reader: a small model that gives a second opinion on what the rules found."""
