"""The learned reader: a small model that says of each answer what it is about, beside the rules."""
